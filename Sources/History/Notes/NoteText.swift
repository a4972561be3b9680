public import Git
internal import WorkTree

extension History {
  /// A file's bytes in a version.
  public func text(of path: TreePath, at version: Commit) throws -> [UInt8] {
    guard let entry = try repository.entry(at: path, in: version.tree), entry.mode.isFile else {
      throw NotebookError.notInVersion(path, version.id)
    }
    return try repository.blob(entry.id)
  }
}
