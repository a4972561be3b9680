internal import CLibgit2
internal import Glibc

extension Repository {
  /// The index's entries by path as libgit2 reads them, in whichever form it is, without those of an
  /// unfinished git merge.
  public func indexEntries() throws -> [IndexEntry] {
    let git = try handles()
    let (library, api) = (git.library, git.library.api)
    var index: OpaquePointer?
    try library.check("git_repository_index", api.git_repository_index(&index, git.repository))
    defer { api.git_index_free(index) }
    try library.check("git_index_read", api.git_index_read(index, 0))
    return (0..<api.git_index_entrycount(index)).compactMap { position in
      guard let entry = api.git_index_get_byindex(index, position)?.pointee,
        entry.flags & IndexLayout.stages == 0
      else { return nil }
      return IndexEntry(
        path: TreePath(bytes: UnsafeRawBufferPointer(start: entry.path, count: strlen(entry.path))),
        mode: FileMode(rawValue: entry.mode), id: entry.id.objectID,
        status: FileStatus(
          changedSeconds: UInt32(bitPattern: entry.ctime.seconds),
          changedNanoseconds: entry.ctime.nanoseconds,
          modifiedSeconds: UInt32(bitPattern: entry.mtime.seconds),
          modifiedNanoseconds: entry.mtime.nanoseconds, device: entry.dev, inode: entry.ino,
          user: entry.uid, group: entry.gid, size: entry.file_size),
        skipsWorktree: entry.flags_extended & IndexLayout.skipsWorktree != 0)
    }
  }
}
