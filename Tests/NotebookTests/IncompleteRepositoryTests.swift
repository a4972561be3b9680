import Git
import Glibc
import History
import NotebookSupport
import TestSupport
import Testing

@testable import Notebook
@testable import WorkTree

/// notes-init(1): a repository that lacks objects becomes no notebook, and one that comes to lack
/// some is not written to.
@Suite("Repositories that lack a part of their history")
struct IncompleteRepositoryTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func git(_ arguments: String...) throws {
    let person = ["-c", "user.name=P", "-c", "user.email=p@example.org"]
    let result = try run(["git", "-C", folder.path] + person + arguments)
    #expect(result.isSuccess, "git \(arguments): \(result.errorText)")
  }

  private func makeSource() throws {
    try git("init", "-q", "-b", "main", "source")
    for number in 1...3 {
      try writeFile(folder.path + "/source/n.md", Array("line \(number)\n".utf8))
      try git("-C", "source", "add", "-A")
      try git("-C", "source", "commit", "-qm", "\(number)")
    }
    try git("-C", "source", "config", "uploadpack.allowFilter", "true")
  }

  private func gap(in clone: String) -> HistoryGap? {
    do {
      _ = try FolderPreview(of: folder.path + "/" + clone)
    } catch GitError.incomplete(let gap, _) {
      return gap
    } catch {
      Issue.record("\(error)")
    }
    return nil
  }

  @Test(
    "a shallow and a partial clone are refused as they are",
    arguments: [("--depth=1", HistoryGap.shallow), ("--filter=blob:none", .partial)])
  func clones(option: String, expected: HistoryGap) throws {
    try makeSource()
    try git("clone", "-q", option, "file://\(folder.path)/source", "clone")
    #expect(gap(in: "clone") == expected)
    #expect(access(folder.path + "/clone/.git/notes", F_OK) != 0)
    if expected == .shallow {
      try git("-C", "clone", "fetch", "-q", "--unshallow", "origin")
    } else {
      try git("-C", "clone", "config", "--unset", "remote.origin.partialclonefilter")
      try git("-C", "clone", "fetch", "-q", "--refetch", "origin")
      try git("-C", "clone", "config", "--unset", "remote.origin.promisor")
    }
    #expect(gap(in: "clone") == nil)
  }

  // git-config(1), "Includes" and "Syntax"
  @Test("a partial clone is known however its configuration says so")
  func anyForm() throws {
    try makeSource()
    let texts = [
      "[remote \"a\"] promisor", "[remote \"a\"]\nurl = x ; promisor\npromisor = \"yes\" # so\n",
      "[REMOTE \"a\"]\nPROMISOR = tr\\\nue\n",
    ]
    try git("-C", "source", "config", "include.path", "more")
    for text in texts {
      try folder.write(text, to: "source/.git/more")
      #expect(gap(in: "source") == .partial, "\(text)")
    }
    for text in ["[remote \"a\"]\nurl = promisor\n", "[remote \"a\"]\npromisor = off\n"] {
      try folder.write(text, to: "source/.git/more")
      #expect(gap(in: "source") == nil, "\(text)")
    }
  }

  @Test("an older partial clone says so by an extension")
  func extensionOfOldGit() throws {
    try makeSource()
    try git("-C", "source", "config", "core.repositoryformatversion", "1")
    try git("-C", "source", "config", "extensions.partialClone", "upstream")
    #expect(gap(in: "source") == .partial)
  }

  @Test("objects that are elsewhere must be there")
  func alternates() throws {
    try makeSource()
    try git("clone", "-q", "--shared", "source", "clone")
    #expect(gap(in: "clone") == nil)
    try #require(rename(folder.path + "/source", folder.path + "/away") == 0)
    #expect(gap(in: "clone") == .alternates)
  }

  @Test("replaced objects and grafts are refused", arguments: [true, false])
  func views(packed: Bool) throws {
    try makeSource()
    try git("-C", "source", "replace", "HEAD", "HEAD~1")
    if packed { try git("-C", "source", "pack-refs", "--all") }
    #expect(gap(in: "source") == .replacements)
    try git("-C", "source", "replace", "-d", "HEAD")
    #expect(gap(in: "source") == nil)
    try writeFile(folder.path + "/source/.git/info/grafts", Array("0\n".utf8))
    #expect(gap(in: "source") == .grafts)
  }

  @Test("a notebook that becomes shallow saves nothing until it is whole again")
  func later() throws {
    let ada = try Fixture()
    try ada.write("a.txt", "a\n")
    _ = try ada.notebook.save()
    try ada.write("a.txt", "b\n")
    let shallow = ada.path + "/.git/shallow"
    try writeFile(shallow, Array((try #require(try ada.notebook.state().tip).hex + "\n").utf8))
    do {
      _ = try ada.notebook.save()
      Issue.record("it was saved")
    } catch GitError.incomplete(.shallow, _) {}
    unlink(shallow)
    #expect(try ada.notebook.save().version != nil)
  }
}
