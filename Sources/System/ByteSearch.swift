internal import Glibc

extension [UInt8] {
  /// Where a byte stands next, from `start` on; nil where it does not. By memchr(3), which looks at
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
}
