/// The text of a settings file: lines `key = value`, of which the last for a key counts, and comments,
/// which begin with `#`. People may edit it by hand, so no line is an error.
public struct SettingsText: Sendable {
  private var lines: [Substring.UTF8View]

  /// Reads a file's content.
  public init(_ text: String) {
    lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    if lines.last?.isEmpty == true { lines.removeLast() }
  }

  /// The file's content. Everything that was not set is unchanged.
  public var text: String { lines.map { String(Substring($0)) + "\n" }.joined() }

  /// The value of a setting; nil if it is not set. Setting it replaces the value in effect, and nil
  /// removes the setting. Neither key nor value may have a line break, or spaces at its ends.
  public subscript(key: String) -> String? {
    get { lines.reversed().lazy.compactMap(Self.parts).first { $0.key == key }?.value }
    set {
      var places = lines.indices.filter { Self.parts(of: lines[$0])?.key == key }
      if let newValue {
        let line = Substring("\(key) = \(newValue)").utf8
        if let last = places.popLast() { lines[last] = line } else { lines.append(line) }
      }
      for place in places.reversed() { lines.remove(at: place) }
    }
  }

  private static func parts(of line: Substring.UTF8View) -> (key: String, value: String)? {
    guard line.first != UInt8(ascii: "#"), let equals = line.firstIndex(of: UInt8(ascii: "="))
    else { return nil }
    return (trimmed(line[..<equals]), trimmed(line[line.index(after: equals)...]))
  }

  private static func trimmed(_ text: Substring.UTF8View) -> String {
    func isSpace(_ byte: UInt8) -> Bool {
      [UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r")].contains(byte)
    }
    let head = text.drop(while: isSpace)
    guard let last = head.lastIndex(where: { !isSpace($0) }) else { return "" }
    return String(Substring(head[...last]))
  }
}
