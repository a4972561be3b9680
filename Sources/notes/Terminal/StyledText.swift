/// A line of prose in pieces of different style, broken between words where it is wider than the
/// terminal.
struct StyledText {
  private(set) var pieces: [Styled] = []

  mutating func add(_ text: String, _ style: Style? = nil) {
    if !text.isEmpty { pieces.append(Styled(text, style)) }
  }

  /// The text as lines of at most so many columns; one line where no width is given. A word longer
  /// than a line is broken where the line ends.
  func lines(of width: Int?, on terminal: Terminal) -> [String] {
    var layout = Layout(width: width.map { max($0, 1) }, terminal: terminal)
    for piece in pieces {
      for character in piece.text { layout.add(character, piece.style) }
    }
    return layout.finish()
  }

  private struct Layout {
    private struct Cell {
      let character: Character
      let style: Style?
      let width: Int
    }

    let width: Int?
    let terminal: Terminal
    var lines: [String] = []
    private var row: [Cell] = []
    private var columns = 0
    /// How many cells of the row stand before the place where it can be broken.
    private var breakPlace = 0

    init(width: Int?, terminal: Terminal) {
      self.width = width
      self.terminal = terminal
    }

    mutating func add(_ character: Character, _ style: Style?) {
      if character == "\t", width != nil {
        // Tab stops are eight columns apart.
        for _ in 0..<(8 - columns % 8) { add(" ", style) }
        return
      }
      let cell = Cell(character: character, style: style, width: Width.of(character))
      let isSpace = character == " "
      if let width, columns + cell.width > width, !row.isEmpty {
        // A space at the end of a full line needs no place.
        if isSpace {
          breakPlace = row.count
          return
        }
        wrap()
      }
      // Wide characters are words of their own.
      if cell.width == 2 { breakPlace = row.count }
      row.append(cell)
      columns += cell.width
      if isSpace || cell.width == 2 { breakPlace = row.count }
    }

    private mutating func wrap() {
      let end = breakPlace > 0 ? breakPlace : row.count
      let rest = Array(row[end...])
      row.removeSubrange(end...)
      while row.last?.character == " ", row.last?.style != .red, row.last?.style != .green {
        row.removeLast()
      }
      lines.append(painted())
      row = rest
      columns = rest.reduce(0) { $0 + $1.width }
      breakPlace = 0
    }

    mutating func finish() -> [String] {
      lines.append(painted())
      return lines
    }

    private func painted() -> String {
      var line = ""
      var run = ""
      var style: Style?
      for cell in row {
        if cell.style != style {
          line += terminal.paint(run, style)
          run = ""
          style = cell.style
        }
        run.append(cell.character)
      }
      return line + terminal.paint(run, style)
    }
  }
}
