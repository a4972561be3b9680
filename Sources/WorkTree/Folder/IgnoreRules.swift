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
  private let agreed: Ignoring?

  /// The repository with the ignore files as they are.
  private let asTheyAre: Ignoring

  package init(of workTree: WorkTree, index: IndexFile) throws {
    let repository = workTree.repository
    let questions = try QuestionSettings.all(ofIgnoreRules: workTree, repository.settings())
    let agreement = Agreement.toIgnoreFiles(workTree.stateFolder)
    files = AgreedFiles(agreement, of: workTree, index: index)
    func ignoring(in folder: String) -> Ignoring {
      Ignoring(ways: questions.map { repository.readingIgnoreFiles(in: folder, by: $0) })
    }
    asTheyAre = ignoring(in: workTree.folder)
    agreed = agreement.isBegun ? ignoring(in: agreement.folder) : nil
    let ownFiles = [repository.gitFolder + "/info/exclude"] + questions.compactMap(\.excludesFile)
    hasExclusions = try ownFiles.map(Self.hasRules).contains(true) || agreement.hasFiles
  }

  /// Whether there is anything to ask about at all.
  package func mayExclude(_ hasIgnoreFile: Bool) -> Bool { hasExclusions || hasIgnoreFile }

  /// Whether an untracked path is left out; a folder, whether all in it is.
  package func isIgnored(_ path: TreePath, isFolder: Bool) throws -> Bool {
    // The ignore file itself is named as one that cannot be read.
    if path.name != ".gitignore", files.isUnknown(above: path) { return true }
    if files.isBlocked(above: path) {
      return try agreed?.isIgnored(path, isFolder: isFolder) ?? false
    }
    func isNamed() throws -> Bool { try asTheyAre.isIgnored(path, isFolder: isFolder) }
    guard let agreed, isFolder || path.titleRange != nil else { return try isNamed() }
    let origins = try (path.ancestors + [""]).map(files.origin)
    if !origins.contains(.fromElsewhere) { return try isNamed() }
    let isAgreed =
      try agreed.isIgnored(path, isFolder: isFolder)
      || origins.contains(.writtenHere) && isNamed()
    return try isFolder ? isNamed() && isAgreed : isAgreed
  }

  /// Whether a folder above a path, or the notebook's own, has an ignore file, or a link in its place.
  static func hasFile(above path: TreePath, in folder: String) -> Bool {
    (path.ancestors + [""]).contains {
      Counted.faccessat(
        AT_FDCWD, "\(folder)/\($0.appending(".gitignore"))", F_OK, AT_SYMLINK_NOFOLLOW) == 0
    }
  }

  /// Throws `file` if a file that says which files are left out, or converted, is there and may not be read.
  static func checkIsReadable(_ path: String) throws {
    guard Counted.access(path, R_OK) != 0, errno == EACCES else { return }
    throw WorkTreeError.file(call: "read", path: path, errno: EACCES)
  }

  /// Whether an exclusion file holds more than the comments git puts there.
  ///
  /// - Throws: `file` if this user may not read it: what it keeps back is not known then.
  private static func hasRules(_ path: String) throws -> Bool {
    try checkIsReadable(path)
    guard let content = Disk.contentIfAny(path) else { return false }
    return content.split(separator: UInt8(ascii: "\n")).contains { $0.first != UInt8(ascii: "#") }
  }
}

/// The ignore files of one folder, with each file of ignore rules that git's configuration may name beside them.
private struct Ignoring {
  let ways: [Repository]

  func isIgnored(_ path: TreePath, isFolder: Bool) throws -> Bool {
    try ways.contains { try $0.isIgnored(path, isFolder: isFolder) }
  }
}
