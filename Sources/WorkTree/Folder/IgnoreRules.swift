package import Git
internal import Glibc
internal import System

/// The ignore rules of a repository, asked through libgit2 only when there are any.
package final class IgnoreRules {
  private let repository: Repository
  private let hasExclusions: Bool

  package init(repository: Repository) {
    self.repository = repository
    hasExclusions = Self.hasRules(repository.gitFolder + "/info/exclude")
  }

  /// Whether there is anything to ask about at all.
  package func mayExclude(_ hasIgnoreFile: Bool) -> Bool { hasExclusions || hasIgnoreFile }

  /// Whether an untracked path is left out.
  package func isIgnored(_ path: TreePath, isFolder: Bool) throws -> Bool {
    try repository.isIgnored(path, isFolder: isFolder)
  }

  /// Whether an exclusion file holds more than the comments git puts there.
  private static func hasRules(_ path: String) -> Bool {
    guard let content = try? Disk.readIfThere(path) else { return false }
    return TextLines(content).contains { $0.first != UInt8(ascii: "#") }
  }
}
