internal import Glibc

/// An entry of a tree object, as byte offsets in its content. So trees of thousands of entries can be compared,
/// checked and rewritten without a value for each entry.
struct TreeEntryBytes {
  let start: Int
  let nameStart: Int
  let nameEnd: Int
  let mode: FileMode
  let id: ObjectID

  /// The number of the mode's digits.
  var modeLength: Int { nameStart - start - 1 }
  var end: Int { nameEnd + 1 + ObjectID.byteCount }
  var isTree: Bool { mode == .tree }

  /// The entry that begins at `position`; nil if it is incomplete.
  init?(_ tree: UnsafeRawBufferPointer, at position: Int) {
    var index = position
    var mode: UInt32 = 0
    while index < tree.count, tree[index] != UInt8(ascii: " ") {
      guard (UInt8(ascii: "0")...UInt8(ascii: "7")).contains(tree[index]), index - position < 7
      else { return nil }
      mode = mode << 3 | UInt32(tree[index] - UInt8(ascii: "0"))
      index += 1
    }
    guard index > position, index + 1 < tree.count, let base = tree.baseAddress,
      let nul = memchr(base + index + 1, 0, tree.count - index - 1)
    else { return nil }
    start = position
    nameStart = index + 1
    nameEnd = UnsafeRawPointer(nul) - base
    self.mode = FileMode(rawValue: mode)
    guard let id = ObjectID(in: tree.bytes, at: nameEnd + 1) else { return nil }
    self.id = id
  }

  func name(in tree: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: tree[nameStart..<nameEnd])
  }

  func value(in tree: [UInt8]) -> TreeEntry {
    TreeEntry(name: TreePath(bytes: tree[nameStart..<nameEnd]), mode: mode, id: id)
  }

  /// How this entry's name compares with another in git's order: negative, 0 or positive.
  func compare(
    in tree: UnsafeRawBufferPointer, with name: UnsafeRawBufferPointer, isTree: Bool
  ) -> Int {
    TreeBytes.order(of: (self.name(in: tree), self.isTree), with: (name, isTree))
  }
}

enum TreeBytes {
  /// git's order of two names: negative, 0 or positive. The names of folders count as if they ended in `/`.
  static func order(
    of left: (name: UnsafeRawBufferPointer, isTree: Bool),
    with right: (name: UnsafeRawBufferPointer, isTree: Bool)
  ) -> Int {
    let shared = min(left.name.count, right.name.count)
    if shared > 0, let first = left.name.baseAddress, let second = right.name.baseAddress {
      let order = memcmp(first, second, shared)
      if order != 0 { return Int(order) }
    }
    func next(_ name: UnsafeRawBufferPointer, _ isTree: Bool) -> Int {
      name.count > shared ? Int(name[shared]) : isTree ? Int(UInt8(ascii: "/")) : 0
    }
    let order = next(left.name, left.isTree) - next(right.name, right.isTree)
    return order != 0 ? order : left.name.count - right.name.count
  }

  static func entries(_ tree: [UInt8]) -> [TreeEntryBytes]? {
    tree.withUnsafeBytes { tree in
      var found: [TreeEntryBytes] = []
      var position = 0
      while position < tree.count {
        guard let entry = TreeEntryBytes(tree, at: position) else { return nil }
        found.append(entry)
        position = entry.end
      }
      return found
    }
  }

  static func entry(_ name: TreePath, in content: [UInt8]) -> TreeEntry? {
    content.withUnsafeBytes { tree in
      var position = 0
      while let entry = TreeEntryBytes(tree, at: position) {
        if entry.name(in: tree).elementsEqual(name.bytes) { return entry.value(in: content) }
        position = entry.end
      }
      return nil
    }
  }

  /// Walks two sorted trees. Calls `same` with the positions and the length of entries that are equal byte for byte.
  /// Calls `changed` with every other entry and its counterpart, if there is one. Returns false if it finds a malformed
  /// tree. It does not read the end that both trees share.
  static func compare(
    _ old: [UInt8], _ new: [UInt8],
    same: (_ old: Int, _ new: Int, _ count: Int) -> Void = { _, _, _ in },
    changed: (TreeEntryBytes?, TreeEntryBytes?) throws -> Void
  ) rethrows -> Bool {
    try old.withUnsafeBytes { old in
      try new.withUnsafeBytes { new in
        var (oldPosition, newPosition) = (0, 0)
        while oldPosition < old.count || newPosition < new.count {
          let equal = sharedEntries(old[oldPosition...], new[newPosition...])
          if equal > 0 {
            same(oldPosition, newPosition, equal)
            (oldPosition, newPosition) = (oldPosition + equal, newPosition + equal)
            continue
          }
          let before = TreeEntryBytes(old, at: oldPosition)
          let after = TreeEntryBytes(new, at: newPosition)
          if before == nil && oldPosition < old.count || after == nil && newPosition < new.count {
            return false
          }
          var order = before == nil ? 1 : -1
          if let before, let after {
            order = before.compare(in: old, with: after.name(in: new), isTree: after.isTree)
          }
          try changed(order <= 0 ? before : nil, order >= 0 ? after : nil)
          if order <= 0, let before { oldPosition = before.end }
          if order >= 0, let after { newPosition = after.end }
        }
        return true
      }
    }
  }

