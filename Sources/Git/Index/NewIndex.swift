internal import System

/// An index that is not written yet: its entries in the form of the file (gitformat-index(5), version 2, or 3
/// if an entry has the skip-worktree bit). Unchanged entries are copied from the old index only when the file
/// is written. The trees are made before that.
public struct NewIndex {
  /// The bytes of entries that are not copied from the old index, after space for the file's header.
  private var own = [UInt8](repeating: 0, count: headerSize)
  private static let headerSize = 12
  /// The pieces that contain the entries, in order.
  private var chunks: [Chunk] = []
  private var version: UInt32 = 2
  /// The start of each entry: in `own`, or, with the highest bit, in the old index.
  private var places: [UInt32] = []
  private static let isOld: UInt32 = 1 << 31
  /// For each entry, whether the old index lacked it with this mode and ID.
  private var isNew: [Bool] = []
  private let old: IndexFile?
  private let former: IndexTree?
  private var trees: IndexTree?

  /// A range of the bytes of `own`, or of the old index.
  private struct Chunk {
    let isOld: Bool
    var bytes: Range<Int>
  }

  /// - Parameter old: the index from which entries are copied.
  /// - Parameter count: how many entries may be made here.
  init(of old: IndexFile? = nil, count: Int = 0) {
    self.old = old
    former = old?.cachedTrees()
    own.reserveCapacity(count * 100)
  }

  /// A first index with `count` entries, in the order of their paths.
  package init(count: Int, _ entry: (Int) throws -> IndexEntry) rethrows {
    self.init(count: count)
    for number in 0..<count { append(try entry(number), isNew: true) }
  }

  /// Makes the trees of the entries, stores the new ones with `store`, and returns the root's ID.
  /// Folders without a change keep their tree.
  public mutating func makeTree(_ store: ([UInt8]) throws -> ObjectID) throws -> ObjectID {
    let root = try own.withUnsafeBytes { own in
      try tree(0..<places.count, nameStart: 0, name: [], old: former, own, store)
    }
    trees = root
    return root.id ?? .emptyTree
  }

  /// Writes the index file without taking git's lock file: a process killed with it would leave a notebook that a
  /// person must repair. If two programs write, the last one wins; the next scan of the folder finds the changes that
  /// this index lacks.
  public consuming func write(to repository: Repository) throws {
    try (consume self).stage(in: repository).activate()
  }

  /// Writes the index file under a temporary name. When this returns, the file is on the disk. Within
  /// `withBatchedWrites` that is so only at its end, as for the objects.
  public consuming func stage(in repository: Repository) throws -> StagedIndex {
    let staged = StagedIndex(path: repository.gitFolder + "/index")
    let content = try (consume self).finish()
    if let pending = repository.pending {
      try pending.add(companion: staged.newPath, content, mode: 0o666)
    } else {
      try Disk.create(staged.newPath, content, mode: 0o666, overLeftover: true)
    }
    return staged
  }

  /// The whole file.
  consuming func finish() throws -> [UInt8] {
    var bytes = takeEntries()
    let header =
      Array("DIRC".utf8) + PackFormat.bigEndian(version)
      + PackFormat.bigEndian(UInt32(places.count))
    bytes.replaceSubrange(..<Self.headerSize, with: header)
    if let trees {
      var content: [UInt8] = []
      trees.append(to: &content)
      bytes += Array("TREE".utf8) + PackFormat.bigEndian(UInt32(content.count)) + content
    }
    bytes += try bytes.withUnsafeBytes(SHA1.of)
    return bytes
  }

  /// All entries in order, after space for the file's header. Does not copy them if all of them are in `own`.
  private mutating func takeEntries() -> [UInt8] {
    guard let old, chunks.contains(where: \.isOld) else {
      let entries = own
      own = []
      return entries
    }
    var bytes = [UInt8](repeating: 0, count: Self.headerSize)
    bytes.reserveCapacity(chunks.reduce(1 << 12) { $0 + $1.bytes.count })
    for chunk in chunks {
      if chunk.isOld {
        bytes += UnsafeRawBufferPointer(rebasing: old.bytes[chunk.bytes])
      } else {
        bytes += own[chunk.bytes]
      }
    }
    return bytes
  }
}

/// A complete index file that will replace the present one. Its content is on the disk before it
/// gets its name, so a power cut leaves the old index or the new one.
public struct StagedIndex {
  fileprivate let path: String
  fileprivate var newPath: String { path + ".new" }

  /// Renames the file to its final name.
  public func activate() throws {
    try Disk.rename(newPath, to: path)
    IndexFile.rememberIntact(path)
  }
}

extension NewIndex {
  /// Copies an entry. A smudged entry gets the size 0: its file may have changed at the moment when the old index was
  /// written, and a comparison with the new index's time would miss that. With the size 0, the next comparison reads
  /// the file.
  mutating func append(_ file: IndexFile, at position: Int, isSmudged: Bool) {
    let start = begin(isNew: false)
    own += file.entryBytes(at: position)
    if isSmudged { for byte in 36..<40 { own[start + byte] = 0 } }
    let flags = start + 60
    // Clears git's assume-valid bit: notes has checked the file anyway.
    own[flags] &= 0x7f
    if own.withUnsafeBytes({ $0.bigEndianHalf(at: flags) }) & IndexLayout.isExtended != 0 {
      version = 3
    }
    end(from: start)
  }

