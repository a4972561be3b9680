internal import Glibc

/// An entry of a tree object, as byte positions in its content.
///
/// Packing and checking look at every entry of large trees, so they stay with the bytes.
struct PackTreeEntry {
  let start: Int
  let nameStart: Int
  /// Where the NUL after the name is.
  let nameEnd: Int
  let mode: UInt32

  var end: Int { nameEnd + 1 + ObjectID.byteCount }
  var isTree: Bool { mode == FileMode.tree.rawValue }

  /// The entry that begins at `position`, or nil when there is no whole one.
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
    self.mode = mode
    guard end <= tree.count else { return nil }
  }

  func name(in tree: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: tree[nameStart..<nameEnd])
  }

  func id(in tree: UnsafeRawBufferPointer) -> ObjectID {
    ObjectID(bytes: tree[(nameEnd + 1)..<end]) ?? .zero
  }

  /// How this entry's name compares with another's in git's order: negative, 0 or positive. The
  /// names of folders count as if they ended in `/`.
  func compare(
    in tree: UnsafeRawBufferPointer, with other: PackTreeEntry,
    in otherTree: UnsafeRawBufferPointer
  ) -> Int {
    let mine = name(in: tree)
    let theirs = other.name(in: otherTree)
    let shared = min(mine.count, theirs.count)
    if shared > 0, let left = mine.baseAddress, let right = theirs.baseAddress {
      let order = memcmp(left, right, shared)
      if order != 0 { return Int(order) }
    }
    let slash = Int(UInt8(ascii: "/"))
    func next(_ name: UnsafeRawBufferPointer, _ isTree: Bool) -> Int {
      name.count > shared ? Int(name[shared]) : (isTree ? slash : 0)
    }
    let order = next(mine, isTree) - next(theirs, other.isTree)
    return order != 0 ? order : mine.count - theirs.count
  }
}

/// An entry of a new tree that the old one does not have in this form.
struct PackTreeDifference {
  let entry: PackTreeEntry
  let id: ObjectID
  /// What the old tree has under that name and kind.
  let old: (id: ObjectID, mode: UInt32)?
}

/// A stretch of bytes that two objects share.
struct PackSharedBytes {
  var old: Int
  var new: Int
  var count: Int
}

enum PackTree {
  /// All entries of a tree; nil when it is not well formed.
  static func entries(_ tree: UnsafeRawBufferPointer) -> [PackTreeEntry]? {
    var found: [PackTreeEntry] = []
    var position = 0
    while position < tree.count {
      guard let entry = PackTreeEntry(tree, at: position) else { return nil }
      found.append(entry)
      position = entry.end
    }
    return found
  }

  /// Walks two sorted trees side by side.
  ///
  /// - Parameters:
  ///   - same: called with entries that are alike to the byte.
  ///   - changed: called with each other entry of the new tree and its counterpart, if any.
  /// - Returns: false when one of them is not well formed.
  static func compare(
    _ old: UnsafeRawBufferPointer, _ new: UnsafeRawBufferPointer,
    same: (PackTreeEntry, PackTreeEntry) -> Void,
    changed: (PackTreeEntry?, PackTreeEntry) throws -> Void
  ) rethrows -> Bool {
    var oldPosition = 0
    var newPosition = 0
    while newPosition < new.count {
      guard let entry = PackTreeEntry(new, at: newPosition) else { return false }
      guard oldPosition < old.count else {
        try changed(nil, entry)
        newPosition = entry.end
        continue
      }
      guard let counterpart = PackTreeEntry(old, at: oldPosition) else { return false }
      let order = counterpart.compare(in: old, with: entry, in: new)
      if order < 0 {
        oldPosition = counterpart.end
      } else if order > 0 {
        try changed(nil, entry)
        newPosition = entry.end
      } else {
        let length = entry.end - entry.start
        if let left = old.baseAddress, let right = new.baseAddress,
          counterpart.end - counterpart.start == length,
          memcmp(left + counterpart.start, right + entry.start, length) == 0
        {
          same(counterpart, entry)
        } else {
          try changed(counterpart, entry)
        }
        oldPosition = counterpart.end
        newPosition = entry.end
      }
    }
    return true
  }

  /// The entries of `new` that `old` does not have alike; nil when one is not well formed.
  static func differences(from old: [UInt8], to new: [UInt8]) -> [PackTreeDifference]? {
    old.withUnsafeBytes { old in
      new.withUnsafeBytes { new in
        var found: [PackTreeDifference] = []
        let wellFormed = compare(old, new) { _, _ in
        } changed: { counterpart, entry in
          found.append(
            PackTreeDifference(
              entry: entry, id: entry.id(in: new),
              old: counterpart.map { ($0.id(in: old), $0.mode) }))
        }
        return wellFormed ? found : nil
      }
    }
  }
}
