public import Git

// Notes that the folder cannot hold: notes-merge(7), "Names that a file system does not take".
extension Notebook {
  /// The notes of the last version that are not in the folder, because its file system does not take
  /// their names, or takes them for others'; by path.
  public func leftOut() throws -> [TreePath] {
    let index = try indexFile()
    if index.leftOut.isEmpty { return [] }
    let access = try FolderAccess(folder: folder)
    // Git sets the bit for files that are there, too.
    return try index.leftOut.map { index[$0].path }.filter {
      try access.standing(of: $0) != .asItIs
    }
  }

  /// Brings into the folder what it could not hold and now can, for callers that hold the writer lock
  /// and have saved.
  func bringLeftOut() throws {
    let access = try FolderAccess(folder: folder)
    guard try leftOut().contains(where: { !access.cannotHold($0) }) else { return }
    let head = try repository.head()
    guard let commit = head.commit else { return }
    _ = try checkOut(from: commit, to: commit, head: head)
  }
}
