internal import System

/// An index on its way to the disk: its entries as the file holds them (gitformat-index(5), version 2;
/// 3 where a file is left out of the folder).
public struct NewIndex {
  private var bytes = Array("DIRC".utf8) + PackFormat.bigEndian(2) + PackFormat.bigEndian(0)
  private var version: UInt32 = 2
  private var starts: [UInt32] = []
  /// Which entries the old index did not have with this mode and ID.
  private var isNew: [Bool] = []
  private let former: IndexTree?
  private var trees: IndexTree?

  /// - Parameter former: the trees of the index that the entries which are not new come from.
  /// - Parameter count: about how many entries there will be.
  init(former: IndexTree?, count: Int = 0) {
    self.former = former
    bytes.reserveCapacity(count * 100)
  }

  /// An index of so many entries, which come in the order of their paths, where there was none.
  package init(count: Int, _ entry: (Int) throws -> IndexEntry) rethrows {
    self.init(former: nil, count: count)
    for number in 0..<count { append(try entry(number), isNew: true) }
  }

  /// Makes the trees that the entries are, storing those that are new by `store`, and returns the
  /// root's ID. Folders in which nothing changed keep the tree they had.
  public mutating func makeTree(_ store: ([UInt8]) throws -> ObjectID) throws -> ObjectID {
    let root = try bytes.withUnsafeBytes { bytes in
      try tree(0..<starts.count, nameStart: 0, name: [], old: former, bytes, store)
    }
    trees = root
    return root.id ?? .emptyTree
  }

  /// Writes the index file. Git's lock file is not taken: a process killed with it would leave a
  /// notebook that needs a hand. Of two writers the last one wins; what it does not know is looked
  /// at again.
  public consuming func write(to repository: Repository) throws {
    try stage(in: repository).activate()
  }

  /// Writes the index file under a name that does not count yet. It is on the disk when this returns,
  /// or with the objects that the repository is storing together.
  public consuming func stage(in repository: Repository) throws -> StagedIndex {
    let staged = StagedIndex(path: repository.gitFolder + "/index")
    if let pending = repository.pending {
      try pending.add(companion: staged.newPath, finish(), mode: 0o666)
    } else {
      try Disk.create(staged.newPath, finish(), mode: 0o666, overLeftover: true)
    }
    return staged
  }

  /// The whole file.
  mutating func finish() -> [UInt8] {
    bytes.replaceSubrange(
      4..<12, with: PackFormat.bigEndian(version) + PackFormat.bigEndian(UInt32(starts.count)))
    if let trees {
      var content: [UInt8] = []
      trees.append(to: &content)
      bytes += Array("TREE".utf8) + PackFormat.bigEndian(UInt32(content.count)) + content
    }
    bytes += bytes.withUnsafeBytes(PackChecksum.of)
    return bytes
  }
}

/// A whole index file that is to take the place of the present one. After a power cut there is the one
/// or the other: its content is on the disk before it gets its name.
public struct StagedIndex {
  fileprivate let path: String
  fileprivate var newPath: String { path + ".new" }

  /// Gives the file its name.
  public func activate() throws {
    try Disk.rename(newPath, to: path)
    IndexFile.rememberIntact(path)
  }
}

extension NewIndex {
  /// Copies an entry. A smudged one gets the size 0, so that the next look reads its file: it may
  /// have changed in the instant in which the old index was written, which the new time would hide.
  mutating func append(_ file: IndexFile, at position: Int, isSmudged: Bool) {
    begin(isNew: false)
    let start = bytes.count
    bytes += file.entryBytes(at: position)
    if isSmudged { for byte in 36..<40 { bytes[start + byte] = 0 } }
    let flags = start + 60
    // Not git's promise that a file stays as it is: the folder was looked at all the same.
    bytes[flags] &= 0x7f
    if bytes.withUnsafeBytes({ $0.bigEndianHalf(at: flags) }) & IndexLayout.isExtended != 0 {
      version = 3
    }
  }

