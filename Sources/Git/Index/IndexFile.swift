public import Glibc
internal import Synchronization
internal import System

/// Git's index file, versions 2 and 3 (gitformat-index(5)), in memory, read without a library and without
/// copying entries. `IndexEdit`, which makes a new index from it, verifies the checksum. Unchecked Sendable:
/// `file` owns the memory, and nothing writes to it.
public final class IndexFile: @unchecked Sendable {
  /// When the file was last written: an entry modified at this time or later may have changed
  /// unnoticed.
  private let writtenSeconds: UInt32
  private let writtenNanoseconds: UInt32
  private let path: String
  private let file: MappedFile?
  /// The whole file; valid as long as this object exists.
  let bytes: UnsafeRawBufferPointer
  private let layout: IndexLayout

  /// The files that git could not merge and a person must resolve, by path: gitrevisions(7), stages
  /// 1 to 3.
  public let unmergedPaths: [TreePath]

  private init(
    _ path: String, _ file: MappedFile?, _ layout: IndexLayout, unmerged: [TreePath] = []
  ) {
    self.path = path
    let found = layout.unmerged.compactMap { range in
      file.map { TreePath(bytes: $0.bytes[range]) }
    }
    unmergedPaths = Set(found + unmerged).sorted()
    self.file = file
    self.layout = layout
    bytes = file?.bytes ?? UnsafeRawBufferPointer(start: nil, count: 0)
    let written = file?.status.st_mtim ?? timespec()
    writtenSeconds = UInt32(truncatingIfNeeded: written.tv_sec)
    writtenNanoseconds = UInt32(truncatingIfNeeded: written.tv_nsec)
  }

  /// The index of a repository; empty if the repository has none yet. Nil if only libgit2 can read
  /// the file's form (version 4, split index).
  public convenience init?(ofRepositoryAt gitFolder: String) throws {
    let path = gitFolder + "/index"
    guard let (file, layout) = try Self.read(path) else { return nil }
    self.init(path, file, layout)
  }

  private static func read(_ path: String) throws -> (MappedFile?, IndexLayout)? {
    var status = stat()
    guard Counted.stat(path, &status) == 0 else {
      if errno == ENOENT { return (nil, IndexLayout()) }
      throw GitError.system(call: "stat", path: path, errno: errno)
    }
    // After a power cut, a file that was not synced is empty.
    if status.st_size == 0 { return nil }
    // Writers replace the file and never change it in place, so the mapped bytes do not change.
    let file = try MappedFile(path, isReadWhole: true)
    return IndexLayout(of: file.bytes).map { (file, $0) }
  }

  /// Whether the repository has no index.
  public var isMissing: Bool { file == nil }

  /// An index whose entries were read by libgit2. It does not know when the file was written, so any file may have
  /// changed unnoticed.
  public convenience init(entries: [IndexEntry], unmerged: [TreePath] = []) throws {
    var index = NewIndex()
    // With core.ignoreCase, git sorts its index differently.
    for entry in entries.sorted(by: { $0.path < $1.path }) { index.append(entry, isNew: true) }
    let file = try MappedFile(copying: index.finish())
    guard let layout = IndexLayout(of: file.bytes) else {
      throw GitError.unsupported("an index of this size or with these paths")
    }
    self.init("", file, layout, unmerged: unmerged)
  }

  /// The positions of the entries with the skip-worktree bit.
  public var sparsePositions: [Int] { layout.skipping }

  /// Whether the entry has the skip-worktree bit.
  public func skipsWorktree(at position: Int) -> Bool {
    if layout.skipping.isEmpty { return false }
    let flags = start(of: position) + 60
    return bytes.bigEndianHalf(at: flags) & IndexLayout.isExtended != 0
      && bytes.bigEndianHalf(at: flags + 2) & IndexLayout.skipsWorktree != 0
  }

  /// The number of entries, without those of an unfinished git merge (stages 1 to 3).
  public var count: Int { layout.starts.count }

  /// All entries, by path.
  public var entries: [IndexEntry] { (0..<count).map { self[$0] } }

  /// The entry at a position in the order of paths.
  public subscript(position: Int) -> IndexEntry {
    IndexEntry(
      path: path(at: position), mode: mode(at: position),
      id: id(at: position), status: status(at: position),
      skipsWorktree: skipsWorktree(at: position))
  }

