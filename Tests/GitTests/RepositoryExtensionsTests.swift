import TestSupport
import Testing

@testable import Git

/// Which repositories notes works with does not depend on the libgit2 of the system.
@Suite struct RepositoryExtensionsTests {
  /// What refuses a configuration; nil for one that is accepted.
  private func refusal(of text: String) -> String? {
    do {
      guard let extensions = RepositoryExtensions(Array(text.utf8)) else { return "unreadable" }
      try extensions.check()
      return nil
    } catch GitError.unsupportedExtension(let name) {
      return name
    } catch {
      return "\(error)"
    }
  }

  private let known = [
    "objectFormat = sha256", "refStorage = reftable", "worktreeConfig = true", "worktreeConfig",
    "preciousObjects = yes", "relativeWorktrees = 1", "submodulePathConfig = true",
  ]

  @Test(arguments: [0, 1])
  func `Those that change how a repository is kept are refused in both versions`(version: Int) {
    for setting in known {
      let name = setting.split(separator: " ")[0].lowercased()
      let text = "[core]\n\trepositoryformatversion = \(version)\n[extensions]\n\t\(setting)\n"
      #expect(refusal(of: text) == name)
    }
  }

  @Test func `Those that change nothing are accepted`() {
    for setting in [
      "noop = x", "noop-v1", "objectFormat = sha1", "refStorage = files", "worktreeConfig = false",
      "preciousObjects = no", "relativeWorktrees = off", "worktreeConfig =", "worktreeConfig = 0",
      // What a partial clone lacks is found by its remotes and this setting (IncompleteRepositoryTests).
      "partialClone = origin",
    ] {
      let text = "[core]\nrepositoryformatversion = 1\n[extensions]\n\(setting)\n"
      #expect(refusal(of: text) == nil, "\(setting)")
    }
    #expect(refusal(of: "") == nil)
    #expect(refusal(of: "[extensionsX]\nobjectFormat = sha256\n[core]\n extensions = y\n") == nil)
  }

  @Test func `Unknown ones count from version 1 on, and other versions are refused`() {
    let unknown = "[extensions]\n\tunheardOf = true\n"
    #expect(refusal(of: unknown) == nil)
    #expect(refusal(of: "[core]\nrepositoryFormatVersion=1\n" + unknown) == "unheardof")
    #expect(
      refusal(of: "[core]\nrepositoryformatversion = 2\n")
        == "this repository needs core.repositoryformatversion 2, which notes cannot work with")
  }

  @Test func `A setting is read in each form that git writes or reads`() {
    for text in [
      "[EXTENSIONS]\n  OBJECTFORMAT=sha256", "[extensions] objectFormat = sha256",
      "[extensions]\nobjectformat = \"sha256\" ; hash",
      "[extensions]\r\nobjectFormat = sha256\r\n",
      "[extensions]\nobjectFormat = sha\\\n256\n", "[extensions]\nobjectFormat=sha256#x",
      "[extensions]\nobjectFormat = sha1\nobjectFormat = sha256\n",
    ] {
      #expect(refusal(of: text) == "objectformat", "\(text)")
    }
    #expect(refusal(of: "[extensions]\n# objectFormat = sha256\n; x\n") == nil)
    #expect(refusal(of: "[ extensions ]\nobjectFormat = sha1\n") == "unreadable")
  }

  @Test func `What git itself makes is judged as git reads it`() throws {
    let folder = try TemporaryFolder()
    #expect(try run(["git", "init", "-q", folder["plain"]]).isSuccess)
    try RepositoryExtensions(of: folder["plain/.git"]).check()
    #expect(try run(["git", "init", "-q", "--object-format=sha256", folder["other"]]).isSuccess)
    #expect(throws: GitError.self) { try RepositoryExtensions(of: folder["other/.git"]).check() }
    #expect(throws: GitError.self) { try Repository.open(at: folder["other"]) }
    // Accepted extensions are accepted by libgit2 as well.
    let config = try readFile(folder["plain/.git/config"])
    let accepted = """
      [core]
      repositoryformatversion = 1
      [extensions]
      noop-v1 = 1
      refStorage = files
      objectFormat = sha1
      worktreeConfig = false

      """
    try writeFile(folder["plain/.git/config"], config + Array(accepted.utf8))
    _ = try Repository.open(at: folder["plain"]).handles()
  }
}
