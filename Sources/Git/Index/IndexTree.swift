internal import Glibc

/// The trees made of an index's entries: the index's cache-tree extension (gitformat-index(5)).
struct IndexTree {
  var name: [UInt8]
  /// The number of entries below the folder; negative if the folder's tree is unknown.
  var entryCount: Int
  var id: ObjectID?
  var subtrees: [IndexTree]

  func append(to bytes: inout [UInt8]) {
    bytes += name + [0] + Array("\(id == nil ? -1 : entryCount) \(subtrees.count)\n".utf8)
    id?.appendBytes(to: &bytes)
    for subtree in subtrees { subtree.append(to: &bytes) }
  }
}

extension IndexTree {
  /// Reads the extension; nil if it is malformed.
  init?(parsing bytes: UnsafeRawBufferPointer) {
    var position = 0
    self.init(bytes, &position, depth: 0)
  }

  // More levels than any path can have (PATH_MAX).
  private static let deepest = 2_048

  private init?(_ bytes: UnsafeRawBufferPointer, _ position: inout Int, depth: Int) {
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
    for _ in 0..<subtreeCount {
      guard let subtree = IndexTree(bytes, &position, depth: depth + 1) else { return nil }
      subtrees.append(subtree)
    }
  }
}
