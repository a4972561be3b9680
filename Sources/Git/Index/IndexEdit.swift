internal import Glibc

/// A new index made from an old one: entries that stay are copied as they are, and folders in which
/// nothing changed keep the tree they had.
public struct IndexEdit {
  private let old: IndexFile
  private var isGone: [Bool]
  private var added: [IndexEntry] = []
  private var checkedParent: TreePath?
  private var result: Result?

  /// What the changes come to.
  private struct Result {
    var image: IndexImage
    var trees: IndexTree
  }

  /// Begins with what `file` holds, which must be intact.
  public init(of file: IndexFile) {
    old = file
    isGone = [Bool](repeating: false, count: file.count)
  }

  /// Adds an entry, or replaces the one at its path. Where a file and a folder change places, the
  /// entries in the way go.
  public mutating func set(_ entry: IndexEntry) {
    result = nil
    if let position = old.position(of: entry.path) {
      isGone[position] = true
    } else {
      var below = old.firstPosition(below: entry.path)
      while below < old.count, old.isBelow(entry.path, at: below) {
        isGone[below] = true
        below += 1
      }
      if entry.path.parent != checkedParent {
        checkedParent = entry.path.parent
        var folder = entry.path.parent
        while let path = folder {
          if let position = old.position(of: path) { isGone[position] = true }
          folder = path.parent
        }
      }
    }
    added.append(entry)
  }

  /// Removes the entry that the old index has at `path`, if there is one.
  public mutating func remove(_ path: TreePath) {
    result = nil
    if let position = old.position(of: path) { isGone[position] = true }
  }

  /// Makes the trees that the entries are, storing those that are new by `store`, and returns the
  /// root's ID.
  public mutating func makeTree(_ store: ([UInt8]) throws -> ObjectID) throws -> ObjectID {
    let cached = old.cachedTrees()
    if added.isEmpty, !isGone.contains(true), let id = cached?.id,
      cached?.entryCount == old.count
    {
      return id
    }
    let image = image()
    let trees = try withoutActuallyEscaping(store) { store in
      try IndexTreeBuilder(image: image, store: store).root(old: cached)
    }
    result = Result(image: image, trees: trees)
    return trees.id ?? .emptyTree
  }

  /// Writes the index file, replacing whatever is there.
  ///
  /// Git's lock file is not taken: a process killed with it would leave a notebook that needs a hand.
  /// The index is no more than a memory of the last look at the folder; of two writers at once the
  /// last one wins, and what it does not know is looked at again.
  public func write(to repository: Repository) throws {
    let image = result?.image ?? image()
    let bytes = image.file(trees: result?.trees)
    let path = repository.gitFolder + "/index"
    let temporary = path + ".notes"
    let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else {
      throw GitError.system(call: "open", path: temporary, errno: errno)
    }
    defer { close(descriptor) }
    try FileOutput.write(bytes, to: descriptor, path: temporary)
    try QuarantineFolder.move(temporary, to: path)
  }

  /// Old and new entries together, by path.
  private func image() -> IndexImage {
    var image = IndexImage(count: old.count + added.count, bytes: old.size)
    var next = 0
    func copy(_ position: Int) {
      guard !isGone[position] else { return }
      image.append(old, at: position, isSmudged: old.isRacy(old.status(at: position)))
    }
    for entry in isSorted ? added : added.sorted(by: { $0.path < $1.path }) {
      while next < old.count, old.isPath(at: next, before: entry.path) {
        copy(next)
        next += 1
      }
      let known = next < old.count && old.isPath(at: next, equalTo: entry.path) ? next : nil
      let isSame = known.map { old.id(at: $0) == entry.id && old.mode(at: $0) == entry.mode }
      image.append(entry, isNew: isSame != true)
    }
    while next < old.count {
      copy(next)
      next += 1
    }
    return image
  }

  private var isSorted: Bool {
    zip(added, added.dropFirst()).allSatisfy { $0.path < $1.path }
  }
}

/// The entries of an index as its file holds them (gitformat-index(5), version 2).
struct IndexImage {
  private(set) var bytes: [UInt8] = []
  private(set) var starts: [UInt32] = []
  /// Which entries the old index did not have with this mode and ID.
  private(set) var isNew: [Bool] = []

  private static let statusSize = 40
  private static let fixedSize = 62

  init(count: Int, bytes size: Int) {
    starts.reserveCapacity(count)
    isNew.reserveCapacity(count)
    bytes.reserveCapacity(size + 128)
    bytes += Array("DIRC".utf8) + PackFormat.bigEndian(2) + PackFormat.bigEndian(0)
  }

  var count: Int { starts.count }

  /// Copies an entry. A smudged one gets the size 0, so that the next look reads its file: it may
  /// have changed in the instant in which the old index was written, which the new index's time
  /// would hide.
  mutating func append(_ file: IndexFile, at position: Int, isSmudged: Bool) {
    begin(isNew: false)
    let start = bytes.count
    bytes += file.fixedBytes(at: position)
    if isSmudged { for byte in 36..<40 { bytes[start + byte] = 0 } }
    end(start, path: file.pathBytes(at: position))
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
    entry.path.bytes.withUnsafeBytes { end(start, path: $0) }
  }

  private mutating func begin(isNew: Bool) {
    starts.append(UInt32(bytes.count))
    self.isNew.append(isNew)
  }

  private mutating func end(_ start: Int, path: UnsafeRawBufferPointer) {
    let length = UInt16(min(path.count, 0xfff))
    bytes.append(UInt8(length >> 8))
    bytes.append(UInt8(truncatingIfNeeded: length))
    bytes += path
    // One to eight zeros, to a multiple of eight bytes.
    let padding = 8 - (bytes.count - start) % 8
    for _ in 0..<padding { bytes.append(0) }
  }

  /// The whole file.
  func file(trees: IndexTree?) -> [UInt8] {
    var file = bytes
    file.replaceSubrange(8..<12, with: PackFormat.bigEndian(UInt32(count)))
    if let trees {
      let extensionBytes = trees.serialized
      file += Array("TREE".utf8)
      file.appendBigEndian(UInt32(extensionBytes.count))
      file += extensionBytes
    }
    var checksum = PackChecksum()
    checksum.update(file)
    return file + checksum.finish()
  }
}
