extension Terminal {
  /// A message broken at words where its lines are wider than the terminal; what follows a break is
  /// indented. A command in quotes stays whole where it fits, so that it can be copied.
  func wrapped(_ message: String) -> String {
    guard let width else { return message }
    return message.split(separator: "\n", omittingEmptySubsequences: false)
      .map { Self.wrap(String($0), to: width) }.joined(separator: "\n")
  }

  private static func wrap(_ line: String, to width: Int) -> String {
    guard Width.of(line) > width, width > 20 else { return line }
    let indent = String(line.prefix { $0 == " " })
    var lines: [String] = []
    var current = ""
    for word in pieces(of: line.dropFirst(indent.count)) {
      let longer = current.isEmpty ? indent + word : current + " " + word
      if Width.of(longer) <= width || current.isEmpty {
        current = longer
      } else {
        lines.append(current)
        current = indent + "  " + word
      }
    }
    return (lines + [current]).joined(separator: "\n")
  }

  /// The words, with the words of a command that is quoted together.
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
