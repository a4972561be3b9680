internal import Glibc
internal import System

/// A path inside a notebook: names joined by `/`, as bytes, like on Linux and in git's trees.
/// Equality and order are bytewise: two Unicode forms stay two paths, and what is not UTF-8 is
/// kept.
public struct TreePath: Hashable, Sendable {
  /// The path's bytes, without a leading or trailing slash.
  public let bytes: [UInt8]

  /// The path with these bytes.
  public init(bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

  /// The path whose UTF-8 form is `string`'s.
  public init(_ string: String) { bytes = Array(string.utf8) }

  /// The path as text, or nil when its bytes are not valid UTF-8.
  public var utf8String: String? { String(validating: bytes, as: UTF8.self) }

  /// Whether this is the notebook's folder itself.
  public var isEmpty: Bool { bytes.isEmpty }

  /// The names the path is made of, outermost first.
  public var components: [TreePath] {
    bytes.split(separator: UInt8(ascii: "/")).map { TreePath(bytes: $0) }
  }

  /// The last name.
  public var name: TreePath {
    guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return self }
    return TreePath(bytes: bytes[(slash + 1)...])
  }

  /// The path of the folder it is in, or nil when that is the notebook's folder itself.
  public var parent: TreePath? {
    guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return nil }
    return TreePath(bytes: bytes[..<slash])
  }

  /// This path with `name` below it.
  public func appending(_ name: TreePath) -> TreePath {
    if isEmpty { return name }
    var joined = bytes
    joined.reserveCapacity(bytes.count + 1 + name.bytes.count)
    joined.append(UInt8(ascii: "/"))
    joined.append(contentsOf: name.bytes)
    return TreePath(bytes: joined)
  }
}

// The whole path at once instead of byte by byte: paths of thousands of bytes are sorted by the thousands.
extension TreePath: Comparable {
  /// Orders by bytes.
  public static func < (left: TreePath, right: TreePath) -> Bool {
    let order = left.order(sharedWith: right)
    return order != 0 ? order < 0 : left.bytes.count < right.bytes.count
  }

  public static func == (left: TreePath, right: TreePath) -> Bool {
    left.bytes.count == right.bytes.count && left.order(sharedWith: right) == 0
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(bytes.count)
    bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
  }

  /// The order of as many bytes as both have, as memcmp(3) tells it.
  private func order(sharedWith other: TreePath) -> Int32 {
    bytes.withUnsafeBytes { mine in
      other.bytes.withUnsafeBytes { theirs in
        guard let left = mine.baseAddress, let right = theirs.baseAddress else { return 0 }
        return memcmp(left, right, min(mine.count, theirs.count))
      }
    }
  }
}

extension TreePath: CustomStringConvertible {
  /// The path for people: bytes that are not UTF-8 show as U+FFFD.
  public var description: String { String(decoding: bytes, as: UTF8.self) }
}

extension TreePath: ExpressibleByStringLiteral {
  public init(stringLiteral value: String) { self.init(value) }
}

extension TreePath: Codable {
  /// From its bytes in hexadecimal digits: not every path is text.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let bytes = [UInt8](hexadecimal: try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a path's bytes")
    }
    self.init(bytes: bytes)
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(String(hexadecimal: bytes))
  }
}