  /// Copies entries of the old index unchanged. Call it only if `IndexFile.isCopiedWhole` is true.
  mutating func append(oldAt positions: Range<Int>) {
    guard let old, !positions.isEmpty else { return }
    let entries = old.entries(at: positions)
    chunks.append(Chunk(isOld: true, bytes: entries.bytes))
    places += entries.starts.lazy.map { $0 | Self.isOld }
    isNew += repeatElement(false, count: positions.count)
  }

  mutating func append(_ entry: IndexEntry, isNew: Bool) {
    let start = begin(isNew: isNew)
    let status = entry.status
    own.appendBigEndian(status.changedSeconds)
    own.appendBigEndian(status.changedNanoseconds)
    own.appendBigEndian(status.modifiedSeconds)
    own.appendBigEndian(status.modifiedNanoseconds)
    own.appendBigEndian(status.device)
    own.appendBigEndian(status.inode)
    own.appendBigEndian(entry.mode.rawValue)
    own.appendBigEndian(status.user)
    own.appendBigEndian(status.group)
    own.appendBigEndian(status.size)
    entry.id.appendBytes(to: &own)
    let path = entry.path.bytes
    let length = UInt16(min(path.count, 0xfff))
    append(entry.skipsWorktree ? length | IndexLayout.isExtended : length)
    if entry.skipsWorktree {
      version = 3
      append(IndexLayout.skipsWorktree)
    }
    own += path
    // One to eight zeros, to a multiple of eight bytes.
    let padding = 8 - (own.count - start) % 8
    for _ in 0..<padding { own.append(0) }
    end(from: start)
  }

  /// Begins a new entry, and returns its offset.
  private mutating func begin(isNew: Bool) -> Int {
    places.append(UInt32(own.count))
    self.isNew.append(isNew)
    return own.count
  }

  /// Ends a new entry.
  private mutating func end(from start: Int) {
    if let last = chunks.last, !last.isOld {
      chunks[chunks.count - 1].bytes = last.bytes.lowerBound..<own.count
    } else {
      chunks.append(Chunk(isOld: false, bytes: start..<own.count))
    }
  }

  private mutating func append(_ half: UInt16) {
    own.append(UInt8(half >> 8))
    own.append(UInt8(truncatingIfNeeded: half))
  }
}

// The trees of the entries.
extension NewIndex {
  /// The buffer with an entry, and the entry's offset in it.
  private func place(
    _ position: Int, _ own: UnsafeRawBufferPointer
  ) -> (bytes: UnsafeRawBufferPointer, start: Int) {
    let place = places[position]
    guard place & Self.isOld != 0, let old else { return (own, Int(place)) }
    return (old.bytes, Int(place & ~Self.isOld))
  }

  private func path(_ position: Int, _ own: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    let (bytes, start) = place(position, own)
    return UnsafeRawBufferPointer(rebasing: bytes[IndexLayout.path(in: bytes, at: start)])
  }

  private func tree(
    _ range: Range<Int>, nameStart: Int, name: [UInt8], old: IndexTree?,
    _ own: UnsafeRawBufferPointer, _ store: ([UInt8]) throws -> ObjectID
  ) throws -> IndexTree {
    if let old, let id = old.id, old.entryCount == range.count,
      !range.contains(where: { isNew[$0] })
    {
      return IndexTree(name: name, entryCount: range.count, id: id, subtrees: old.subtrees)
    }
    var content: [UInt8] = []
    content.reserveCapacity(range.count * 48)
    var subtrees: [IndexTree] = []
    var position = range.lowerBound
    while position < range.upperBound {
      let path = path(position, own)
      guard let slash = path[nameStart...].firstIndex(of: UInt8(ascii: "/")) else {
        let (bytes, start) = place(position, own)
        let mode = FileMode(rawValue: bytes.bigEndianWord(at: start + 24))
        TreeBytes.append(mode: mode, name: path[nameStart...], to: &content)
        content += bytes[(start + 40)..<(start + 60)]
        position += 1
        continue
      }
      let end = end(ofFolder: path[...slash], from: position, to: range.upperBound, own)
      let folder = Array(path[nameStart..<slash])
      let subtree = try tree(
        position..<end, nameStart: slash + 1, name: folder,
        old: old?.subtrees.first { $0.name == folder }, own, store)
      TreeBytes.append(mode: .tree, name: path[nameStart..<slash], to: &content)
      subtree.id?.appendBytes(to: &content)
      subtrees.append(subtree)
      position = end
    }
    return IndexTree(
      name: name, entryCount: range.count, id: try store(content), subtrees: subtrees)
  }

  /// The end of the consecutive entries whose paths begin with `prefix`.
  private func end(
    ofFolder prefix: Slice<UnsafeRawBufferPointer>, from start: Int, to limit: Int,
    _ own: UnsafeRawBufferPointer
  ) -> Int {
    (start + 1..<limit).partitionPoint { path($0, own).starts(with: prefix) }
  }
}