  /// The number of bytes of the whole entries that two trees have in common from these positions on. In a large folder
  /// most entries are equal, so their bytes are compared many at a time.
  private static func sharedEntries(
    _ old: Slice<UnsafeRawBufferPointer>, _ new: Slice<UnsafeRawBufferPointer>
  ) -> Int {
    let (old, new) = (UnsafeRawBufferPointer(rebasing: old), UnsafeRawBufferPointer(rebasing: new))
    let shared = sharedBytes(old, new)
    if shared == old.count, shared == new.count { return shared }
    var end = 0
    while let next = entryEnd(in: old, at: end), next <= shared { end = next }
    return end
  }

  private static func sharedBytes(
    _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer
  ) -> Int {
    let count = min(left.count, right.count)
    guard let left = left.baseAddress, let right = right.baseAddress else { return 0 }
    let block = 512
    var position = 0
    while position + block <= count, memcmp(left + position, right + position, block) == 0 {
      position += block
    }
    while position < count,
      left.load(fromByteOffset: position, as: UInt8.self)
        == right.load(fromByteOffset: position, as: UInt8.self)
    { position += 1 }
    return position
  }

  /// The end of the entry at a position; nil if it is incomplete.
  private static func entryEnd(in tree: UnsafeRawBufferPointer, at position: Int) -> Int? {
    let nameStart = position + 7
    // Almost every entry is a file, whose mode has six digits. Its name is searched eight bytes at a time.
    if nameStart + 8 <= tree.count, tree[position] == UInt8(ascii: "1"),
      tree[nameStart - 1] == UInt8(ascii: " ")
    {
      var word = nameStart
      while word + 8 <= tree.count {
        let bytes = UInt64(littleEndian: tree.loadUnaligned(fromByteOffset: word, as: UInt64.self))
        let zeros = (bytes &- 0x0101_0101_0101_0101) & ~bytes & 0x8080_8080_8080_8080
        if zeros != 0 {
          let end = word + zeros.trailingZeroBitCount / 8 + 1 + ObjectID.byteCount
          return end <= tree.count ? end : nil
        }
        word += 8
      }
    }
    return TreeEntryBytes(tree, at: position)?.end
  }
}

extension TreeBytes {
  static func append(mode: FileMode, name: some Sequence<UInt8>, to content: inout [UInt8]) {
    switch mode {
    case .regular: content += "100644 ".utf8
    case .tree: content += "40000 ".utf8
    default: content += "\(String(mode.rawValue, radix: 8)) ".utf8
    }
    content += name
    content.append(0)
  }

  static func append(_ entry: TreeEntry, to content: inout [UInt8]) {
    append(mode: entry.mode, name: entry.name.bytes, to: &content)
    entry.id.appendBytes(to: &content)
  }

  /// The new entry of a name, as a file or as a folder; nil if the name is removed.
  struct Edit {
    let name: TreePath
    let isTree: Bool
    var entry: TreeEntry?
  }

  static func applying(_ edits: [Edit], to tree: [UInt8]) -> [UInt8]? {
    let edits = edits.sorted { Tree.precedes(($0.name, $0.isTree), ($1.name, $1.isTree)) }
    var result: [UInt8] = []
    result.reserveCapacity(tree.count + edits.count * 64)
    var (next, kept, position) = (0, 0, 0)
    while next < edits.count, position < tree.count {
      guard let entry = tree.withUnsafeBytes({ TreeEntryBytes($0, at: position) }) else {
        return nil
      }
      position = entry.end
      while next < edits.count {
        let order = tree.withUnsafeBytes { tree in
          edits[next].name.bytes.withUnsafeBytes {
            entry.compare(in: tree, with: $0, isTree: edits[next].isTree)
          }
        }
        if order < 0 { break }
        if kept < entry.start { result += tree[kept..<entry.start] }
        kept = order == 0 ? entry.end : max(kept, entry.start)
        if let entry = edits[next].entry { append(entry, to: &result) }
        next += 1
      }
    }
    result += tree[kept...]
    for edit in edits[next...] { if let entry = edit.entry { append(entry, to: &result) } }
    return result
  }
}
