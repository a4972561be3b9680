public import Git
internal import Glibc
internal import History
internal import Merge
internal import WorkTree

extension Notebook {
  /// Makes a note as a version of its own, after a save of the folder.
  ///
  /// - Parameter anySuffix: whether a note with the same title and another suffix is also an error.
  /// - Throws: `nameTaken`: nothing is ever overwritten.
  public func create(_ path: TreePath, text: [UInt8], anySuffix: Bool = false) throws -> ObjectID? {
    guard text.count <= workTree.sizeLimit else {
      throw WorkTreeError.file(call: "write", path: path.description, errno: EFBIG)
    }
    return try withWriterLock { transaction in
      try transaction.save()
      try checkIsFree(path, anySuffix: anySuffix)
      try transaction.checkNoConversion(at: path, holding: text)
      let entry = TreeEntry(name: path.name, mode: .regular, id: try repository.write(blob: text))
      return try transaction.replace(
        [path: entry], message: "Add \(path.noteTitle)", operation: .create)
    }
  }

  /// Appends a text to a note, on separate lines, as a version of its own. Saves the folder before.
  ///
  /// - Returns: nil if the text is empty.
  public func append(_ text: [UInt8], to path: TreePath) throws -> ObjectID? {
    let newline = UInt8(ascii: "\n")
    return try withWriterLock { transaction in
      try transaction.save()
      guard !text.isEmpty else { return nil }
      guard let tree = try history.tipTree(),
        let entry = try repository.entry(at: path, in: tree), entry.mode.isFile
      else { throw WorkTreeError.noSuchNote(path.description) }
      var whole = try repository.blob(entry.id)
      let ending =
        whole.suffix(2) == [UInt8(ascii: "\r"), newline]
        ? [UInt8(ascii: "\r"), newline] : [newline]
      if !whole.isEmpty, whole.last != newline { whole += [newline] }
      whole += text.last == newline ? text : text + ending
      guard whole.count <= workTree.sizeLimit else {
        throw WorkTreeError.file(call: "write", path: path.description, errno: EFBIG)
      }
      try transaction.checkNoConversion(at: path, holding: whole)
      let new = TreeEntry(name: path.name, mode: entry.mode, id: try repository.write(blob: whole))
      return try transaction.replace(
        [path: new], message: "Update \(path.noteTitle)", operation: .edit)
    }
  }

  /// Makes the folders for a note that an editor is about to write.
  ///
  /// - Throws: `nameTaken`.
  public func prepareFolder(for path: TreePath, anySuffix: Bool = false) throws {
    try checkIsFree(path, anySuffix: anySuffix)
    _ = try FolderAccess(folder: folder).withParent(of: path, create: true) { _, _ in }
  }

  /// Removes the folders that were made for a note that was not written.
  public func abandonFolder(for path: TreePath) throws {
    try FolderAccess(folder: folder).removeEmptyFolders(above: path)
  }

  /// Whether there is a plain file at this path in the folder.
  public func isThere(_ path: TreePath) throws -> Bool {
    try FolderAccess(folder: folder).status(of: path).map { $0.st_mode & S_IFMT == S_IFREG }
      ?? false
  }
}

/// The result of a rename.
public struct Renaming: Sendable {
  /// Old and new paths, by old path.
  public let files: [(old: TreePath, new: TreePath)]
  /// The new version; nil if there was nothing to rename.
  public let version: ObjectID?
}

extension Notebook {
  /// Renames a note, or moves it to another folder, as a version of its own. Saves the folder before, so that
  /// earlier edits do not hide the rename.
  ///
  /// - Throws: `nameTaken`: nothing is ever overwritten.
  public func rename(_ old: TreePath, to new: TreePath) throws -> Renaming {
    try rename(
      [NoteMove(old, to: new)], message: "Rename \(old.label) to \(new.label)")
  }

  /// Renames or moves a folder with everything versioned in it.
  public func rename(folder old: TreePath, to new: TreePath) throws -> Renaming {
    try rename(
      [NoteMove(old, to: new, isFolder: true)], message: "Rename folder \(old) to \(new)")
  }

