/// A small file that only this program writes: lines of words, or of `KEY VALUE`, of which the last for a key
/// counts. Unknown keys are ignored.
package struct StateLines: Sendable {
  /// The lines, in the file's order.
  package private(set) var lines: [StateLine] = []

  /// A file with these lines; lines whose value is nil are left out.
  package init(_ lines: KeyValuePairs<String, (any CustomStringConvertible)?> = [:]) {
    for (key, value) in lines { if let value { append(key, value.description) } }
  }

  /// The lines of a file's content, whatever the content is.
  package init(parsing content: [UInt8]) {
    lines = content.split(separator: UInt8(ascii: "\n")).map { StateLine(bytes: $0) }
  }

  /// The lines of the file with this path.
  ///
  /// - Throws: an error if the content is not lines of text, as after a power cut.
  package init(of content: [UInt8], at path: String) throws(StateDamage) {
    if content.contains(0) { throw StateDamage(path, "it contains zero bytes") }
    if let last = content.last, last != UInt8(ascii: "\n") {
      throw StateDamage(path, "its end is missing")
    }
    if String(validating: content, as: UTF8.self) == nil {
      throw StateDamage(path, "it is no text")
    }
    self.init(parsing: content)
  }

  /// The value of a key; nil if there is none.
  package subscript(key: String) -> String? { lines.last { $0.key == key }?.value }

  /// The value of a key as a number; nil if there is none.
  package subscript(number key: String) -> Int64? { self[key].flatMap { Int64($0) } }

  /// All values of a key, in the file's order.
  package func values(of key: String) -> [String] { lines.filter { $0.key == key }.map(\.value) }

  /// Adds a line. Newlines in the value are replaced by spaces.
  package mutating func append(_ key: String, _ value: String) {
    lines.append(
      StateLine(bytes: Array("\(key) \(String(value.map { $0.isNewline ? " " : $0 }))".utf8)[...]))
  }

  /// The file's content.
  package var bytes: [UInt8] { lines.flatMap { $0.bytes + [UInt8(ascii: "\n")] } }
}

/// A line of such a file.
package struct StateLine: Sendable {
  package let bytes: ArraySlice<UInt8>

  /// The word before the first space.
  package var key: String {
    String(decoding: bytes.prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self)
  }

  /// The rest after the first space; empty if there is none.
  package var value: String {
    String(decoding: bytes.drop { $0 != UInt8(ascii: " ") }.dropFirst(), as: UTF8.self)
  }

  /// The words between spaces.
  package var words: StateWords { StateWords(words: bytes.split(separator: UInt8(ascii: " "))) }
}

/// The words of a line.
package struct StateWords: Sendable {
  package let words: [ArraySlice<UInt8>]

  package var count: Int { words.count }

  package subscript(number: Int) -> String { String(decoding: words[number], as: UTF8.self) }
}
