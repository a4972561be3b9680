/// How two texts differ, word by word, as a person reads it: notes-diff(1).
///
/// Lines are matched first, as in a merge; where lines stand in the place of others, their words are
/// matched, unless hardly any are left.
public struct WordDiff: Sendable {
  /// A run of bytes of one row.
  public struct Piece: Hashable, Sendable {
    /// Bytes of both texts, only the old one or only the new one.
    public enum Kind: Hashable, Sendable { case same, removed, added }
    /// Which of the texts have them.
    public let kind: Kind
    /// The bytes: of one line, without its newline.
    public let bytes: ArraySlice<UInt8>

    init(kind: Kind, bytes: ArraySlice<UInt8>) { (self.kind, self.bytes) = (kind, bytes) }

    init(kind: Kind, bytes: [UInt8]) { self.init(kind: kind, bytes: bytes[...]) }
  }

  /// A line as it is shown, without its newline.
  public struct Row: Hashable, Sendable {
    /// The change of a line.
    public enum Kind: Hashable, Sendable {
      case context
      /// A whole line that went, or came.
      case removed, added
      /// A line in which words changed.
      case changed
    }
    /// The change of the line.
    public let kind: Kind
    /// The pieces of the row, from left to right.
    public let pieces: [Piece]
  }

  /// Rows that stand together.
  public struct Group: Sendable {
    /// The number of its first line in the new text, from 1.
    public let firstLine: Int
    /// The rows, from top to bottom.
    public let rows: [Row]
  }

  /// The changed rows with those around them; empty for equal texts.
  public let groups: [Group]
  /// How many lines were added.
  public let added: Int
  /// How many lines were removed.
  public let removed: Int
  /// Whether either side holds a NUL byte and is no text; there are no groups then.
  public let isBinary: Bool

  /// Compares two texts, to show each change with so many unchanged lines around it.
  public init(from old: [UInt8], to new: [UInt8], context: Int = 2) {
    let lines = LineDiff(from: old, to: new, context: context)
    (added, removed, isBinary) = (lines.added, lines.removed, lines.isBinary)
    groups = lines.hunks.map { hunk in
      Group(firstLine: hunk.new.lowerBound + 1, rows: Self.rows(of: hunk.lines))
    }
  }

  /// Two texts in pieces, whose bytes are the whole texts: what the other one has, too, is `same`. Texts
  /// that have little in common are one piece each, as are large ones.
  public static func sides(
    _ old: [UInt8], _ new: [UInt8]
  ) -> (old: [Piece], new: [Piece]) {
    let pieces =
      old.count + new.count > mostBytes ? [] : WordMatching.pieces(from: old, to: new)
    guard isReadable(pieces) else {
      return ([Piece(kind: .removed, bytes: old)], [Piece(kind: .added, bytes: new)])
    }
    return (pieces.filter { $0.kind != .added }, pieces.filter { $0.kind != .removed })
  }

  private static func rows(of lines: [LineDiff.Line]) -> [Row] {
    var rows: [Row] = []
    var position = 0
    func run(_ kind: LineDiff.Line.Kind) -> [LineDiff.Line] {
      let run = lines[position...].prefix { $0.kind == kind }
      position += run.count
      return Array(run)
    }
    while position < lines.count {
      rows += run(.context).map {
        Row(kind: .context, pieces: [Piece(kind: .same, bytes: $0.slice)])
      }
      let removed = run(.removed)
      let added = run(.added)
      rows += replaced(removed, by: added)
    }
    return rows
  }

  /// More bytes than this, of the lines that went and of those that came, are compared by lines only, as
  /// in a merge: notes-merge(7), "Words".
  static let mostBytes = 1 << 20

