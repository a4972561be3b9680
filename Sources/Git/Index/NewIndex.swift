internal import Glibc
internal import System

/// An index on its way to the disk.
public struct NewIndex {
  private var image: IndexImage
  private let former: IndexTree?
  private var trees: IndexTree?

  /// - Parameter former: the trees of the index it was made of.
  init(image: IndexImage, former: IndexTree?) {
    self.image = image
    self.former = former
  }

  /// Makes the trees that the entries are, storing those that are new by `store`, and returns the
  /// root's ID. Folders in which nothing changed keep the tree they had.
  public mutating func makeTree(_ store: ([UInt8]) throws -> ObjectID) throws -> ObjectID {
    let trees = try withoutActuallyEscaping(store) { store in
      try IndexTreeBuilder(image: image, store: store).root(old: former)
    }
    self.trees = trees
    return trees.id ?? .emptyTree
  }

  /// Writes the index file, replacing whatever is there.
  ///
  /// Git's lock file is not taken: a process killed with it would leave a notebook that needs a hand.
  /// The index is no more than a memory of the last look at the folder; of two writers at once the
  /// last one wins, and what it does not know is looked at again.
  public consuming func write(to repository: Repository) throws {
    let path = repository.gitFolder + "/index"
    let temporary = path + ".notes"
    let descriptor = try Disk.open(temporary, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o666)
    defer { close(descriptor) }
    let end = image.finish(trees: trees)
    try Disk.write(image.bytes, to: descriptor, path: temporary)
    try Disk.write(end, to: descriptor, path: temporary)
    try Disk.rename(temporary, to: path)
  }
}

/// The entries of an index as its file holds them (gitformat-index(5), version 2; 3 where a file is left
/// out of the folder).
struct IndexImage {
  private(set) var bytes: [UInt8] = []
  private var version: UInt32 = 2
  private(set) var starts: [UInt32] = []
  /// Which entries the old index did not have with this mode and ID.
  private(set) var isNew: [Bool] = []

  /// - Parameters:
  ///   - count: about how many entries there will be.
  ///   - size: about how many bytes they will take.
  init(count: Int, bytes size: Int) {
    starts.reserveCapacity(count)
    isNew.reserveCapacity(count)
    bytes.reserveCapacity(size + 128)
    bytes += Array("DIRC".utf8) + PackFormat.bigEndian(2) + PackFormat.bigEndian(0)
  }

  var count: Int { starts.count }

  /// The bytes that an entry takes at most: 64, its path, and one to eight zeros.
  static func greatestSize(ofPath path: TreePath) -> Int { 72 + path.bytes.count }

  /// Copies an entry. A smudged one gets the size 0, so that the next look reads its file: it may
  /// have changed in the instant in which the old index was written, which the new index's time
  /// would hide.
  mutating func append(_ file: IndexFile, at position: Int, isSmudged: Bool) {
    begin(isNew: false)
    let start = bytes.count
    bytes += file.fixedBytes(at: position)
    if isSmudged { for byte in 36..<40 { bytes[start + byte] = 0 } }
    endEntry(
      start, path: file.pathBytes(at: position),
      skipsWorktree: file.skipsWorktree(at: position))
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

  /// What follows the entries: the trees, and the checksum over all.
  mutating func finish(trees: IndexTree?) -> [UInt8] {
    bytes.replaceSubrange(
      4..<12, with: PackFormat.bigEndian(version) + PackFormat.bigEndian(UInt32(count)))
    var end: [UInt8] = []
    if let trees {
      let extensionBytes = trees.serialized
      end += Array("TREE".utf8)
      end.appendBigEndian(UInt32(extensionBytes.count))
      end += extensionBytes
    }
    var checksum = PackChecksum()
    checksum.update(bytes)
    checksum.update(end)
    return end + checksum.finish()
  }
}