  /// The bytes of an entry's path; valid as long as this object exists.
  public func pathBytes(at position: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: bytes[IndexLayout.path(in: bytes, at: start(of: position))])
  }

  /// An entry's path.
  public func path(at position: Int) -> TreePath { TreePath(bytes: pathBytes(at: position)) }

  /// The status of the file at an entry's path, relative to an open folder: fstatat(2), without
  /// following a symbolic link. If that fails, nil, and `errno` is set.
  ///
  /// - Parameter skipped: how many bytes of the path lead to the open folder.
  public func fileStatus(
    at position: Int, below folder: Int32, skipping skipped: Int = 0
  ) -> stat? {
    var status = stat()
    // A NUL follows every path: IndexLayout checks that.
    let path = pathBytes(at: position).baseAddress?.assumingMemoryBound(to: CChar.self)
    guard let path, Counted.fstatat(folder, path + skipped, &status, AT_SYMLINK_NOFOLLOW) == 0
    else {
      return nil
    }
    return status
  }

  /// The entries, grouped into runs: neighbours that are in the same folder.
  public func folderRuns() -> [FolderRun] {
    var runs: [FolderRun] = []
    var former = UnsafeRawBufferPointer(start: nil, count: 0)
    for position in 0..<count {
      let path = pathBytes(at: position)
      let folder = path[..<(path.lastIndex(of: UInt8(ascii: "/")) ?? 0)]
      if !runs.isEmpty, folder.elementsEqual(former) {
        runs[runs.count - 1].positions = runs[runs.count - 1].positions.lowerBound..<(position + 1)
      } else {
        former = UnsafeRawBufferPointer(rebasing: folder)
        runs.append(
          FolderRun(folder: TreePath(bytes: folder), positions: position..<(position + 1)))
      }
    }
    return runs
  }

  /// An entry's mode.
  public func mode(at position: Int) -> FileMode {
    FileMode(rawValue: bytes.bigEndianWord(at: start(of: position) + 24))
  }

  /// The file status that an entry records.
  public func status(at position: Int) -> FileStatus {
    let start = start(of: position)
    func word(_ number: Int) -> UInt32 { bytes.bigEndianWord(at: start + 4 * number) }
    return FileStatus(
      changedSeconds: word(0), changedNanoseconds: word(1), modifiedSeconds: word(2),
      modifiedNanoseconds: word(3), device: word(4), inode: word(5), user: word(7),
      group: word(8), size: word(9))
  }

  /// The object of an entry.
  public func id(at position: Int) -> ObjectID {
    ObjectID(in: bytes.bytes, at: start(of: position) + 40) ?? .zero
  }

  /// Whether a file may have changed although its status is the same. That is so if it was written in the same
  /// instant as the index, or later (git's racy-git rule).
  public func isRacy(_ status: FileStatus) -> Bool {
    (status.modifiedSeconds, status.modifiedNanoseconds) >= (writtenSeconds, writtenNanoseconds)
  }

  /// Whether a plain file certainly has the content that the entry records. The mode may differ.
  public func isUnchanged(_ status: stat, at position: Int) -> Bool {
    let now = FileStatus(status)
    return self.status(at: position) == now && !isRacy(now)
  }

  private func start(of position: Int) -> Int { Int(layout.starts[position]) }
}

/// Neighbouring entries of the index, all in one folder.
public struct FolderRun: Sendable {
  /// The folder.
  public let folder: TreePath
  /// The positions of all entries.
  public var positions: Range<Int>

  /// The entries at these positions, in that folder.
  public init(folder: TreePath, positions: Range<Int>) {
    self.folder = folder
    self.positions = positions
  }
}

// The parts of an old index from which a new one is made.
extension IndexFile {
  /// Whether the file's checksum is right: a power cut may leave zeros in it. A file without a
  /// checksum, as git writes it with index.skipHash, cannot be told from a damaged one.
  public func isIntact() throws -> Bool {
    guard let file else { return true }
    let status = FileStatus(file.status)
    if Self.intact.withLock({ $0[path] == status }) { return true }
    let end = bytes.count - ObjectID.byteCount
    let isIntact = try bytes[end...].elementsEqual(
      SHA1.of(UnsafeRawBufferPointer(rebasing: bytes[..<end])))
    if isIntact { Self.intact.withLock { $0[path] = status } }
    return isIntact
  }