  /// Copies entries that stay as they are: `IndexFile.isCopiedWhole`.
  mutating func append(_ file: IndexFile, at positions: Range<Int>) {
    if positions.isEmpty { return }
    let old = file.entries(at: positions)
    let shift = UInt32(bytes.count) &- (old.starts.first ?? 0)
    starts += old.starts.lazy.map { $0 &+ shift }
    isNew += repeatElement(false, count: positions.count)
    bytes += old.bytes
  }

  mutating func append(_ entry: IndexEntry, isNew: Bool) {
    begin(isNew: isNew)
    let start = bytes.count
    let status = entry.status
    bytes.appendBigEndian(status.changedSeconds)
    bytes.appendBigEndian(status.changedNanoseconds)
    bytes.appendBigEndian(status.modifiedSeconds)
    bytes.appendBigEndian(status.modifiedNanoseconds)
    bytes.appendBigEndian(status.device)
    bytes.appendBigEndian(status.inode)
    bytes.appendBigEndian(entry.mode.rawValue)
    bytes.appendBigEndian(status.user)
    bytes.appendBigEndian(status.group)
    bytes.appendBigEndian(status.size)
    entry.id.appendBytes(to: &bytes)
    entry.path.bytes.withUnsafeBytes {
      endEntry(start, path: $0, skipsWorktree: entry.skipsWorktree)
    }
  }

  private mutating func begin(isNew: Bool) {
    starts.append(UInt32(bytes.count))
    self.isNew.append(isNew)
  }

  private mutating func endEntry(_ start: Int, path: UnsafeRawBufferPointer, skipsWorktree: Bool) {
    let length = UInt16(min(path.count, 0xfff))
    append(skipsWorktree ? length | IndexLayout.isExtended : length)
    if skipsWorktree {
      version = 3
      append(IndexLayout.skipsWorktree)
    }
    bytes += path
    // One to eight zeros, to a multiple of eight bytes.
    let padding = 8 - (bytes.count - start) % 8
    for _ in 0..<padding { bytes.append(0) }
  }

  private mutating func append(_ half: UInt16) {
    bytes.append(UInt8(half >> 8))
    bytes.append(UInt8(truncatingIfNeeded: half))
  }
}

// The trees that the entries are.
extension NewIndex {
  private func path(_ position: Int, _ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: bytes[IndexLayout.path(in: bytes, at: Int(starts[position]))])
  }

  private func tree(
    _ range: Range<Int>, nameStart: Int, name: [UInt8], old: IndexTree?,
    _ bytes: UnsafeRawBufferPointer, _ store: ([UInt8]) throws -> ObjectID
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
      let path = path(position, bytes)
      guard let slash = path[nameStart...].firstIndex(of: UInt8(ascii: "/")) else {
        let start = Int(starts[position])
        let mode = FileMode(rawValue: bytes.bigEndianWord(at: start + 24))
        TreeBytes.append(mode: mode, name: path[nameStart...], to: &content)
        content += bytes[(start + 40)..<(start + 60)]
        position += 1
        continue
      }
      let end = end(ofFolder: path[...slash], from: position, to: range.upperBound, bytes)
      let folder = Array(path[nameStart..<slash])
      let subtree = try tree(
        position..<end, nameStart: slash + 1, name: folder,
        old: old?.subtrees.first { $0.name == folder }, bytes, store)
      TreeBytes.append(mode: .tree, name: path[nameStart..<slash], to: &content)
      subtree.id?.appendBytes(to: &content)
      subtrees.append(subtree)
      position = end
    }
    return IndexTree(
      name: name, entryCount: range.count, id: try store(content), subtrees: subtrees)
  }

  /// Where the entries end whose paths begin with `prefix`; they stand together.
  private func end(
    ofFolder prefix: Slice<UnsafeRawBufferPointer>, from start: Int, to limit: Int,
    _ bytes: UnsafeRawBufferPointer
  ) -> Int {
    (start + 1..<limit).partitionPoint { path($0, bytes).starts(with: prefix) }
  }
}
