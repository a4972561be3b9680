package import Git
internal import Glibc
internal import System

/// What the ignore files leave out of versions (notes-merge(7), "Files that are not versioned"), asked
/// through libgit2 only when there are any.
///
/// A note is left out by what this device agreed to, so that nobody else's `.gitignore` keeps it from
/// being versioned, or, by naming it no more, has it sent.
package final class IgnoreRules {
  private let workTree: WorkTree
  private let index: IndexFile
  private let hasExclusions: Bool
  private let agreement: IgnoreAgreement
  /// The repository with the ignore files as they were agreed to; nil before any agreement.
  private let agreed: Repository?
  private var standings: [TreePath: Standing] = [:]

  /// What became of a folder's ignore file, or of there being none.
  private enum Standing {
    /// It is as this device agreed to it.
    case agreed
    /// It was written or deleted here, and is in no version yet: with the next one it is agreed to.
    case writtenHere
    case fromElsewhere
  }

  package init(of workTree: WorkTree, index: IndexFile) {
    self.workTree = workTree
    self.index = index
    agreement = IgnoreAgreement(stateFolder: workTree.stateFolder)
    agreed =
      agreement.isBegun ? workTree.repository.readingIgnoreFiles(in: agreement.folder) : nil
    hasExclusions =
      Self.hasRules(workTree.repository.gitFolder + "/info/exclude") || agreement.hasFiles
  }

  /// Whether there is anything to ask about at all.
  package func mayExclude(_ hasIgnoreFile: Bool) -> Bool { hasExclusions || hasIgnoreFile }

  /// Whether an untracked path is left out; a folder, whether all in it is.
  package func isIgnored(_ path: TreePath, isFolder: Bool) throws -> Bool {
    func isNamed() throws -> Bool { try workTree.repository.isIgnored(path, isFolder: isFolder) }
    guard let agreed, isFolder || path.titleRange != nil else { return try isNamed() }
    let standings = try (path.ancestors + [""]).map(standing)
    if !standings.contains(.fromElsewhere) { return try isNamed() }
    let isAgreed =
      try agreed.isIgnored(path, isFolder: isFolder)
      || standings.contains(.writtenHere) && isNamed()
    return try isFolder ? isNamed() && isAgreed : isAgreed
  }

  private func standing(in folder: TreePath) throws -> Standing {
    if let known = standings[folder] { return known }
    let path = folder.appending(IgnoreAgreement.fileName)
    let content = try? Disk.readIfThere("\(workTree.folder)/\(path)", followsLink: false)
    let saved = index.position(of: path).map { index.id(at: $0) }
    let copy = try? Disk.readIfThere("\(agreement.folder)/\(path)")
    var standing = content == copy ? Standing.agreed : .fromElsewhere
    if try content.map({ try workTree.repository.hash(blob: $0) }) != saved {
      standing = .writtenHere
    }
    standings[folder] = standing
    return standing
  }

  /// Whether an exclusion file holds more than the comments git puts there.
  private static func hasRules(_ path: String) -> Bool {
    guard let content = try? Disk.readIfThere(path) else { return false }
    return content.split(separator: UInt8(ascii: "\n")).contains { $0.first != UInt8(ascii: "#") }
  }
}

/// The ignore files as this device agreed to them: copies at the same paths in `.git/notes/ignore`.
package struct IgnoreAgreement {
  static let fileName = TreePath(".gitignore")

  let folder: String

  init(folder: String) { self.folder = folder }

  init(stateFolder: String) { self.init(folder: stateFolder + "/ignore") }

  var isBegun: Bool { Counted.access(folder, F_OK) == 0 }
  var hasFiles: Bool { !Disk.namesIfAny(in: folder).isEmpty }
}

extension WorkTree {
  /// Agrees to the ignore files that are in the folder, where nothing was agreed to so far: in a folder
  /// that becomes a notebook, and in a notebook of a former version of notes. To be called before the
  /// first checkout.
  package func beginIgnoreAgreement() throws {
    let agreement = IgnoreAgreement(stateFolder: stateFolder)
    if agreement.isBegun { return }
    let files = try FolderListing(folder: folder) { _, _ in false }.files
    let made = IgnoreAgreement(folder: Disk.unique(beside: agreement.folder))
    try Disk.makeFolder(made.folder, mode: 0o700)
    for path in files where path.name == IgnoreAgreement.fileName { try agree(to: path, made) }
    try Disk.rename(made.folder, to: agreement.folder)
  }

  /// Agrees to those of these files that are ignore files, as they are now; to one that has gone, no
  /// more.
  package func agree(toIgnoreFilesAmong paths: some Sequence<TreePath>) throws {
    for path in paths where path.name == IgnoreAgreement.fileName {
      try agree(to: path, IgnoreAgreement(stateFolder: stateFolder))
    }
  }

  private func agree(to path: TreePath, _ agreement: IgnoreAgreement) throws {
    let copy = "\(agreement.folder)/\(path)"
    guard let content = try Disk.readIfThere("\(folder)/\(path)", followsLink: false) else {
      unlink(copy)
      return
    }
    try Disk.makeFolders(Disk.parent(of: copy), in: stateFolder, mode: 0o700)
    try Disk.replace(copy, with: content)
  }
}
