struct Table {
  /// The column that is cut first if a row is wider than the terminal.
  var flexible: Int
  /// A column that is cut before the flexible one, and removed if hardly anything of it is left.
  var optional: Int?
  /// Columns that are removed, in this order, if cutting the flexible one is not enough.
  var dispensable: [Int] = []
  /// Right-aligned columns, such as numbers.
  var rightAligned: Set<Int> = []
  var indent = ""
  var rows: [[Styled]] = []

  func text(on terminal: Terminal) -> String { lines(for: terminal).map { $0 + "\n" }.joined() }

  /// The lines of the table. Columns are two spaces apart. On a terminal, columns are cut so that each row
  /// stays on one line: the flexible one first, but none below ten columns.
  func lines(for terminal: Terminal) -> [String] {
    var widths = [Int](repeating: 0, count: rows.map(\.count).max() ?? 0)
    for row in rows {
      for (column, cell) in row.enumerated() {
        widths[column] = max(widths[column], Width.of(cell.text))
      }
    }
    if let available = terminal.width { fit(&widths, into: available) }
    return rows.map { line(of: $0, widths: widths, terminal: terminal) }
  }

  private static let narrowest = 10

  private func fit(_ widths: inout [Int], into available: Int) {
    func excess() -> Int {
      let shown = widths.count { $0 > 0 }
      return Width.of(indent) + widths.reduce(0, +) + 2 * (shown - 1) - available
    }
    func slack(_ column: Int) -> Int { max(0, widths[column] - Self.narrowest) }
    if let optional, optional < widths.count, excess() > 0 {
      let left = widths[optional] - excess()
      widths[optional] = left < min(Self.narrowest, widths[optional]) ? 0 : left
    }
    guard flexible < widths.count else { return }
    for column in dispensable where column < widths.count && excess() > slack(flexible) {
      widths[column] = 0
    }
    let others = widths.indices.reversed().filter { $0 != flexible && !rightAligned.contains($0) }
    for column in [flexible] + others where excess() > 0 {
      widths[column] -= min(slack(column), excess())
    }
  }

  private func line(of row: [Styled], widths: [Int], terminal: Terminal) -> String {
    var line = indent
    var gap = ""
    // A column that is empty in all rows, or was removed, has no width.
    for (column, cell) in row.enumerated() where widths[column] > 0 {
      let text = Width.cut(cell.text, to: widths[column])
      let room = String.spaces(widths[column] - Width.of(text))
      let painted = terminal.paint(text, cell.style)
      if !text.isEmpty {
        line += gap
        gap = ""
      }
      if rightAligned.contains(column) {
        // Spaces are added only before further text, so that no line ends in spaces.
        line += text.isEmpty ? "" : room + painted
        gap += (text.isEmpty ? room : "") + "  "
      } else {
        line += painted
        gap += room + "  "
      }
    }
    return line
  }
}
