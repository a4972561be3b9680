internal import Git
internal import Glibc

/// The ignore rules of a repository, asked through libgit2 only when there are any.
final class IgnoreRules {
  private let repository: Repository
  private var mayIgnore: Bool

  init(repository: Repository) {
    self.repository = repository
    mayIgnore = Self.hasRules(repository.gitFolder + "/info/exclude")
  }

  /// Takes notice of a folder's own `.gitignore` before its entries are asked about.
  func enter(folder descriptor: Int32) {
    if !mayIgnore, faccessat(descriptor, ".gitignore", F_OK, 0) == 0 { mayIgnore = true }
  }

  /// Whether an untracked path is left out.
  func isIgnored(_ path: TreePath, isFolder: Bool) throws -> Bool {
    guard mayIgnore else { return false }
    return try repository.isIgnored(path, isFolder: isFolder)
  }

  /// Whether an exclusion file holds more than the comments git puts there.
  private static func hasRules(_ path: String) -> Bool {
    guard let content = try? StateFile.read(path) else { return false }
    return content.split(separator: UInt8(ascii: "\n")).contains { $0.first != UInt8(ascii: "#") }
  }
}
