internal import CLibgit2

/// The repository's index, open for changes through libgit2.
public final class Index {
  private let repository: Repository
  private let library: Libgit2
  private let handle: OpaquePointer

  /// Opens the index as it is on the disk now.
  public init(of repository: Repository) throws {
    let git = try repository.handles()
    var index: OpaquePointer?
    let status = git.library.api.git_repository_index(&index, git.repository)
    guard status == 0, let index else { throw git.library.error("git_repository_index", status) }
    self.repository = repository
    library = git.library
    handle = index
    try library.check("git_index_read", library.api.git_index_read(index, 0))
  }

  deinit { library.api.git_index_free(handle) }

  /// The entries by path, without those of an unfinished git merge.
  public var entries: [IndexEntry] {
    (0..<library.api.git_index_entrycount(handle)).compactMap { position in
      guard let entry = library.api.git_index_get_byindex(handle, position)?.pointee,
        entry.flags & 0x3000 == 0
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

  /// Adds an entry, or replaces the one at its path.
  public func set(_ entry: IndexEntry) throws {
    var raw = git_index_entry()
    raw.ctime = git_index_time(
      seconds: Int32(bitPattern: entry.status.changedSeconds),
      nanoseconds: entry.status.changedNanoseconds)
    raw.mtime = git_index_time(
      seconds: Int32(bitPattern: entry.status.modifiedSeconds),
      nanoseconds: entry.status.modifiedNanoseconds)
    raw.dev = entry.status.device
    raw.ino = entry.status.inode
    raw.mode = entry.mode.rawValue
    raw.uid = entry.status.user
    raw.gid = entry.status.group
    raw.file_size = entry.status.size
    raw.id = git_oid(entry.id)
    if entry.skipsWorktree {
      raw.flags = IndexLayout.isExtended
      raw.flags_extended = IndexLayout.skipsWorktree
    }
    var path = entry.path.bytes.map { CChar(bitPattern: $0) }
    path.append(0)
    _ = try path.withUnsafeBufferPointer { path in
      raw.path = path.baseAddress
      return try library.check("git_index_add", library.api.git_index_add(handle, &raw))
    }
  }

  /// Removes the entry at `path`, if there is one.
  public func remove(_ path: TreePath) throws {
    var name = path.bytes.map { CChar(bitPattern: $0) }
    name.append(0)
    let status = library.api.git_index_remove(handle, name, 0)
    if status == GIT_ENOTFOUND.rawValue { return }
    try library.check("git_index_remove", status)
  }

  /// Drops the entries of an unfinished git merge; the files in the folder are what counts.
  public func dropMergeEntries() throws {
    guard library.api.git_index_has_conflicts(handle) == 1 else { return }
    try library.check(
      "git_index_conflict_cleanup", library.api.git_index_conflict_cleanup(handle))
  }

  /// Stores the trees that the entries make up and returns the root's ID. To be called before
  /// `write`, which keeps the IDs of unchanged folders for the next time.
  public func writeTree() throws -> ObjectID {
    var oid = git_oid()
    try library.check("git_index_write_tree", library.api.git_index_write_tree(&oid, handle))
    return oid.objectID
  }

  /// Writes the index file.
  public func write() throws {
    try library.check("git_index_write", library.api.git_index_write(handle))
  }
}

private func strlen(_ text: UnsafePointer<CChar>) -> Int {
  var length = 0
  while text[length] != 0 { length += 1 }
  return length
}
