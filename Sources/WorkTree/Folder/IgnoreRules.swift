package import Git
internal import Glibc
internal import System

/// The files that the ignore files leave out of versions (notes-merge(7), "Files that are not versioned"),
/// asked through libgit2 only when there are any.
///
/// A note is left out by what this device agreed to, so that nobody else's `.gitignore` keeps it from
/// being versioned, or, by naming it no more, has it sent.
package final class IgnoreRules {
  private let hasExclusions: Bool
  private let files: AgreedFiles
  /// The repository with the ignore files as they were agreed to; nil before any agreement.
  private let agreed: Repository?

  /// The repository with the ignore files as they are.
  private let asTheyAre: Repository

  package init(of workTree: WorkTree, index: IndexFile) throws {
    let repository = workTree.repository
    let questions = try QuestionSettings(ofIgnoreRules: workTree, repository.settings())
    let agreement = Agreement.toIgnoreFiles(workTree.stateFolder)
    files = AgreedFiles(agreement, of: workTree, index: index)
    asTheyAre = repository.readingIgnoreFiles(in: workTree.folder, by: questions)
    agreed =
      agreement.isBegun
      ? repository.readingIgnoreFiles(in: agreement.folder, by: questions) : nil
    hasExclusions =
      Self.hasRules(repository.gitFolder + "/info/exclude") || agreement.hasFiles
      || questions.excludesFile.map(Self.hasRules) ?? false
  }

  /// Whether there is anything to ask about at all.
  package func mayExclude(_ hasIgnoreFile: Bool) -> Bool { hasExclusions || hasIgnoreFile }

  /// Whether an untracked path is left out; a folder, whether all in it is.
  package func isIgnored(_ path: TreePath, isFolder: Bool) throws -> Bool {
    if files.isBlocked(above: path) {
      return try agreed?.isIgnored(path, isFolder: isFolder) ?? false
    }
    func isNamed() throws -> Bool { try asTheyAre.isIgnored(path, isFolder: isFolder) }
    guard let agreed, isFolder || path.titleRange != nil else { return try isNamed() }
    let standings = try (path.ancestors + [""]).map(files.standing)
    if !standings.contains(.fromElsewhere) { return try isNamed() }
    let isAgreed =
      try agreed.isIgnored(path, isFolder: isFolder)
      || standings.contains(.writtenHere) && isNamed()
    return try isFolder ? isNamed() && isAgreed : isAgreed
  }

  /// Whether an exclusion file holds more than the comments git puts there.
  private static func hasRules(_ path: String) -> Bool {
    guard let content = Disk.contentIfAny(path) else { return false }
    return content.split(separator: UInt8(ascii: "\n")).contains { $0.first != UInt8(ascii: "#") }
  }
}
