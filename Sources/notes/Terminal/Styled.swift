struct Styled: Equatable, Sendable {
  var text: String
  var style: Style?

  init(_ text: String, _ style: Style? = nil) {
    self.text = text
    self.style = style
  }
}

extension Terminal {
  func paint(_ styled: Styled) -> String { paint(styled.text, styled.style) }

  /// Paints a line of several pieces; neighbours with the same style are painted together.
  func paint(_ line: [Styled]) -> String {
    var runs: [Styled] = []
    for piece in line where !piece.text.isEmpty {
      if let last = runs.indices.last, runs[last].style == piece.style {
        runs[last].text += piece.text
      } else {
        runs.append(piece)
      }
    }
    return runs.map { paint($0) }.joined()
  }
}

extension [Styled] {
  var width: Int { reduce(0) { $0 + Width.of($1.text) } }

  /// The line, cut with `…` if it is wider than `columns`.
  func cut(to columns: Int) -> [Styled] {
    guard width > columns else { return self }
    var kept: [Styled] = []
    for piece in self {
      let room = columns - kept.width
      if Width.of(piece.text) >= room {
        return kept + [Styled(Width.cut(piece.text + "…", to: room), piece.style)]
      }
      kept.append(piece)
    }
    return kept
  }

  /// The line as lines of at most `width` columns, broken between words; one line if `width` is
  /// nil. A word longer than a line is broken at the end of the line.
  func lines(of width: Int?, on terminal: Terminal) -> [String] {
    guard let width else { return [terminal.paint(self)] }
    var layout = Layout(width: Swift.max(width, 1))
    for piece in self {
      for character in piece.text { layout.add(Styled(String(character), piece.style)) }
    }
    return (layout.lines + [layout.row]).map { terminal.paint($0) }
  }
}

/// Arranges the words of a paragraph in lines of a given width. A character is a cell.
private struct Layout {
  let width: Int
  var lines: [[Styled]] = []
  var row: [Styled] = []
  private var columns = 0
  /// How many cells of the row are before the possible line break.
  private var breakPlace = 0

  init(width: Int) { self.width = width }

  mutating func add(_ cell: Styled) {
    if cell.text == "\t" {
      // Tab stops are eight columns apart.
      for _ in 0..<(8 - columns % 8) { add(Styled(" ", cell.style)) }
      return
    }
    let isSpace = cell.text == " "
    let cellWidth = Width.of(cell.text)
    if columns + cellWidth > width, !row.isEmpty {
      // A space at the end of a full line needs no column.
      if isSpace {
        breakPlace = row.count
        return
      }
      wrap()
    }
    // Wide characters are separate words.
    if cellWidth == 2 { breakPlace = row.count }
    row.append(cell)
    columns += cellWidth
    if isSpace || cellWidth == 2 { breakPlace = row.count }
  }

  private mutating func wrap() {
    let end = breakPlace > 0 ? breakPlace : row.count
    let rest = Array(row[end...])
    row.removeSubrange(end...)
    // Spaces that were removed or added stay visible.
    while row.last?.text == " ", row.last?.style != .red, row.last?.style != .green {
      row.removeLast()
    }
    lines.append(row)
    row = rest
    columns = rest.width
    breakPlace = 0
  }
}
