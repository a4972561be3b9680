public import Git
internal import History
internal import WorkTree

/// What a rename did.
public struct Renaming: Sendable {
  /// Old and new paths, by old path.
  public let files: [(old: TreePath, new: TreePath)]
  /// The new version; nil where there was nothing to rename.
  public let version: ObjectID?
}

extension Notebook {
  /// Renames a note, or moves it to another folder, as a version of its own after one of what the
  /// folder holds: so a rename stays a rename whatever was edited before.
  ///
  /// - Throws: `nameTaken`: nothing is ever overwritten.
  public func rename(_ old: TreePath, to new: TreePath) throws -> Renaming {
    try withWriterLock { transaction in
      try transaction.save()
      guard let tree = try history.tipTree(), let entry = try repository.entry(at: old, in: tree),
        entry.mode.isFile
      else { throw NotebookError.noSuchNote(old.description) }
      if old == new { return Renaming(files: [], version: nil) }
      try checkIsFree(new, except: old)
      return try carryOut(
        transaction, [(old, new, entry)], trailer: RenameTrailer(from: old, to: new),
        message: "Rename \(old.label) to \(new.label)")
    }
  }

  /// Renames or moves a folder with all that is versioned in it.
  public func rename(folder old: TreePath, to new: TreePath) throws -> Renaming {
    try withWriterLock { transaction in
      try transaction.save()
      if new.isBelow(old) { throw NotebookError.intoItself(old) }
      guard let tree = try history.tipTree(), let entry = try repository.entry(at: old, in: tree),
        entry.mode == .tree
      else { throw NotebookError.noSuchNote(old.description + "/") }
      if old == new { return Renaming(files: [], version: nil) }
      try checkIsFree(new, except: old)
      let files = try repository.files(in: entry.id).map { path, entry in
        (old.appending(path), new.appending(path), entry)
      }
      return try carryOut(
        transaction, files, trailer: RenameTrailer(from: old, to: new, isFolder: true),
        message: "Rename folder \(old) to \(new)")
    }
  }

  private func carryOut(
    _ transaction: WriteTransaction,
    _ files: [(old: TreePath, new: TreePath, entry: TreeEntry)], trailer: RenameTrailer,
    message: String
  ) throws -> Renaming {
    var replaced: [TreePath: TreeEntry?] = [:]
    for file in files { replaced.updateValue(nil, forKey: file.old) }
    for file in files {
      replaced[file.new] = TreeEntry(
        name: file.new.name, mode: file.entry.mode, id: file.entry.id)
    }
    let version = try transaction.replace(
      replaced, message: message, trailers: [trailer.line],
      // A moved note is not a deleted one, however many there are.
      options: MergeOptions(allowsMassDeletion: true, operation: .rename))
    return Renaming(files: files.map { ($0.old, $0.new) }, version: version)
  }
}

extension TreePath {
  /// The folder and the title.
  fileprivate var label: String { parent.map { "\($0)/\(noteTitle)" } ?? noteTitle }
}
