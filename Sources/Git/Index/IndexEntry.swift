internal import CLibgit2
public import Glibc

/// The status of a file in the index: fields of stat(2), cut to 32 bits as in git's index format. It shows, without a
/// read of the content, whether the file may have changed.
public struct FileStatus: Hashable, Sendable {
  package var changedSeconds: UInt32
  package var changedNanoseconds: UInt32
  package var modifiedSeconds: UInt32
  package var modifiedNanoseconds: UInt32
  package var device: UInt32
  package var inode: UInt32
  package var user: UInt32
  package var group: UInt32
  package var size: UInt32
}

extension FileStatus {
  /// The fields of a stat(2) result.
  public init(_ status: stat) {
    self.init(
      changedSeconds: UInt32(truncatingIfNeeded: status.st_ctim.tv_sec),
      changedNanoseconds: UInt32(truncatingIfNeeded: status.st_ctim.tv_nsec),
      modifiedSeconds: UInt32(truncatingIfNeeded: status.st_mtim.tv_sec),
      modifiedNanoseconds: UInt32(truncatingIfNeeded: status.st_mtim.tv_nsec),
      device: UInt32(truncatingIfNeeded: status.st_dev),
      inode: UInt32(truncatingIfNeeded: status.st_ino), user: status.st_uid, group: status.st_gid,
      size: UInt32(truncatingIfNeeded: status.st_size))
  }

  /// Whether all fields are equal except ctime, the time of the last change of name, owner or mode.
  package func isSameContent(as other: FileStatus) -> Bool {
    var copy = self
    (copy.changedSeconds, copy.changedNanoseconds) =
      (other.changedSeconds, other.changedNanoseconds)
    return copy == other
  }

  /// Whether the file was last written before `time`, and not in the same instant.
  package func isModified(before time: timespec) -> Bool {
    (modifiedSeconds, modifiedNanoseconds)
      < (UInt32(truncatingIfNeeded: time.tv_sec), UInt32(truncatingIfNeeded: time.tv_nsec))
  }
}

extension FileMode {
  /// The mode of a plain file with this stat(2) result.
  public init(_ status: stat) { self = status.st_mode & S_IXUSR != 0 ? .executable : .regular }
}

/// A file in the index.
public struct IndexEntry: Hashable, Sendable {
  package let path: TreePath
  package let mode: FileMode
  package let id: ObjectID
  package let status: FileStatus
  /// Git's skip-worktree bit (git-update-index(1)): the file is kept out of the folder on purpose,
  /// so its absence is not a deletion.
  public let skipsWorktree: Bool

  package init(
    path: TreePath, mode: FileMode, id: ObjectID, status: FileStatus, skipsWorktree: Bool = false
  ) {
    self.path = path
    self.mode = mode
    self.id = id
    self.status = status
    self.skipsWorktree = skipsWorktree
  }
}

extension Repository {
  /// The index's entries by path, and the paths of unmerged files, which have no entry: a git merge of them is not
  /// finished. libgit2 reads any form of index.
  package func readIndex() throws -> (entries: [IndexEntry], unmerged: [TreePath]) {
    let git = try handles()
    let (library, api) = (git.library, git.library.api)
    var index: OpaquePointer?
    try library.check("git_repository_index", api.git_repository_index(&index, git.repository))
    defer { api.git_index_free(index) }
    try library.check("git_index_read", api.git_index_read(index, 0))
    var unmerged: [TreePath] = []
    let entries = (0..<api.git_index_entrycount(index)).compactMap { position -> IndexEntry? in
      guard let entry = api.git_index_get_byindex(index, position)?.pointee else { return nil }
      let path = TreePath(
        bytes: UnsafeRawBufferPointer(start: entry.path, count: strlen(entry.path)))
      if entry.flags & IndexLayout.stages != 0 {
        unmerged.append(path)
        return nil
      }
      return IndexEntry(
        path: path,
        mode: FileMode(rawValue: entry.mode), id: entry.id.objectID,
        status: FileStatus(
          changedSeconds: UInt32(bitPattern: entry.ctime.seconds),
          changedNanoseconds: entry.ctime.nanoseconds,
          modifiedSeconds: UInt32(bitPattern: entry.mtime.seconds),
          modifiedNanoseconds: entry.mtime.nanoseconds, device: entry.dev, inode: entry.ino,
          user: entry.uid, group: entry.gid, size: entry.file_size),
        skipsWorktree: entry.flags_extended & IndexLayout.skipsWorktree != 0)
    }
    return (entries, unmerged)
  }
}
