public import Git
internal import Glibc
internal import History
internal import WorkTree

extension Notebook {
  /// Makes a note as a version of its own, after one of what the folder holds.
  ///
  /// - Parameter anySuffix: refuse a title that a note with another suffix has, too.
  /// - Returns: the new version.
  /// - Throws: `nameTaken`: nothing is ever overwritten.
  public func create(_ path: TreePath, text: [UInt8], anySuffix: Bool = false) throws -> ObjectID? {
    guard text.count <= workTree.sizeLimit else {
      throw NotebookError.file(call: "write", path: path.description, errno: EFBIG)
    }
    return try withWriterLock { transaction in
      try transaction.save()
      try checkIsFree(path, anySuffix: anySuffix)
      let entry = TreeEntry(
        name: path.name, mode: .regular, id: try repository.write(blob: text))
      return try transaction.replace(
        [path: entry], message: "Add \(path.noteTitle)", options: MergeOptions(operation: .create))
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

  /// Whether there is a plain file of this path in the folder.
  public func isThere(_ path: TreePath) throws -> Bool {
    try FolderAccess(folder: folder).status(of: path).map { $0.st_mode & S_IFMT == S_IFREG }
      ?? false
  }
}
