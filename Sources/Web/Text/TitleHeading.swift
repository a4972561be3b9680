internal import Git
internal import History

extension TreePath {
  /// Whether the note of this name is read as Markdown: notes-web(1), "Reading".
  var isMarkdown: Bool { isNote && noteSuffix.lowercased() != ".txt" }

  /// The text behind its first heading, if that says this note's title again; nil of other texts. So a page that
  /// has the title shows it once.
  func textBehindTitle(_ text: some StringProtocol) -> Substring? {
    let text = Substring(text)
    guard isMarkdown, let first = text.firstIndex(where: { !$0.isWhitespace }) else { return nil }
    // A line with more in front of it is code.
    let indent = text[..<first].reversed().prefix { !$0.isNewline }
    guard indent.count < 4, indent.allSatisfy({ $0 == " " }) else { return nil }
    let line = text[first...].prefix { !$0.isNewline }
    guard Self.plainTitle(line) == Self.plainTitle(Substring(noteTitle)) else { return nil }
    let level = line.prefix { $0 == "#" }
    if (1...6).contains(level.count), line.dropFirst(level.count).first?.isWhitespace == true {
      return text[line.endIndex...].drop(while: \.isNewline)
    }
    // The other form of a heading is a line of one mark below the words.
    let below = text[line.endIndex...].dropFirst().prefix { !$0.isNewline }
    let marks = below.filter { !$0.isWhitespace }
    let isUnderline = marks.first == "=" || marks.first == "-" && marks.count > 1
    return isUnderline && Set(marks).count == 1 && below.first?.isWhitespace == false
      ? text[below.endIndex...].drop(while: \.isNewline) : nil
  }

  /// The words of a title, whichever way they are written.
  private static func plainTitle(_ line: Substring) -> String {
    Preview.plain(line).lowercased().split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }
}
