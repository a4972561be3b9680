internal import Git

/// A JSON value on one line, its fields in their order. Not a library's: `notes status --json` takes
/// two milliseconds, which the start-up of an encoder would lengthen.
enum JSON: Sendable, ExpressibleByDictionaryLiteral {
  case null
  case bool(Bool)
  case int(Int)
  case string(String)
  case array([JSON])
  case object([(key: String, value: JSON)])

  init(dictionaryLiteral elements: (String, any JSONEncodable)...) {
    self = .object(elements.map { ($0.0, $0.1.json) })
  }

  static func + (left: JSON, right: JSON) -> JSON {
    guard case .object(let first) = left, case .object(let second) = right else { return left }
    return .object(first + second)
  }

  var text: String {
    switch self {
    case .null: "null"
    case .bool(let value): "\(value)"
    case .int(let value): "\(value)"
    case .string(let value): Self.quoted(value)
    case .array(let values): "[" + values.map(\.text).joined(separator: ",") + "]"
    case .object(let fields):
      "{" + fields.map { Self.quoted($0.key) + ":" + $0.value.text }.joined(separator: ",") + "}"
    }
  }

  /// A string; what could confuse a terminal (controls, bidirectional controls) is escaped though
  /// JSON would allow it, since a person may look at it too.
  private static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x22: quoted += "\\\""
      case 0x5C: quoted += "\\\\"
      case 0x0A: quoted += "\\n"
      case 0x0D: quoted += "\\r"
      case 0x09: quoted += "\\t"
      case 0x00..<0x20, 0x7F..<0xA0, 0x061C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069:
        quoted += "\\u" + String(0x1_0000 + scalar.value, radix: 16).dropFirst()
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}

protocol JSONEncodable {
  var json: JSON { get }
}

extension JSON: JSONEncodable { var json: JSON { self } }

extension String: JSONEncodable { var json: JSON { .string(self) } }

extension Int: JSONEncodable { var json: JSON { .int(self) } }

extension Bool: JSONEncodable { var json: JSON { .bool(self) } }

extension ObjectID: JSONEncodable { var json: JSON { .string(hex) } }

extension TreePath: JSONEncodable {
  /// Bytes that are not UTF-8 become U+FFFD, because JSON is text.
  var json: JSON { .string(description) }
}

extension Optional: JSONEncodable where Wrapped: JSONEncodable {
  var json: JSON { self?.json ?? .null }
}

extension Array: JSONEncodable where Element: JSONEncodable {
  var json: JSON { .array(map(\.json)) }
}