  /// Moves notes and folders as one version. Saves the folder before.
  ///
  /// - Throws: `nameTaken`, `noSuchNote`, `intoItself`, and `unfitTitle` if new files there are not versioned.
  ///   Then nothing is moved.
  public func rename(_ moves: [NoteMove], message: String) throws -> Renaming {
    try withWriterLock { transaction in
      try transaction.save()
      let tree = try history.tipTree()
      var files: [(old: TreePath, new: TreePath, entry: TreeEntry)] = []
      var renames: [RenameTrailer] = []
      // A folder's files move with it.
      let outermost = moves.filter { move in
        !moves.contains { $0.isFolder && move.old.isBelow($0.old) }
      }
      for move in outermost {
        if move.isFolder, move.new.isBelow(move.old) { throw NotebookError.intoItself(move.old) }
        guard let entry = try tree.flatMap({ try repository.entry(at: move.old, in: $0) }),
          move.isFolder ? entry.mode == .tree : entry.mode.isFile
        else { throw WorkTreeError.noSuchNote(move.old.description + (move.isFolder ? "/" : "")) }
        if move.old == move.new { continue }
        try checkIsFree(move.new, except: move.old)
        files +=
          move.isFolder
          ? try repository.files(in: entry.id).map {
            (move.old.appending($0.path), move.new.appending($0.path), $0.entry)
          } : [(move.old, move.new, entry)]
        renames.append(RenameTrailer(from: move.old, to: move.new, isFolder: move.isFolder))
      }
      if files.isEmpty { return Renaming(files: [], version: nil) }
      // A note that others see does not move to a place where this person keeps private files.
      let newFiles = try newFiles()
      for file in files where try newFiles.reasonKeptBack(file.old) == nil {
        if let reason = try newFiles.reasonKeptBack(file.new) {
          throw NotebookError.unfitTitle(file.new.description, reason)
        }
      }
      var replaced: [TreePath: TreeEntry?] = [:]
      for file in files { replaced[file.old] = .some(nil) }
      var taken: [NameKey: TreePath] = [:]
      for file in files {
        if let other = taken.updateValue(file.new, forKey: NameKey(file.new)) {
          throw NotebookError.nameTaken(file.new, by: other, isFolder: false)
        }
        replaced[file.new] = TreeEntry(
          name: file.new.name, mode: file.entry.mode, id: file.entry.id)
      }
      let version = try transaction.replace(
        replaced, message: message, trailers: renames.map(\.line),
        // Moving notes does not count as deleting them.
        operation: .rename, allowsMassDeletion: true)
      return Renaming(files: files.map { ($0.old, $0.new) }, version: version)
    }
  }
}

/// A note or folder with its new path.
public struct NoteMove: Sendable {
  let old: TreePath
  let new: TreePath
  let isFolder: Bool

  public init(_ old: TreePath, to new: TreePath, isFolder: Bool = false) {
    (self.old, self.new, self.isFolder) = (old, new, isFolder)
  }
}

extension TreePath {
  fileprivate var label: String { parent.map { "\($0)/\(noteTitle)" } ?? noteTitle }
}

/// The result of a removal.
public struct Removal: Sendable {
  /// The deleted files, by path.
  public let paths: [TreePath]
  /// The version that deleted them; nil if there was nothing to delete.
  public let version: ObjectID?
}

extension Notebook {
  /// Deletes notes, and folders with everything versioned in them, as a version of its own. Saves the folder
  /// before. The texts stay in the history.
  ///
  /// - Throws: `noSuchNote` if one does not exist; `massDeletion`. Then nothing is deleted.
  public func delete(_ subjects: [TreePath], allowsMassDeletion: Bool = false) throws -> Removal {
    try withWriterLock { transaction in
      try transaction.save(allowsMassDeletion: allowsMassDeletion)
      guard let tree = try history.tipTree() else {
        throw WorkTreeError.noSuchNote(subjects.map(\.description).joined(separator: ", "))
      }
      var paths: Set<TreePath> = []
      for subject in subjects {
        guard let entry = try repository.entry(at: subject, in: tree) else {
          throw WorkTreeError.noSuchNote(subject.description)
        }
        let files = entry.mode == .tree ? try repository.files(in: entry.id) : nil
        paths.formUnion(files?.map { subject.appending($0.path) } ?? [subject])
      }
      let sorted = paths.sorted()
      let changes = sorted.map { Change(path: $0, kind: .deleted) }
      let version = try transaction.replace(
        Dictionary(uniqueKeysWithValues: sorted.map { ($0, nil) }),
        message: Change.summary(of: changes), operation: .delete,
        allowsMassDeletion: allowsMassDeletion)
      return Removal(paths: sorted, version: version)
    }
  }
}
