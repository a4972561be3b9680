/// A small file that only this program writes: lines `KEY VALUE`, of which the last for a key counts.
/// Lines of another form are passed over, and so are keys that nobody asks for.
package struct StateLines: Sendable {
  /// The lines, in the file's order.
  package private(set) var lines: [(key: String, value: String)] = []

  /// A file of these lines; those without a value are left out.
  package init(_ lines: KeyValuePairs<String, (any CustomStringConvertible)?> = [:]) {
    for (key, value) in lines { if let value { append(key, value.description) } }
  }

  /// The lines of a file's content.
  package init(parsing content: [UInt8]) {
    for line in content.split(separator: UInt8(ascii: "\n")) {
      guard let space = line.firstIndex(of: UInt8(ascii: " ")) else { continue }
      let (key, value) = (line[..<space], line[(space + 1)...])
      lines.append((String(decoding: key, as: UTF8.self), String(decoding: value, as: UTF8.self)))
    }
  }

  /// The value of a key, or nil.
  package subscript(key: String) -> String? { lines.last { $0.key == key }?.value }

  /// The value of a key as a number, or nil.
  package subscript(number key: String) -> Int64? { self[key].flatMap { Int64($0) } }

  /// Adds a line. A value has no line ends: a space takes the place of each.
  package mutating func append(_ key: String, _ value: String) {
    lines.append((key, String(value.map { $0.isNewline ? " " : $0 })))
  }

  /// The file's content.
  package var bytes: [UInt8] { lines.flatMap { "\($0.key) \($0.value)\n".utf8 } }
}
