internal import Glibc

/// The trees that the entries of an index make up: the index's cache-tree extension
/// (gitformat-index(5)).
struct IndexTree {
  var name: [UInt8]
  /// How many entries are below it; negative when the tree is not known.
  var entryCount: Int
  var id: ObjectID?
  var subtrees: [IndexTree]

  /// The content of the extension.
  var serialized: [UInt8] {
    var bytes: [UInt8] = []
    append(to: &bytes)
    return bytes
  }

  private func append(to bytes: inout [UInt8]) {
    bytes += name + [0] + Array("\(id == nil ? -1 : entryCount) \(subtrees.count)\n".utf8)
    id?.appendBytes(to: &bytes)
    for subtree in subtrees { subtree.append(to: &bytes) }
  }

  /// Reads the extension; nil when it is not well formed.
  init?(parsing bytes: UnsafeRawBufferPointer) {
    var position = 0
    self.init(bytes, &position, depth: 0)
  }

  /// Reads the root alone, as if it had no folders.
  init?(rootIn bytes: UnsafeRawBufferPointer) {
    var position = 0
    self.init(bytes, &position, depth: 0, isWhole: false)
  }

  // Deeper than any path may be (PATH_MAX).
  private static let deepest = 2_048

  private init?(
    _ bytes: UnsafeRawBufferPointer, _ position: inout Int, depth: Int, isWhole: Bool = true
  ) {
    guard depth < Self.deepest, let nul = bytes[position...].firstIndex(of: 0),
      let space = bytes[nul...].firstIndex(of: UInt8(ascii: " ")),
      let line = bytes[space...].firstIndex(of: UInt8(ascii: "\n")),
      let count = Int(String(decoding: bytes[(nul + 1)..<space], as: UTF8.self)),
      let subtreeCount = Int(String(decoding: bytes[(space + 1)..<line], as: UTF8.self)),
      subtreeCount >= 0
    else { return nil }
    name = Array(bytes[position..<nul])
    entryCount = count
    position = line + 1
    if count >= 0 {
      guard position + ObjectID.byteCount <= bytes.count else { return nil }
      id = ObjectID(bytes: bytes[position..<(position + ObjectID.byteCount)])
      position += ObjectID.byteCount
    }
    subtrees = []
    if !isWhole { return }
    for _ in 0..<subtreeCount {
      guard let subtree = IndexTree(bytes, &position, depth: depth + 1) else { return nil }
      subtrees.append(subtree)
    }
  }

  init(name: [UInt8], entryCount: Int, id: ObjectID, subtrees: [IndexTree]) {
    self.name = name
    self.entryCount = entryCount
    self.id = id
    self.subtrees = subtrees
  }
}

/// Makes trees of an index's entries.
struct IndexTreeBuilder {
  let image: IndexImage
  /// Stores a tree's content.
  let store: ([UInt8]) throws -> ObjectID

  /// The tree of all entries.
  ///
  /// - Parameter old: the trees of the index that the entries which are not new come from.
  func root(old: IndexTree?) throws -> IndexTree {
    try image.bytes.withUnsafeBytes { bytes in
      try tree(0..<image.count, nameStart: 0, name: [], old: old, bytes)
    }
  }

  private func path(_ position: Int, _ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(
      rebasing: bytes[IndexLayout.path(in: bytes, at: Int(image.starts[position]))])
  }

  /// The tree of a folder.
  ///
  /// - Parameters:
  ///   - range: its entries.
  ///   - nameStart: how long the folder's path is, with the slash.
  private func tree(
    _ range: Range<Int>, nameStart: Int, name: [UInt8], old: IndexTree?,
    _ bytes: UnsafeRawBufferPointer
  ) throws -> IndexTree {
    if let old, let id = old.id, old.entryCount == range.count,
      !range.contains(where: { image.isNew[$0] })
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
        let start = Int(image.starts[position])
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
        old: old?.subtrees.first { $0.name == folder }, bytes)
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
    var low = start + 1
    var high = limit
    while low < high {
      let middle = (low + high) / 2
      if path(middle, bytes).starts(with: prefix) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