  private static func replaced(_ removed: [LineDiff.Line], by added: [LineDiff.Line]) -> [Row] {
    let isLarge = [removed, added].contains { lines in
      lines.reduce(0) { $0 + $1.slice.count + 1 } > mostBytes
    }
    if removed.isEmpty || added.isEmpty || isLarge { return whole(removed, added) }
    let old = Array(removed.map(\.bytes).joined(separator: [UInt8(ascii: "\n")]))
    let new = Array(added.map(\.bytes).joined(separator: [UInt8(ascii: "\n")]))
    // Nothing but the newline at the end of the file came or went.
    if old == new { return whole(removed, added) }
    let byLines = paired(removed, added)
    let flowing = WordMatching.pieces(from: old, to: new)
    // Lines that were broken anew are compared as one text, all others line by line.
    let kept = byLines.reduce(0) { $0 + letters(.same, in: $1.pieces) }
    if 3 * letters(.same, in: flowing) > 4 * kept, isReadable(flowing) { return rows(of: flowing) }
    return byLines
  }

  private static func whole(_ removed: [LineDiff.Line], _ added: [LineDiff.Line]) -> [Row] {
    removed.map { Row(kind: .removed, pieces: [Piece(kind: .removed, bytes: $0.slice)]) }
      + added.map { Row(kind: .added, pieces: [Piece(kind: .added, bytes: $0.slice)]) }
  }

  /// More pairs of lines than this are not compared; the lines are paired in order.
  private static let mostPairs = 2_500

  /// The lines that went and those that came, those that have the most words in common as one.
  private static func paired(_ removed: [LineDiff.Line], _ added: [LineDiff.Line]) -> [Row] {
    guard removed.count * added.count <= mostPairs else { return whole(removed, added) }
    let pairs = removed.map { old in
      added.map { new -> (score: Int, pieces: [Piece]) in
        let pieces = WordMatching.pieces(from: old.bytes, to: new.bytes)
        return (isReadable(pieces) ? letters(.same, in: pieces) : 0, pieces)
      }
    }
    // The best pairing that keeps the order: best[i][j] is what the lines from i and j on can have.
    var best = Array(
      repeating: Array(repeating: 0, count: added.count + 1), count: removed.count + 1)
    for i in removed.indices.reversed() {
      for j in added.indices.reversed() {
        let score = pairs[i][j].score
        best[i][j] = max(best[i + 1][j], best[i][j + 1], score > 0 ? score + best[i + 1][j + 1] : 0)
      }
    }
    var rows: [Row] = []
    var (i, j) = (0, 0)
    while i < removed.count || j < added.count {
      if i < removed.count, j < added.count, pairs[i][j].score > 0,
        best[i][j] == pairs[i][j].score + best[i + 1][j + 1]
      {
        rows.append(Row(kind: .changed, pieces: pairs[i][j].pieces))
        (i, j) = (i + 1, j + 1)
      } else if i < removed.count, j == added.count || best[i][j] == best[i + 1][j] {
        rows += whole([removed[i]], [])
        i += 1
      } else {
        rows += whole([], [added[j]])
        j += 1
      }
    }
    return rows
  }

  private static func letters(_ kind: Piece.Kind, in pieces: [Piece]) -> Int {
    pieces.reduce(0) { $0 + ($1.kind == kind ? $1.bytes.count { $0 > 0x20 } : 0) }
  }

  /// Whether enough is left to read the change as one: a third of the letters.
  private static func isReadable(_ pieces: [Piece]) -> Bool {
    let same = letters(.same, in: pieces)
    let changed = max(letters(.removed, in: pieces), letters(.added, in: pieces))
    return same > 0 && 2 * same >= changed
  }

  private static func rows(of pieces: [Piece]) -> [Row] {
    var rows: [Row] = []
    var row: [Piece] = []
    func end() {
      let kinds = Set(row.map(\.kind))
      let kind: Row.Kind =
        switch kinds {
        case [.removed]: .removed
        case [.added]: .added
        case [.same], []: .context
        default: .changed
        }
      rows.append(Row(kind: kind, pieces: row))
      row = []
    }
    for piece in pieces {
      let parts = piece.bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      for (position, part) in parts.enumerated() {
        if !part.isEmpty { row.append(Piece(kind: piece.kind, bytes: Array(part))) }
        if position < parts.count - 1 { end() }
      }
    }
    if !row.isEmpty { end() }
    return rows
  }
}
