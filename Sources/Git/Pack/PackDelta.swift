/// Deltas in the format of packs (gitformat-pack(5)): copies from a base and new bytes.
enum PackDelta {
  /// A delta from the blob `old` to `new`: it copies their common beginning and end.
  static func blob(from old: [UInt8], to new: [UInt8]) -> [UInt8] {
    let shared = min(old.count, new.count)
    let (prefix, suffix) = old.withUnsafeBytes { old in
      new.withUnsafeBytes { new in
        var prefix = 0
        while prefix < shared, old[prefix] == new[prefix] { prefix += 1 }
        var suffix = 0
        while suffix < shared - prefix, old[old.count - 1 - suffix] == new[new.count - 1 - suffix] {
          suffix += 1
        }
        return (prefix, suffix)
      }
    }
    return encode(
      [
        SharedBytes(old: 0, new: 0, count: prefix),
        SharedBytes(old: old.count - suffix, new: new.count - suffix, count: suffix),
      ], from: old, to: new)
  }

  /// A delta from the tree `old` to `new`: it copies each run of common entries.
  static func tree(from old: [UInt8], to new: [UInt8]) -> [UInt8]? {
    var shared: [SharedBytes] = []
    let isWellFormed = TreeBytes.compare(old, new) { before, after, count in
      if let last = shared.last, last.old + last.count == before, last.new + last.count == after {
        shared[shared.count - 1].count += count
      } else {
        shared.append(SharedBytes(old: before, new: after, count: count))
      }
    } changed: { _, _ in
    }
    return isWellFormed ? encode(shared, from: old, to: new) : nil
  }

  private static let longestCopy = 0xff_ffff
  private static let longestInsert = 0x7f

  private static func encode(_ shared: [SharedBytes], from old: [UInt8], to new: [UInt8]) -> [UInt8]
  {
    var delta: [UInt8] = []
    appendSize(old.count, to: &delta)
    appendSize(new.count, to: &delta)
    var position = 0
    for part in shared where part.count > 0 {
      appendInsert(new[position..<part.new], to: &delta)
      appendCopy(from: part.old, count: part.count, to: &delta)
      position = part.new + part.count
    }
    appendInsert(new[position...], to: &delta)
    return delta
  }

  /// Appends a size in groups of seven bits, lowest first.
  static func appendSize(_ size: Int, to delta: inout [UInt8]) {
    var rest = size
    while rest > 0x7f {
      delta.append(UInt8(rest & 0x7f) | 0x80)
      rest >>= 7
    }
    delta.append(UInt8(rest))
  }

  private static func appendInsert(_ bytes: ArraySlice<UInt8>, to delta: inout [UInt8]) {
    var rest = bytes
    while !rest.isEmpty {
      let part = rest.prefix(longestInsert)
      delta.append(UInt8(part.count))
      delta.append(contentsOf: part)
      rest = rest.dropFirst(part.count)
    }
  }

  private static func appendCopy(from offset: Int, count: Int, to delta: inout [UInt8]) {
    var position = offset
    var rest = count
    while rest > 0 {
      let part = min(rest, longestCopy)
      var operation: UInt8 = 0x80
      var operands: [UInt8] = []
      for index in 0..<4 where position >> (index * 8) & 0xff != 0 {
        operation |= 1 << index
        operands.append(UInt8(position >> (index * 8) & 0xff))
      }
      for index in 0..<3 where part >> (index * 8) & 0xff != 0 {
        operation |= 0x10 << index
        operands.append(UInt8(part >> (index * 8) & 0xff))
      }
      delta.append(operation)
      delta.append(contentsOf: operands)
      position += part
      rest -= part
    }
  }
}

private struct SharedBytes {
  var old: Int
  var new: Int
  var count: Int
}

extension PackDelta {
  static let longestSizes = 20

  /// The sizes at the beginning of a delta, and the number of bytes they take; nil if the delta is
  /// malformed.
  static func sizes(_ delta: [UInt8]) -> (base: Int, result: Int, length: Int)? {
    var position = 0
    func size() -> Int? {
      var size = 0
      var shift = 0
      while position < delta.count, shift < 56 {
        let byte = Int(delta[position])
        position += 1
        size |= (byte & 0x7f) << shift
        shift += 7
        if byte & 0x80 == 0 { return size }
      }
      return nil
    }
    guard let base = size(), let result = size() else { return nil }
    return (base, result, position)
  }

  /// The result of applying a delta to its base (gitformat-pack(5), "Deltified representation");
  /// nil if the two do not match, or if the result is larger than `limit` bytes.
  static func applied(_ delta: [UInt8], to base: [UInt8], limit: Int) -> [UInt8]? {
    guard let sizes = sizes(delta), sizes.base == base.count, sizes.result <= limit else {
      return nil
    }
    let wanted = sizes.result
    var position = sizes.length
    func next() -> Int? {
      guard position < delta.count else { return nil }
      position += 1
      return Int(delta[position - 1])
    }
    var result: [UInt8] = []
    result.reserveCapacity(wanted)
    while let code = next() {
      if code & 0x80 == 0 {
        guard code > 0, code <= delta.count - position else { return nil }
        result += delta[position..<position + code]
        position += code
        continue
      }
      var (offset, count) = (0, 0)
      for bit in 0..<4 where code & 1 << bit != 0 {
        guard let byte = next() else { return nil }
        offset |= byte << (8 * bit)
      }
      for bit in 0..<3 where code & 0x10 << bit != 0 {
        guard let byte = next() else { return nil }
        count |= byte << (8 * bit)
      }
      if count == 0 { count = 0x10000 }
      guard offset <= base.count - count, result.count + count <= wanted else { return nil }
      result += base[offset..<offset + count]
    }
    return result.count == wanted ? result : nil
  }
}
