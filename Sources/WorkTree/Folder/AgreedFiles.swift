package import Git
internal import Glibc
internal import State
internal import System

/// This device's agreement to files that tell git how to treat other files: copies at the same paths in
/// `.git/notes` (notes-merge(7), "Files that are not versioned"). So such a file from another writer cannot
/// exclude this device's notes from versions, nor make this device send notes that it keeps back.
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

/// Compares the folder's files of one kind with the copies that this device has agreed to.
final class AgreedFiles {
  let agreement: Agreement
  private let workTree: WorkTree
  private let index: IndexFile
  private var accesses: [TreePath: Access] = [:]
  private var known: [TreePath: (origin: Origin, content: [UInt8]?)] = [:]

  /// The origin of a file's present content, or of its absence.
  enum Origin {
    /// The file is as this device agreed to it.
    case agreed
    /// The file was written or deleted here, and is not in a version yet: the next save agrees to
    /// it.
    case writtenHere
    case fromElsewhere
  }

  init(_ agreement: Agreement, of workTree: WorkTree, index: IndexFile) {
    (self.agreement, self.workTree, self.index) = (agreement, workTree, index)
  }

  func origin(in folder: TreePath) throws -> Origin { try look(in: folder).origin }

  /// The content of a folder's file; nil if there is none.
  func content(in folder: TreePath) throws -> [UInt8]? { try look(in: folder).content }

  /// Whether this kind of file beside or above a path cannot be opened normally: libgit2 would wait for ever for a
  /// FIFO. In place of an unreadable file, the content counts that this device agreed to.
  func isBlocked(above path: TreePath) -> Bool {
    (path.ancestors + [""]).contains { access(in: $0) != .open }
  }

  /// Whether a file of this kind beside or above a path is unreadable and was never agreed to, so that its rules are
  /// unknown.
  func isUnknown(above path: TreePath) -> Bool {
    (path.ancestors + [""]).contains { folder in
      let copy = "\(agreement.folder)/\(folder.appending(agreement.fileName))"
      return access(in: folder) == .unreadable && Counted.access(copy, F_OK) != 0
    }
  }

  /// How a folder's file can be read.
  private enum Access {
    /// The file is readable, or does not exist.
    case open
    /// A FIFO or a similar file is in its place.
    case blocked
    /// The file has no read permission, or is a link that leads nowhere.
    case unreadable
  }

  private func access(in folder: TreePath) -> Access {
    if let known = accesses[folder] { return known }
    let name = "\(workTree.folder)/\(folder.appending(agreement.fileName))"
    let access = Self.access(to: name)
    accesses[folder] = access
    return access
  }

  private static func access(to name: String) -> Access {
    var status = stat()
    guard Counted.lstat(name, &status) == 0 else { return .open }
    if status.st_mode & S_IFMT == S_IFLNK, Counted.stat(name, &status) != 0 { return .unreadable }
    switch status.st_mode & S_IFMT {
    case S_IFREG: return Counted.access(name, R_OK) == 0 ? .open : .unreadable
    case S_IFDIR: return .open
    default: return .blocked
    }
  }

  private func look(in folder: TreePath) throws -> (origin: Origin, content: [UInt8]?) {
    if let known = known[folder] { return known }
    let path = folder.appending(agreement.fileName)
    let content = Disk.contentIfAny("\(workTree.folder)/\(path)", followsLink: false)
    let saved = index.position(of: path).map { index.id(at: $0) }
    let copy = Disk.contentIfAny("\(agreement.folder)/\(path)")
    var origin = content == copy ? Origin.agreed : .fromElsewhere
    if try content.map({ try workTree.repository.hash(blob: $0) }) != saved {
      origin = .writtenHere
    }
    known[folder] = (origin, content)
    return (origin, content)
  }
}

extension WorkTree {
  /// Agrees to the files of these kinds that are in the folder, if there is no agreement yet. That is so in a
  /// folder that becomes a notebook, and in a notebook of an older version of notes. Call it before the first
  /// checkout.
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

  /// Agrees to the ignore and attributes files in the first versions that arrive after joining, with the lines of
  /// the folder's own files after theirs.
  package func agree(toFilesOf trees: [ObjectID]) throws {
    try beginAgreements()
    var contents: [TreePath: [[UInt8]]] = [:]
    for tree in trees {
      for (path, entry) in try repository.files(in: tree) where entry.mode.isFile {
        if path.name != ".gitignore", path.name != ".gitattributes" { continue }
        contents[path, default: []].append(try repository.blob(entry.id))
      }
    }
    for (path, theirs) in contents {
      let own = try plainFile(path)
      let all = (theirs + (own.map { [$0] } ?? [])).eachOnce
      let content = Array(all.joined(separator: [UInt8(ascii: "\n")]))
      for agreement in Agreement.all(stateFolder) where path.name == agreement.fileName {
        try write(content, to: "\(agreement.folder)/\(path)")
      }
    }
  }

  /// Agrees to the files of such a kind among `paths` as they are now, and drops the agreement to
  /// files that no longer exist.
  package func agree(toFilesAmong paths: some Sequence<TreePath>) throws {
    let agreements = Agreement.all(stateFolder)
    for path in paths {
      for agreement in agreements where path.name == agreement.fileName {
        try agree(to: path, agreement)
      }
    }
  }

  /// The content of a file; nil if there is none, or if it is not a plain file: a link or a FIFO.
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
    try write(content, to: copy)
  }

  private func write(_ content: [UInt8], to copy: String) throws {
    try Disk.makeFolders(Disk.parent(of: copy), in: stateFolder.path, mode: 0o700)
    try Disk.replace(copy, with: content)
  }
}
