internal import Git
internal import History

extension TreePath {
  /// Whether the note with this name is shown as Markdown: notes-web(1), "Reading".
  var isMarkdown: Bool { isNote && noteSuffix.lowercased() != ".txt" }

  /// The text after its first heading, if that repeats the note's title; otherwise nil. So a page with the title
  /// shows it once.
  func textBehindTitle(_ text: some StringProtocol) -> Substring? {
    let text = Substring(text)
    guard isMarkdown, let first = text.firstIndex(where: { !$0.isWhitespace }) else { return nil }
    // A line with more indentation is code.
    let indent = text[..<first].reversed().prefix { !$0.isNewline }
    guard indent.count < 4, indent.allSatisfy({ $0 == " " }) else { return nil }
    let line = text[first...].prefix { !$0.isNewline }
    guard Self.plainTitle(line) == Self.plainTitle(Substring(noteTitle)) else { return nil }
    let level = line.prefix { $0 == "#" }
    if (1...6).contains(level.count), line.dropFirst(level.count).first?.isWhitespace == true {
      return text[line.endIndex...].drop(while: \.isNewline)
    }
    // A heading can also be underlined: the line below the words then consists of one kind of mark.
    let below = text[line.endIndex...].dropFirst().prefix { !$0.isNewline }
    let marks = below.filter { !$0.isWhitespace }
    let isUnderline = marks.first == "=" || marks.first == "-" && marks.count > 1
    return isUnderline && Set(marks).count == 1 && below.first?.isWhitespace == false
      ? text[below.endIndex...].drop(while: \.isNewline) : nil
  }

  /// The words of a title, without differences in spelling.
  private static func plainTitle(_ line: Substring) -> String {
    Preview.plain(line).lowercased().split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }
}
