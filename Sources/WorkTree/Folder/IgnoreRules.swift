package import Git
internal import Glibc
internal import State
internal import System

/// The files that ignore files exclude from versions (notes-merge(7), "Files that are not versioned"). Without
/// ignore files, does not call libgit2. For notes, only rules that this device has agreed to count: otherwise
/// another person's `.gitignore` could exclude a note from versions. For other files, the agreed rules and the
/// present ones count: nobody else can make this device send a file by removing a rule.
package final class IgnoreRules {
  private let hasExclusions: Bool
  private let files: AgreedFiles
  /// True from joining until the first versions arrive. After that, the agreed rules may be the ones in those versions.
  private lazy var awaitsVersions = Counted.access(awaiting, F_OK) == 0
  private let awaiting: String
  /// The repository with the agreed ignore files; nil before any agreement.
  private let agreed: Ignoring?

  /// The repository with the present ignore files.
  private let asTheyAre: Ignoring

  package init(of workTree: WorkTree, index: IndexFile) throws {
    let repository = workTree.repository
    let questions = try QuestionSettings.all(ofIgnoreRules: workTree, repository.settings())
    let agreement = Agreement.toIgnoreFiles(workTree.stateFolder)
    awaiting = workTree.stateFolder[.awaiting]
    files = AgreedFiles(agreement, of: workTree, index: index)
    func ignoring(in folder: String) -> Ignoring {
      Ignoring(ways: questions.map { repository.readingIgnoreFiles(in: folder, by: $0) })
    }
    asTheyAre = ignoring(in: workTree.folder)
    agreed = agreement.isBegun ? ignoring(in: agreement.folder) : nil
    let ownFiles = [repository.gitFolder + "/info/exclude"] + questions.compactMap(\.excludesFile)
    hasExclusions = try ownFiles.map(Self.hasRules).contains(true) || agreement.hasFiles
  }

  /// Whether any rule can exclude a file.
  package func mayExclude(_ hasIgnoreFile: Bool) -> Bool { hasExclusions || hasIgnoreFile }

  /// Whether an untracked path is ignored; for a folder, whether everything in it is.
  package func isIgnored(_ path: TreePath, isFolder: Bool) throws -> Bool {
    // An unreadable `.gitignore` is not ignored itself, so that it is reported.
    if path.name != ".gitignore", files.isUnknown(above: path) { return true }
    if files.isBlocked(above: path) {
      return try agreed?.isIgnored(path, isFolder: isFolder) ?? false
    }
    func isNamed() throws -> Bool { try asTheyAre.isIgnored(path, isFolder: isFolder) }
    guard let agreed else { return try isNamed() }
    let origins = try (path.ancestors + [""]).map(files.origin)
    if !awaitsVersions, !origins.contains(.fromElsewhere) { return try isNamed() }
    let isAgreed =
      try agreed.isIgnored(path, isFolder: isFolder)
      || origins.contains(.writtenHere) && isNamed()
    if isFolder { return try isAgreed && isNamed() }
    return try isAgreed || path.titleRange == nil && isNamed()
  }

  /// Whether a folder above a path, or the notebook's own folder, has an ignore file, or a link in
  /// its place.
  static func hasFile(above path: TreePath, in folder: String) -> Bool {
    (path.ancestors + [""]).contains {
      Counted.faccessat(
        AT_FDCWD, "\(folder)/\($0.appending(".gitignore"))", F_OK, AT_SYMLINK_NOFOLLOW) == 0
    }
  }

  /// Throws `file` if a file with rules about ignored or converted files exists and is not
  /// readable.
  static func checkIsReadable(_ path: String) throws {
    guard Counted.access(path, R_OK) != 0, errno == EACCES else { return }
    throw WorkTreeError.file(call: "read", path: path, errno: EACCES)
  }

  /// Whether an exclusion file contains more than the comments that git writes there.
  ///
  /// - Throws: `file` if this user may not read the file, so that its rules are unknown.
  private static func hasRules(_ path: String) throws -> Bool {
    try checkIsReadable(path)
    guard let content = Disk.contentIfAny(path) else { return false }
    return content.split(separator: UInt8(ascii: "\n")).contains { $0.first != UInt8(ascii: "#") }
  }
}

/// The ignore files of one folder, combined with each file of ignore rules that git's configuration
/// may name.
private struct Ignoring {
  let ways: [Repository]

  func isIgnored(_ path: TreePath, isFolder: Bool) throws -> Bool {
    try ways.contains { try $0.isIgnored(path, isFolder: isFolder) }
  }
}
