internal import Glibc

/// A tree object's content, read entry by entry as it is stored: trees of thousands of entries are
/// compared and rewritten without making a value of each.
struct TreeBytes {
  let data: [UInt8]
  let id: ObjectID

  /// Where an entry and its parts stand in the data.
  struct Entry {
    /// The whole entry.
    let start: Int
    let end: Int
    /// The name, without the NUL after it.
    let nameStart: Int
    let nameEnd: Int
    let isTree: Bool
  }

  /// The entry that begins at a position, or nil at the end.
  func entry(at start: Int) throws -> Entry? {
    if start >= data.count { return nil }
    return try data.withUnsafeBufferPointer { bytes in
      var nameStart = start
      while nameStart < bytes.count, bytes[nameStart] != UInt8(ascii: " ") { nameStart += 1 }
      nameStart += 1
      var nameEnd = nameStart
      while nameEnd < bytes.count, bytes[nameEnd] != 0 { nameEnd += 1 }
      let end = nameEnd + 1 + ObjectID.byteCount
      guard end <= bytes.count else {
        throw GitError.malformed(id, "tree entry at byte \(start)")
      }
      // Only a folder's mode begins with a 4, or with a 0 in trees of old programs.
      let isTree = bytes[start] == UInt8(ascii: "4") || bytes[start] == UInt8(ascii: "0")
      return Entry(
        start: start, end: end, nameStart: nameStart, nameEnd: nameEnd, isTree: isTree)
    }
  }

  /// The entry as a value.
  func value(of entry: Entry) throws -> TreeEntry {
    var mode: UInt32 = 0
    for digit in data[entry.start..<entry.nameStart - 1] {
      guard (UInt8(ascii: "0")...UInt8(ascii: "7")).contains(digit), mode < 1 << 24 else {
        throw GitError.malformed(id, "tree entry at byte \(entry.start)")
      }
      mode = mode << 3 | UInt32(digit - UInt8(ascii: "0"))
    }
    guard let object = ObjectID(bytes: data[(entry.nameEnd + 1)..<entry.end]) else {
      throw GitError.malformed(id, "tree entry at byte \(entry.start)")
    }
    return TreeEntry(
      name: TreePath(bytes: data[entry.nameStart..<entry.nameEnd]),
      mode: FileMode(rawValue: mode), id: object)
  }

  /// Negative, zero or positive as `left` comes before, is equal to or comes after the key in git's
  /// order of entries; a key is a name, a folder's with `/` at its end.
  func order(_ left: Entry, against key: [UInt8]) -> Int {
    data.withUnsafeBufferPointer { bytes in
      Self.order(
        UnsafeBufferPointer(rebasing: bytes[left.nameStart..<left.nameEnd]), left.isTree, key)
    }
  }

  private static func order(
    _ name: UnsafeBufferPointer<UInt8>, _ isTree: Bool, _ key: [UInt8]
  ) -> Int {
    let shared = min(name.count, key.count)
    for index in 0..<shared where name[index] != key[index] {
      return Int(name[index]) - Int(key[index])
    }
    if key.count > name.count {
      if !isTree { return -1 }
      let slash = Int(UInt8(ascii: "/")) - Int(key[name.count])
      return slash != 0 ? slash : (key.count == name.count + 1 ? 0 : -1)
    }
    return isTree || name.count > key.count ? 1 : 0
  }

  /// Whether two entries are the same, byte for byte.
  static func areEqual(
    _ left: TreeBytes, _ first: Entry, _ right: TreeBytes, _ second: Entry
  ) -> Bool {
    let count = first.end - first.start
    guard count == second.end - second.start else { return false }
    return left.data.withUnsafeBufferPointer { a in
      right.data.withUnsafeBufferPointer { b in
        guard let a = a.baseAddress, let b = b.baseAddress else { return true }
        return memcmp(a + first.start, b + second.start, count) == 0
      }
    }
  }

  /// The key of an entry in git's order.
  func key(of entry: Entry) -> [UInt8] {
    Array(data[entry.nameStart..<entry.nameEnd]) + (entry.isTree ? [UInt8(ascii: "/")] : [])
  }
}

extension TreeBytes {
  /// The entries that differ between two trees, by name.
  static func differences(
    _ old: TreeBytes, _ new: TreeBytes
  ) throws -> [TreePath: (old: TreeEntry?, new: TreeEntry?)] {
    var found: [TreePath: (old: TreeEntry?, new: TreeEntry?)] = [:]
    var left = try old.entry(at: 0)
    var right = try new.entry(at: 0)
    while left != nil || right != nil {
      if let before = left, let after = right {
        let order =
          areEqual(old, before, new, after) ? nil : old.order(before, against: new.key(of: after))
        if let order {
          if order <= 0 {
            let value = try old.value(of: before)
            found[value.name, default: (nil, nil)].old = value
          }
          if order >= 0 {
            let value = try new.value(of: after)
            found[value.name, default: (nil, nil)].new = value
          }
        }
        if order ?? 0 <= 0 { left = try old.entry(at: before.end) }
        if order ?? 0 >= 0 { right = try new.entry(at: after.end) }
      } else if let before = left {
        let value = try old.value(of: before)
        found[value.name, default: (nil, nil)].old = value
        left = try old.entry(at: before.end)
      } else if let after = right {
        let value = try new.value(of: after)
        found[value.name, default: (nil, nil)].new = value
        right = try new.entry(at: after.end)
      }
    }
    return found
  }

  /// The content of this tree with some entries put in the place of what has their name, and some
  /// files and folders taken out.
  func replacing(
    with entries: [TreeEntry], files: [TreePath], folders: [TreePath]
  ) throws -> [UInt8] {
    let slash = UInt8(ascii: "/")
    let gone =
      (files.map(\.bytes) + folders.map { $0.bytes + [slash] }
      + entries.flatMap { [$0.name.bytes, $0.name.bytes + [slash]] })
      .sorted { $0.lexicographicallyPrecedes($1) }
    let added = Tree(entries: entries).entries
    let addedKeys = added.map { $0.mode == .tree ? $0.name.bytes + [slash] : $0.name.bytes }
    var result: [UInt8] = []
    result.reserveCapacity(data.count + added.count * 64)
    var (nextGone, nextAdded, kept) = (0, 0, 0)
    var current = try entry(at: 0)
    while let entry = current {
      while nextAdded < added.count, order(entry, against: addedKeys[nextAdded]) > 0 {
        result += data[kept..<entry.start]
        kept = entry.start
        result += Tree(stored: [added[nextAdded]]).serialized
        nextAdded += 1
      }
      while nextGone < gone.count, order(entry, against: gone[nextGone]) > 0 { nextGone += 1 }
      if nextGone < gone.count, order(entry, against: gone[nextGone]) == 0 {
        result += data[kept..<entry.start]
        kept = entry.end
      }
      current = try self.entry(at: entry.end)
    }
    result += data[kept...]
    for entry in added[nextAdded...] { result += Tree(stored: [entry]).serialized }
    return result
  }
}
