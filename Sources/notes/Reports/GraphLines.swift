internal import Git

/// Lines beside the log's entries that show which version was made on which.
///
/// A column stands for a version that is still to come. Each entry takes the column that waits for
/// it and leaves one for each parent; columns that wait for the same version come together.
struct GraphLines {
  let terminal: Terminal
  private var columns: [ObjectID] = []

  init(terminal: Terminal) { self.terminal = terminal }

  /// How many columns of the terminal the graph takes beside an entry.
  func width(beside id: ObjectID) -> Int {
    let count = columns.contains(id) ? columns.count : columns.count + 1
    return min(2 * count - 1, room ?? .max) + 2
  }

  /// What the entries have at least, in columns of the terminal.
  private static let leastText = 30
  /// The graph takes at most half of the terminal's columns; what stands further right is cut.
  private var room: Int? {
    terminal.width.map { max(3, min($0 / 2, $0 - Self.leastText - 2)) }
  }

  /// An entry's text with the graph before each line.
  mutating func text(_ entry: String, of id: ObjectID, parents: [ObjectID]) -> String {
    let own = columns.firstIndex(of: id) ?? columns.count
    if own == columns.count { columns.append(id) }
    var rows: [String] = []
    for (position, line) in entry.split(separator: "\n", omittingEmptySubsequences: false)
      .dropLast().enumerated()
    {
      let signs = columns.indices.map { position == 0 && $0 == own ? "*" : "|" }
      // Below a version without parents its column ends.
      let shown = position > 0 && parents.isEmpty ? Self.blank(own, in: signs) : signs
      let graph = cut(shown.joined(separator: " "), toShow: position == 0 ? 2 * own : 0)
      rows.append((paint(graph) + "  " + line).trimmedAtEnd)
    }
    var last: String?
    for row in turn(own, into: parents).map({ cut($0) }) {
      // Of what goes on beyond the room one row is enough.
      if row != last || !row.hasSuffix("…") { rows.append(paint(row)) }
      last = row
    }
    return rows.map { $0 + "\n" }.joined()
  }

  /// A row of the graph where it is wider than its room: its beginning, and the sign at that place.
  private func cut(_ row: String, toShow place: Int = 0) -> String {
    guard let room, row.count > room else { return row }
    let isHidden = place >= room - 1
    return row.prefix(room - (isHidden ? 2 : 1)) + (isHidden ? "…*" : "…")
  }

  private static func blank(_ column: Int, in signs: [String]) -> [String] {
    var signs = signs
    signs[column] = " "
    return signs
  }

  /// Replaces a column by those of the parents; returns the rows that show it.
  private mutating func turn(_ own: Int, into parents: [ObjectID]) -> [String] {
    var rows: [String] = []
    guard let first = parents.first else {
      columns.remove(at: own)
      if own < columns.count { rows.append(shift(from: own + 1, count: columns.count + 1)) }
      return rows
    }
    columns[own] = first
    for (position, parent) in parents.dropFirst().enumerated() {
      rows.append(branch(at: own + position))
      columns.insert(parent, at: own + position + 1)
    }
    while let (left, right) = twins {
      rows.append(join(right, to: left))
      columns.remove(at: right)
    }
    return rows
  }

  /// The first two columns that wait for one version.
  private var twins: (Int, Int)? {
    for right in columns.indices {
      if let left = columns[..<right].firstIndex(of: columns[right]) { return (left, right) }
    }
    return nil
  }

  private func branch(at column: Int) -> String {
    columns.indices.map { $0 < column ? "| " : $0 == column ? "|\\" : " \\" }.joined()
  }

  private func shift(from first: Int, count: Int) -> String {
    (0..<count).map { $0 < first - 1 ? "| " : $0 == first - 1 ? " " : "/ " }.joined()
      .trimmedAtEnd
  }

  private func join(_ right: Int, to left: Int) -> String {
    var row = ""
    for column in columns.indices {
      if column < right {
        row += "|"
        row += column == right - 1 ? "/" : column >= left ? "_" : " "
      } else {
        row += column == right ? "" : column == right + 1 ? " /" : " /"
      }
    }
    return row.trimmedAtEnd
  }

  private func paint(_ signs: String) -> String { terminal.paint(signs, .blue) }
}

extension String {
  /// The text without spaces at its end.
  var trimmedAtEnd: String {
    var text = self
    while text.last == " " { text.removeLast() }
    return text
  }
}
