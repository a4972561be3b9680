package import Git
internal import Glibc
internal import State
internal import System

/// Files by which git treats other files, as this device agreed to them: copies at the same paths in
/// `.git/notes` (notes-merge(7), "Files that are not versioned"). What another writer sends of the kind
/// neither keeps this device's notes from being versioned, nor has it send what it kept back.
package struct Agreement {
  let fileName: TreePath
  let folder: String

  fileprivate init(_ fileName: TreePath, _ folder: String) {
    (self.fileName, self.folder) = (fileName, folder)
  }

  static func toIgnoreFiles(_ state: StateFolder) -> Agreement {
    Agreement(".gitignore", state[.ignore])
  }

  static func toAttributesFiles(_ state: StateFolder) -> Agreement {
    Agreement(".gitattributes", state[.attributes])
  }

  static func all(_ state: StateFolder) -> [Agreement] {
    [toIgnoreFiles(state), toAttributesFiles(state)]
  }

  var isBegun: Bool { Counted.access(folder, F_OK) == 0 }
  var hasFiles: Bool { !Disk.namesIfAny(in: folder).isEmpty }
}

/// How the files of one kind in the folder stand to what was agreed to.
final class AgreedFiles {
  let agreement: Agreement
  private let workTree: WorkTree
  private let index: IndexFile
  private var blocked: [TreePath: Bool] = [:]
  private var known: [TreePath: (standing: Standing, content: [UInt8]?)] = [:]

  /// The change of a folder's file, or of its absence.
  enum Standing {
    /// It is as this device agreed to it.
    case agreed
    /// It was written or deleted here, and is in no version yet: with the next one it is agreed to.
    case writtenHere
    case fromElsewhere
  }

  init(_ agreement: Agreement, of workTree: WorkTree, index: IndexFile) {
    (self.agreement, self.workTree, self.index) = (agreement, workTree, index)
  }

  func standing(in folder: TreePath) throws -> Standing { try look(in: folder).standing }

  /// The content of a folder's file; nil if there is none.
  func content(in folder: TreePath) throws -> [UInt8]? { try look(in: folder).content }

  /// Whether anything else than a file has such a file's name beside or above a path: to open a FIFO there
  /// would wait for ever, which libgit2 does.
  func isBlocked(above path: TreePath) -> Bool {
    (path.ancestors + [""]).contains { folder in
      if let isBlocked = blocked[folder] { return isBlocked }
      var status = stat()
      let name = "\(workTree.folder)/\(folder.appending(agreement.fileName))"
      let isThere = Counted.stat(name, &status) == 0
      let isBlocked = isThere && ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT)
      blocked[folder] = isBlocked
      return isBlocked
    }
  }

  private func look(in folder: TreePath) throws -> (standing: Standing, content: [UInt8]?) {
    if let known = known[folder] { return known }
    let path = folder.appending(agreement.fileName)
    let content = Disk.contentIfAny("\(workTree.folder)/\(path)", followsLink: false)
    let saved = index.position(of: path).map { index.id(at: $0) }
    let copy = Disk.contentIfAny("\(agreement.folder)/\(path)")
    var standing = content == copy ? Standing.agreed : .fromElsewhere
    if try content.map({ try workTree.repository.hash(blob: $0) }) != saved {
      standing = .writtenHere
    }
    known[folder] = (standing, content)
    return (standing, content)
  }
}

extension WorkTree {
  /// Agrees to the files of these kinds that are in the folder, where nothing was agreed to so far: in a
  /// folder that becomes a notebook, and in a notebook of a former version of notes. To be called before
  /// the first checkout.
  package func beginAgreements() throws {
    let agreements = Agreement.all(stateFolder).filter { !$0.isBegun }
    if agreements.isEmpty { return }
    let files = try FolderListing(folder: folder) { _, _ in false }.files
    for agreement in agreements {
      let made = Agreement(agreement.fileName, Disk.unique(beside: agreement.folder))
      try Disk.makeFolder(made.folder, mode: 0o700)
      for path in files where path.name == agreement.fileName { try agree(to: path, made) }
      try Disk.rename(made.folder, to: agreement.folder)
    }
  }

  /// Agrees to those of these files that are of such a kind, as they are now; to one that has gone, no
  /// more.
  package func agree(toFilesAmong paths: some Sequence<TreePath>) throws {
    let agreements = Agreement.all(stateFolder)
    for path in paths {
      for agreement in agreements where path.name == agreement.fileName {
        try agree(to: path, agreement)
      }
    }
  }

  /// The content of a file; nil if there is none, or something else: a link, a FIFO.
  private func plainFile(_ path: TreePath) throws -> [UInt8]? {
    var status = stat()
    let name = "\(folder)/\(path)"
    if Counted.lstat(name, &status) == 0, status.st_mode & S_IFMT != S_IFREG { return nil }
    return try Disk.readIfThere(name, followsLink: false)
  }

  private func agree(to path: TreePath, _ agreement: Agreement) throws {
    let copy = "\(agreement.folder)/\(path)"
    guard let content = try plainFile(path) else {
      unlink(copy)
      return
    }
    try Disk.makeFolders(Disk.parent(of: copy), in: stateFolder.path, mode: 0o700)
    try Disk.replace(copy, with: content)
  }
}