  /// The indexes that this process has verified or written, by path. They stay intact, because there was no
  /// power cut while this process has been running.
  private static let intact = Mutex<[String: FileStatus]>([:])

  /// Records that this process wrote the index at this path.
  static func rememberIntact(_ path: String) {
    var status = stat()
    guard Counted.stat(path, &status) == 0 else { return }
    intact.withLock { $0[path] = FileStatus(status) }
  }

  /// Whether an entry can be copied unchanged into a new index. Its file must not have changed unnoticed, and
  /// it must have no flags except the length of its path.
  func isCopiedWhole(at position: Int) -> Bool {
    let start = start(of: position)
    let modified = (bytes.bigEndianWord(at: start + 8), bytes.bigEndianWord(at: start + 12))
    return layout.isGapless && bytes.bigEndianHalf(at: start + 60) & 0xf000 == 0
      && modified < (writtenSeconds, writtenNanoseconds)
  }

  /// The bytes of consecutive entries and the start of each. The file has no gaps between these entries.
  func entries(at positions: Range<Int>) -> (bytes: Range<Int>, starts: ArraySlice<UInt32>) {
    let last = positions.upperBound - 1
    let end = start(of: last) + entryBytes(at: last).count
    return (start(of: positions.lowerBound)..<end, layout.starts[positions])
  }

  /// An entry's bytes in the file.
  func entryBytes(at position: Int) -> UnsafeRawBufferPointer {
    let start = start(of: position)
    let end = IndexLayout.end(ofEntryAt: start, path: IndexLayout.path(in: bytes, at: start))
    return UnsafeRawBufferPointer(rebasing: bytes[start..<end])
  }

  /// The tree of all entries; nil if the file does not record it.
  public var tree: ObjectID? {
    cachedTrees().flatMap { $0.entryCount == count ? $0.id : nil }
  }

  func cachedTrees() -> IndexTree? {
    layout.trees.flatMap { IndexTree(parsing: UnsafeRawBufferPointer(rebasing: bytes[$0])) }
  }

  /// The position of the entry with this path; nil if there is none.
  public func position(of path: TreePath) -> Int? {
    let position = firstPosition(notBefore: path.bytes)
    return position < count && isPath(at: position, equalTo: path) ? position : nil
  }

  /// The positions of the file with this path, or of all files in the folder with this path.
  public func positions(atOrBelow path: TreePath) -> [Int] {
    if path.isEmpty { return Array(0..<count) }
    var found = position(of: path).map { [$0] } ?? []
    var position = firstPosition(below: path)
    while position < count, isBelow(path, at: position) {
      found.append(position)
      position += 1
    }
    return found
  }

  /// Whether the index has a file below that folder.
  public func containsFolder(_ folder: TreePath) -> Bool {
    let position = firstPosition(below: folder)
    return position < count && isBelow(folder, at: position)
  }

  func firstPosition(below folder: TreePath) -> Int {
    firstPosition(notBefore: folder.bytes + [UInt8(ascii: "/")])
  }

  func isBelow(_ folder: TreePath, at position: Int) -> Bool {
    let path = pathBytes(at: position)
    return path.count > folder.bytes.count && path[folder.bytes.count] == UInt8(ascii: "/")
      && path.starts(with: folder.bytes)
  }

  func isPath(at position: Int, equalTo path: TreePath) -> Bool {
    compare(pathBytes(at: position), path.bytes) == 0
  }

  func firstPosition(notBefore path: [UInt8], from start: Int = 0) -> Int {
    (start..<count).partitionPoint { compare(pathBytes(at: $0), path) < 0 }
  }

  private func compare(_ left: UnsafeRawBufferPointer, _ right: [UInt8]) -> Int {
    right.withUnsafeBytes { right in
      let shared = min(left.count, right.count)
      if shared > 0, let leftAddress = left.baseAddress, let rightAddress = right.baseAddress {
        let order = memcmp(leftAddress, rightAddress, shared)
        if order != 0 { return Int(order) }
      }
      return left.count - right.count
    }
  }
}
