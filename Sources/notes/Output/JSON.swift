internal import Git
internal import System

/// A JSON value on one line, with its fields in order. No library is used: `notes status --json` takes two
/// milliseconds, and starting an encoder would take longer.
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
    var text = ""
    write(to: &text)
    return text
  }

  private func write(to text: inout String) {
    switch self {
    case .null: text += "null"
    case .bool(let value): text += value ? "true" : "false"
    case .int(let value): text += String(value)
    case .string(let value): JSONText.append(value, to: &text)
    case .array(let values):
      text += "["
      for (position, value) in values.enumerated() {
        if position > 0 { text += "," }
        value.write(to: &text)
      }
      text += "]"
    case .object(let fields):
      text += "{"
      for (position, field) in fields.enumerated() {
        if position > 0 { text += "," }
        JSONText.append(field.key, to: &text)
        text += ":"
        field.value.write(to: &text)
      }
      text += "}"
    }
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
