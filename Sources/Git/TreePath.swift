internal import Glibc
internal import System

/// A path inside a notebook: names joined by `/`, as bytes, as on Linux and in git's trees.
/// Equality and order are bytewise: two Unicode forms are two paths, and bytes that are not UTF-8
/// are kept.
public struct TreePath: Hashable, Sendable {
  /// The path's bytes, without a leading or trailing slash.
  public let bytes: [UInt8]

  /// The path with these bytes.
  public init(bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

  /// The path whose UTF-8 form is `string`'s.
  public init(_ string: String) { bytes = Array(string.utf8) }

  /// The path as text; nil if its bytes are not valid UTF-8.
  public var utf8String: String? { String(validating: bytes, as: UTF8.self) }

  /// Whether this is the notebook's folder itself.
  public var isEmpty: Bool { bytes.isEmpty }

  /// The names in the path, outermost first.
  public var components: [TreePath] {
    bytes.split(separator: UInt8(ascii: "/")).map { TreePath(bytes: $0) }
  }

  /// The last name.
  public var name: TreePath {
    guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return self }
    return TreePath(bytes: bytes[(slash + 1)...])
  }

  /// The path of the folder around it; nil if that is the notebook's own folder.
  public var parent: TreePath? {
    guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return nil }
    return TreePath(bytes: bytes[..<slash])
  }

  /// The path of `name` in this folder.
  public func appending(_ name: TreePath) -> TreePath {
    if isEmpty { return name }
    var joined = bytes
    joined.reserveCapacity(bytes.count + 1 + name.bytes.count)
    joined.append(UInt8(ascii: "/"))
    joined.append(contentsOf: name.bytes)
    return TreePath(bytes: joined)
  }
}

// Compares whole paths at once instead of byte by byte: paths of thousands of bytes are sorted by
// the thousands.
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

  /// The order of the bytes up to the shorter length, as in memcmp(3).
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
  /// The path for people: bytes that are not UTF-8 become U+FFFD.
  public var description: String { String(decoding: bytes, as: UTF8.self) }
}

extension TreePath: ExpressibleByStringLiteral {
  public init(stringLiteral value: String) { self.init(value) }
}

extension TreePath: Codable {
  /// Decodes hexadecimal digits, as not every path is text.
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
