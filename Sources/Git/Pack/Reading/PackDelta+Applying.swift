extension PackDelta {
  /// How many bytes the two sizes take at most.
  static let longestSizes = 20

  /// The sizes that a delta states at its beginning, and how many bytes that takes, or nil when it
  /// states none.
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

  /// What a delta makes of its base (gitformat-pack(5), "Deltified representation"), or nil when the
  /// two do not belong together or the result is larger than `limit` bytes.
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
