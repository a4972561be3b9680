internal import System

/// The format of a repository: its version, and the extensions that a program must support (git-config(1),
/// "extensions", and gitrepository-layout(5)). git reads them in `.git/config` but not in included files. notes
/// checks them itself, because versions of libgit2 support different ones.
struct RepositoryExtensions {
  private var version = "0"
  /// The other users who may write: `core.sharedRepository`.
  private var sharing = "umask"
  /// The last value of each name in lower case; a name without a value is true.
  private var values: [String: String] = [:]

  /// The extensions in `.git/config`; none if there is no such file.
  ///
  /// - Throws: `GitError.unreadableConfiguration`.
  init(of gitFolder: String) throws(GitError) {
    let path = gitFolder + "/config"
    let content: [UInt8]
    do { content = try Disk.readIfThere(path) ?? [] } catch {
      throw .unreadableConfiguration(path)
    }
    guard let extensions = RepositoryExtensions(content) else {
      throw .unreadableConfiguration(path)
    }
    self = extensions
  }

  /// Nil if git could not read the file.
  init?(_ content: [UInt8]) {
    guard let entries = ConfigurationText(content)?.entries else { return nil }
    for (name, value) in entries {
      let value = value ?? "true"
      switch name {
      case "core.repositoryformatversion": version = value
      case "core.sharedrepository": sharing = value
      case _ where name.hasPrefix("extensions."):
        values[String(name.dropFirst("extensions.".count))] = value
      default: break
      }
    }
  }

  /// The supported extensions, each with the only value that notes supports, which has no effect. Nil means that notes
  /// supports any value: `HistoryGap` checks for the objects that a partial clone lacks.
  private static let harmless: [String: String?] = [
    "noop": nil, "noop-v1": nil, "objectformat": "sha1", "refstorage": "files",
    "worktreeconfig": "false", "preciousobjects": "false", "relativeworktrees": "false",
    "submodulepathconfig": "false", "partialclone": nil,
  ]

  /// The extensions that notes tells libgit2 to accept, because notes checks them itself.
  static let judgedHere = harmless.keys.sorted()

  /// Throws `GitError.unsupported` for an unknown version, `sharedRepository`, and `unsupportedExtension` for the
  /// first unsupported extension, by name. git ignores unknown extensions in version 0.
  func check() throws(GitError) {
    guard ["0", "1"].contains(version) else {
      throw .unsupported("core.repositoryformatversion \(version)")
    }
    guard sharing.lowercased() == "umask" || !ConfigurationFile.isTrue(sharing) else {
      throw .sharedRepository
    }
    for (name, value) in values.sorted(by: { $0.key < $1.key }) {
      switch Self.harmless[name] {
      case .some(.none): continue
      case .some(.some(let usual)):
        if value.lowercased() == usual { continue }
        if usual == "false", !ConfigurationFile.isTrue(value) { continue }
      case .none: if version == "0" { continue }
      }
      throw .unsupportedExtension(name)
    }
  }
}
