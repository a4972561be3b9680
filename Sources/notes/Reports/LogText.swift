internal import Exchange
internal import Git
internal import History
internal import Notebook

/// The versions that pass the filter, combined into bursts if requested, and read one by one.
struct LogEntries {
  let walk: VersionWalk
  /// A part of an author's name; nil for all authors.
  let author: String?
  private let proofs: VersionProofs
  let showsAll: Bool
  let folds: Bool
  /// The repository with the versions, if they are those of one note.
  let oneNoteIn: Repository?
  /// The largest number of entries.
  private let limit: Int

  private(set) var otherAuthors: Set<String> = []
  private var pending: Version?

  init(
    walk: VersionWalk, _ proofs: VersionProofs, author: String? = nil, showsAll: Bool, folds: Bool,
    oneNoteIn: Repository? = nil, limit: Int = .max
  ) {
    self.proofs = proofs
    (self.walk, self.author, self.showsAll, self.folds) = (walk, author, showsAll, folds)
    (self.oneNoteIn, self.limit) = (oneNoteIn, limit)
  }

  /// Calls `body` with each entry; ends early if nobody reads the output any longer.
  mutating func forEach(_ body: (Burst) throws -> Void) throws {
    for _ in 0..<limit {
      guard !Output.standard.isClosed, let burst = try next() else { return }
      try body(burst)
    }
  }

  mutating func next() throws -> Burst? {
    let first = try pending ?? nextVersion()
    pending = nil
    guard let first else { return nil }
    var burst = Burst(first, ofOneNoteIn: oneNoteIn)
    while folds, let older = try nextVersion() {
      if try !burst.take(older) {
        pending = older
        break
      }
    }
    return burst
  }

  private mutating func nextVersion() throws -> Version? {
    while let version = try walk.next() {
      if version.isDerived, !showsAll,
        try !VersionReport.settledSomething(version, proofs)
      {
        continue
      }
      if let author {
        let name = try proofs.author(of: version.commit).name
        if !name.lowercased().contains(author.lowercased()) {
          if !version.isDerived { otherAuthors.insert(name) }
          continue
        }
      }
      return version
    }
    return nil
  }
}

struct LogText {
  let notebook: Notebook
  let style: VersionReport.Style
  var showsPatch = false
  var graph: GraphLines?
  /// The parents in the graph, if they differ from the versions' own.
  var parents: [ObjectID: [ObjectID]]?
  var isFirst = true
  private let proofs: VersionProofs

  init(
    notebook: Notebook, style: VersionReport.Style, showsPatch: Bool = false,
    graph: GraphLines? = nil, parents: [ObjectID: [ObjectID]]? = nil, proofs: VersionProofs
  ) {
    (self.notebook, self.style, self.showsPatch) = (notebook, style, showsPatch)
    (self.graph, self.parents) = (graph, parents)
    self.proofs = proofs
  }

  mutating func entry(_ burst: Burst) throws -> String {
    let commit = burst.newest.commit
    let report = try VersionReport(burst, in: notebook, lineCounts: VersionReport.mostFiles, proofs)
    var here = style
    if let graph { here.terminal.narrow(by: graph.width(beside: commit.id)) }
    var text = report.text(in: here)
    if showsPatch { text += try report.patch(in: notebook, on: here.terminal) }
    defer { isFirst = false }
    let shown = parents.map { $0[commit.id] ?? [] } ?? commit.parents
    return graph?.text(text, of: commit.id, parents: shown) ?? (isFirst ? "" : "\n") + text
  }
}

/// Lines beside the log's entries that show which version was made on top of which. A column waits for a
/// version that has not been shown yet. Each entry takes the column that waits for it and opens a column for
/// each parent. Columns that wait for the same version are merged.
struct GraphLines {
  let terminal: Terminal
  private var columns: [ObjectID] = []

  init(terminal: Terminal) { self.terminal = terminal }

  func width(beside id: ObjectID) -> Int {
    let count = columns.contains(id) ? columns.count : columns.count + 1
    return min(2 * count - 1, room ?? .max) + 2
  }

  /// The minimum width of an entry, in columns of the terminal.
  private static let leastText = 30
  /// The graph uses at most half of the terminal's columns; the rest is cut.
  private var room: Int? { terminal.width.map { max(3, min($0 / 2, $0 - Self.leastText - 2)) } }

  mutating func text(_ entry: String, of id: ObjectID, parents: [ObjectID]) -> String {
    let own = columns.firstIndex(of: id) ?? columns.count
    if own == columns.count { columns.append(id) }
    var rows: [String] = []
    let lines = entry.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    for (position, line) in lines.enumerated() {
      // The column of a version without parents ends below it.
      let ownSign = position == 0 ? "*" : parents.isEmpty ? " " : "|"
      let signs = columns.indices.map { $0 == own ? ownSign : "|" }.joined(separator: " ")
      let graph = cut(signs, toShow: position == 0 ? 2 * own : 0)
      rows.append((paint(graph) + "  " + line).trimmedAtEnd)
    }
    var last: String?
    for row in turn(own, into: parents).map({ cut($0.trimmedAtEnd) }) {
      // One row is enough for changes to the right of the cut.
      if row != last || !row.hasSuffix("…") { rows.append(paint(row)) }
      last = row
    }
    return rows.map { $0 + "\n" }.joined()
  }

  /// A row of the graph; if it is too wide, its beginning and the sign at `place`.
  private func cut(_ row: String, toShow place: Int = 0) -> String {
    guard let room, row.count > room else { return row }
    let isHidden = place >= room - 1
    return row.prefix(room - (isHidden ? 2 : 1)) + (isHidden ? "…*" : "…")
  }

  /// Replaces a column by the columns of the parents, and returns the rows that show this.
  private mutating func turn(_ own: Int, into parents: [ObjectID]) -> [String] {
    guard let first = parents.first else {
      columns.remove(at: own)
      return own < columns.count ? [row { $0 < own ? "| " : $0 == own ? " " : "/ " } + "/ "] : []
    }
    var rows: [String] = []
    columns[own] = first
    for (position, parent) in parents.dropFirst().enumerated() {
      let column = own + position
      rows.append(row { $0 < column ? "| " : $0 == column ? "|\\" : " \\" })
      columns.insert(parent, at: column + 1)
    }
    while let (left, right) = twins {
      rows.append(
        row { column in
          if column == right { return "" }
          if column > right { return " /" }
          return column == right - 1 ? "|/" : column >= left ? "|_" : "| "
        })
      columns.remove(at: right)
    }
    return rows
  }

  private func row(_ sign: (Int) -> String) -> String { columns.indices.map(sign).joined() }

  private var twins: (Int, Int)? {
    for right in columns.indices {
      if let left = columns[..<right].firstIndex(of: columns[right]) { return (left, right) }
    }
    return nil
  }

  private func paint(_ signs: String) -> String { terminal.paint(signs, .blue) }
}
