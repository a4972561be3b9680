internal import Glibc

/// An entry of a tree object, as byte offsets in its content: trees of thousands of entries are
/// compared, checked and rewritten without making a value for each entry.
struct TreeEntryBytes {
  let start: Int
  let nameStart: Int
  let nameEnd: Int
  let mode: FileMode
  let id: ObjectID

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

  /// Walks two sorted trees. Calls `same` with entries that are equal byte for byte, and `changed`
  /// with every other entry and its counterpart, if there is one. Returns false if one of the trees
  /// is malformed.
  static func compare(
    _ old: [UInt8], _ new: [UInt8], same: (TreeEntryBytes, TreeEntryBytes) -> Void = { _, _ in },
    changed: (TreeEntryBytes?, TreeEntryBytes?) throws -> Void
  ) rethrows -> Bool {
    try old.withUnsafeBytes { old in
      try new.withUnsafeBytes { new in
        var (oldPosition, newPosition) = (0, 0)
        while oldPosition < old.count || newPosition < new.count {
          let before = TreeEntryBytes(old, at: oldPosition)
          let after = TreeEntryBytes(new, at: newPosition)
          if before == nil && oldPosition < old.count || after == nil && newPosition < new.count {
            return false
          }
          var order = before == nil ? 1 : -1
          if let before, let after {
            if areAlike(before, old, after, new) {
              same(before, after)
              (oldPosition, newPosition) = (before.end, after.end)
              continue
            }
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

  private static func areAlike(
    _ first: TreeEntryBytes, _ left: UnsafeRawBufferPointer, _ second: TreeEntryBytes,
    _ right: UnsafeRawBufferPointer
  ) -> Bool {
    let length = first.end - first.start
    guard length == second.end - second.start, let left = left.baseAddress,
      let right = right.baseAddress
    else { return false }
    return memcmp(left + first.start, right + second.start, length) == 0
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

  /// The entry to have under a name, as a file or as a folder; or none.
  struct Edit {
    let name: TreePath
    let isTree: Bool
    var entry: TreeEntry?
  }

  static func applying(_ edits: [Edit], to tree: [UInt8]) -> [UInt8]? {
    let edits = edits.sorted { Tree.precedes(($0.name, $0.isTree), ($1.name, $1.isTree)) }
    guard let entries = entries(tree) else { return nil }
    var result: [UInt8] = []
    result.reserveCapacity(tree.count + edits.count * 64)
    var (next, kept) = (0, 0)
    for entry in entries {
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
