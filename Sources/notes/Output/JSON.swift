/// A JSON value, written on one line with its fields in the order they were given.
///
/// Written by hand because `notes status --json` starts and ends in about two milliseconds, which
/// the start-up of an encoder would lengthen.
enum JSON: Sendable {
  case null
  case bool(Bool)
  case int(Int)
  case string(String)
  case array([JSON])
  case object([(key: String, value: JSON)])

  /// The value as UTF-8 without line ends.
  var encoded: [UInt8] {
    var bytes: [UInt8] = []
    write(to: &bytes)
    return bytes
  }

  private func write(to bytes: inout [UInt8]) {
    switch self {
    case .null: bytes.append(contentsOf: "null".utf8)
    case .bool(let value): bytes.append(contentsOf: (value ? "true" : "false").utf8)
    case .int(let value): bytes.append(contentsOf: String(value).utf8)
    case .string(let value): Self.write(value, to: &bytes)
    case .array(let values):
      bytes.append(UInt8(ascii: "["))
      for (position, value) in values.enumerated() {
        if position > 0 { bytes.append(UInt8(ascii: ",")) }
        value.write(to: &bytes)
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let fields):
      bytes.append(UInt8(ascii: "{"))
      for (position, field) in fields.enumerated() {
        if position > 0 { bytes.append(UInt8(ascii: ",")) }
        Self.write(field.key, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        field.value.write(to: &bytes)
      }
      bytes.append(UInt8(ascii: "}"))
    }
  }

  /// Writes a string; what could confuse a terminal (controls, bidirectional controls) is escaped
  /// though JSON would allow it, since a person may look at it too.
  private static func write(_ text: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x22: bytes.append(contentsOf: "\\\"".utf8)
      case 0x5C: bytes.append(contentsOf: "\\\\".utf8)
      case 0x0A: bytes.append(contentsOf: "\\n".utf8)
      case 0x0D: bytes.append(contentsOf: "\\r".utf8)
      case 0x09: bytes.append(contentsOf: "\\t".utf8)
      case 0x00..<0x20, 0x7F..<0xA0, 0x061C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069:
        bytes.append(contentsOf: "\\u".utf8)
        let digits = String(scalar.value, radix: 16)
        bytes.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: 4 - digits.utf8.count))
        bytes.append(contentsOf: digits.utf8)
      default:
        bytes.append(contentsOf: Array(UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter))
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}

extension JSON {
  static func + (left: JSON, right: JSON) -> JSON {
    guard case .object(let first) = left, case .object(let second) = right else { return left }
    return .object(first + second)
  }
}
