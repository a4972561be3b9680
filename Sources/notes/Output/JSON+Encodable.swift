internal import Git

protocol JSONEncodable {
  var json: JSON { get }
}

extension JSON: JSONEncodable {
  var json: JSON { self }

}

extension JSON: ExpressibleByDictionaryLiteral {
  init(dictionaryLiteral elements: (String, any JSONEncodable)...) {
    self = .object(elements.map { ($0.0, $0.1.json) })
  }
}

extension String: JSONEncodable {
  var json: JSON { .string(self) }
}

extension Int: JSONEncodable {
  var json: JSON { .int(self) }
}

extension Bool: JSONEncodable {
  var json: JSON { .bool(self) }
}

extension ObjectID: JSONEncodable {
  var json: JSON { .string(hex) }
}

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
