public import Git

// Notes that the folder cannot hold: notes-merge(7), "Names that a file system does not take".
extension WorkTree {
  /// The notes of the last version that are not in the folder, because its file system does not take
  /// their names, or takes them for others'; by path.
  public func sparseFiles() throws -> [TreePath] {
    let index = try indexFile()
    if index.sparsePositions.isEmpty { return [] }
    let access = try FolderAccess(folder: folder)
    // Git sets the bit for files that are there, too.
    return try index.sparsePositions.map { index[$0].path }.filter {
      try access.standing(of: $0) != .asItIs
    }
  }
}
