extension Terminal {
  /// A message broken between words at the terminal's width; continued lines are indented. A quoted command
  /// stays whole if it fits on a line, so that it can be copied.
  ///
  /// - Parameter column: the indentation of continued lines, if it leaves enough space. If nil, two more than
  ///   the line's own.
  func wrapped(_ message: String, from column: Int? = nil) -> String {
    guard let width else { return message }
    return message.split(separator: "\n", omittingEmptySubsequences: false)
      .map { Self.wrap(String($0), to: width, from: column) }.joined(separator: "\n")
  }

  private static func wrap(_ line: String, to width: Int, from column: Int?) -> String {
    guard Width.of(painted: line) > width, width > 20 else { return line }
    let indent = String(line.prefix { $0 == " " })
    let hasRoom = column.map { width - $0 >= 20 } ?? false
    let further = hasRoom ? String.spaces(column ?? 0) : indent + "  "
    var lines: [String] = []
    var current = ""
    for word in pieces(of: line.dropFirst(indent.count)) {
      let longer = current.isEmpty ? indent + word : current + " " + word
      if Width.of(painted: longer) <= width || current.isEmpty {
        current = longer
      } else {
        lines.append(current)
        current = Width.of(painted: further + word) <= width ? further + word : "  " + word
      }
    }
    return (lines + [current]).joined(separator: "\n")
  }

  /// The words; a quoted command is one word.
  private static func pieces(of line: Substring) -> [String] {
    var pieces: [String] = []
    var isQuoted = false
    for word in line.split(separator: " ", omittingEmptySubsequences: false).map(String.init) {
      if isQuoted, let last = pieces.popLast() {
        pieces.append(last + " " + word)
      } else {
        pieces.append(word)
      }
      if !isQuoted, word.hasPrefix("'notes") || word.hasPrefix("('notes") { isQuoted = true }
      if isQuoted, word.dropFirst().contains("'"), word != "'notes" { isQuoted = false }
    }
    return pieces
  }
}
