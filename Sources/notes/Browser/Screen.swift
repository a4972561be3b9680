struct Screen: Equatable {
  struct Size: Equatable {
    var columns: Int
    var rows: Int
  }

  let size: Size
  private(set) var rows: [[Styled]] = []

  init(size: Size) { self.size = size }

  /// Adds a row. It is cut at the screen's width; rows below the screen are dropped.
  mutating func add(_ spans: [Styled]) {
    guard rows.count < size.rows else { return }
    var left = size.columns
    var row: [Styled] = []
    for span in spans where !span.text.isEmpty {
      let text = Width.cut(span.text, to: left)
      left -= Width.of(text)
      row.append(Styled(text, span.style))
    }
    rows.append(row)
  }

  func text(ofRow row: Int, usesColour: Bool) -> String {
    guard row < rows.count else { return "" }
    let terminal = Terminal(isInteractive: true, width: size.columns, usesColour: usesColour)
    return rows[row].map { terminal.paint($0) }.joined()
  }

  /// The escape sequences that turn the screen `former` into this one. They write only rows that differ, or all
  /// rows if `former` is nil or has another size.
  func update(from former: Screen?, usesColour: Bool) -> String {
    var text = ""
    let isSame = former?.size == size
    if !isSame { text += "\u{1B}[2J" }
    for row in 0..<size.rows {
      let line = self.text(ofRow: row, usesColour: usesColour)
      if isSame, former?.text(ofRow: row, usesColour: usesColour) == line { continue }
      // In the last column the cursor waits for the next character, and erasing from there would
      // remove the last one. So the row is erased first.
      text += "\u{1B}[\(row + 1);1H\u{1B}[2K" + line
    }
    return text
  }
}
