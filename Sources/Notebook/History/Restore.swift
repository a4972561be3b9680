public import Git
internal import Glibc

extension Notebook {
  /// A note's bytes: as they stand in the folder, or in a version.
  public func text(of path: TreePath, at version: Commit? = nil) throws -> [UInt8] {
    if let version {
      guard let entry = try repository.entry(at: path, in: version.tree), entry.mode.isFile else {
        throw NotebookError.notInVersion(path, version.id)
      }
      return try repository.blob(entry.id)
    }
    switch try FileContent.read(path, in: folder, sizeLimit: .max) {
    case .read(let content): return content.bytes
    case .gone: throw NotebookError.noSuchNote(path.description)
    case .skipped(.unreadable(let number)):
      throw NotebookError.file(call: "read", path: path.description, errno: number)
    case .skipped: throw NotebookError.file(call: "read", path: path.description, errno: EAGAIN)
    }
  }

  /// Brings back a note as it was in a version, as a new version; the present text is versioned
  /// first. Returns the new version, or nil when the note is so already.
  ///
  /// - Parameter target: under this path instead of its own.
  public func restore(_ path: TreePath, from version: Commit, as target: TreePath? = nil) throws
    -> ObjectID?
  {
    try withWriterLock {
      guard let entry = try repository.entry(at: path, in: version.tree), entry.mode.isFile else {
        throw NotebookError.notInVersion(path, version.id)
      }
      _ = try saveLocked()
      let title = (target ?? path).noteTitle
      let when = version.id.hex.prefix(10)
      return try replace(
        [target ?? path: TreeEntry(name: path.name, mode: entry.mode, id: entry.id)],
        message: "Restore \(title) from \(when)")
    }
  }

  /// Makes a version of the tip with some files replaced (nil removes one) and brings the folder to
  /// it, for callers that hold the writer lock and have saved.
  func replace(_ files: [TreePath: TreeEntry?], message: String) throws -> ObjectID? {
    let head = try repository.head()
    let parents = try head.commit.map { [try repository.commit($0)] } ?? []
    let tree = try repository.write(tree: parents.first?.tree, replacing: files)
    guard tree != parents.first?.tree else { return nil }
    let id = try makeVersion(of: tree, parents: parents, message: message)
    try joinLocked([id])
    return id
  }
}
