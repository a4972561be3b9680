internal import Glibc

extension [UInt8] {
  /// The next position of a byte, from `start` on; nil if it does not occur. Uses memchr(3), which compares
  /// many bytes at once.
  public func firstIndex(of byte: UInt8, from start: Int) -> Int? {
    guard start < count else { return nil }
    return withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress,
        let found = memchr(base + start, Int32(byte), count - start)
      else { return nil }
      return UnsafeRawPointer(found) - base
    }
  }
  /// The first range of some bytes, from `start` on; nil if they do not occur, or if `part` is
  /// empty.
  public func firstRange(of part: [UInt8], from start: Int = 0) -> Range<Int>? {
    guard let first = part.first else { return nil }
    var start = start
    return withUnsafeBytes { bytes in
      part.withUnsafeBytes { part in
        guard let base = bytes.baseAddress, let wanted = part.baseAddress else { return nil }
        while start + part.count <= bytes.count,
          let found = memchr(base + start, Int32(first), bytes.count - start - part.count + 1)
        {
          let place = UnsafeRawPointer(found) - base
          if memcmp(found, wanted, part.count) == 0 { return place..<(place + part.count) }
          start = place + 1
        }
        return nil
      }
    }
  }
}
