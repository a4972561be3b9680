public import Git
internal import Glibc

extension WorkTree {
  /// A file's bytes as they stand in the folder; as the index has them where the folder cannot hold
  /// the file.
  public func text(of path: TreePath) throws -> [UInt8] {
    let index = try indexFile()
    if !index.sparsePositions.isEmpty, let position = index.position(of: path),
      index.skipsWorktree(at: position)
    {
      return try repository.blob(index.id(at: position))
    }
    switch try FileContent.read(path, in: folder, sizeLimit: .max) {
    case .read(let content): return content.bytes
    case .gone: throw NotebookError.noSuchNote(path.description)
    case .skipped(.unreadable(let number)):
      throw NotebookError.file(call: "read", path: path.description, errno: number)
    case .skipped: throw NotebookError.file(call: "read", path: path.description, errno: EAGAIN)
    }
  }
}
