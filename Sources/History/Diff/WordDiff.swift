/// The differences between two texts, word by word, for people to read: notes-diff(1).
///
/// Lines are matched first, as in a merge. If lines replace others, their words are matched, unless
/// hardly any words are kept.
public struct WordDiff: Sendable {
  /// A run of bytes of one row.
  public struct Piece: Hashable, Sendable {
    /// Whether the bytes are in both texts, only in the old one, or only in the new one.
    public enum Kind: Hashable, Sendable { case same, removed, added }
    /// The texts that have the bytes.
    public let kind: Kind
    /// The bytes: of one line, without its newline.
    public let bytes: ArraySlice<UInt8>

    init(kind: Kind, bytes: ArraySlice<UInt8>) { (self.kind, self.bytes) = (kind, bytes) }

    init(kind: Kind, bytes: [UInt8]) { self.init(kind: kind, bytes: bytes[...]) }
  }

  /// A line of the output, without its newline.
  public struct Row: Hashable, Sendable {
    /// The kind of change of a line.
    public enum Kind: Hashable, Sendable {
      case context
      /// A whole line that was removed or added.
      case removed, added
      /// A line with changed words.
      case changed
    }
    /// The kind of change of the line.
    public let kind: Kind
    /// The pieces of the row, from left to right.
    public let pieces: [Piece]
  }

  /// Rows next to each other.
  public struct Group: Sendable {
    /// The number of its first line in the new text, from 1.
    public let firstLine: Int
    /// The rows, from top to bottom.
    public let rows: [Row]
  }

  /// The changed rows with their context; empty for equal texts.
  public let groups: [Group]
  /// How many lines were added.
  public let added: Int
  /// How many lines were removed.
  public let removed: Int
  /// Whether one of the texts has a NUL byte, and so is not text; then there are no groups.
  public let isBinary: Bool

  /// Compares two texts.
  ///
  /// - Parameter context: how many unchanged lines to show around each change.
  public init(from old: [UInt8], to new: [UInt8], context: Int = 2) {
    let lines = LineDiff(from: old, to: new, context: context)
    (added, removed, isBinary) = (lines.added, lines.removed, lines.isBinary)
    groups = lines.hunks.map { hunk in
      Group(firstLine: hunk.new.lowerBound + 1, rows: Self.rows(of: hunk.lines))
    }
  }

  /// Two texts in pieces that together are the whole texts: pieces that both texts have are `same`.
  /// Texts with little in common are one piece each, and so are large ones.
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

  /// If removed and added lines together have more bytes than this, they are compared only by lines, as
  /// in a merge: notes-merge(7), "Words".
  static let mostBytes = 1 << 20

  private static func replaced(_ removed: [LineDiff.Line], by added: [LineDiff.Line]) -> [Row] {
    let isLarge = [removed, added].contains { lines in
      lines.reduce(0) { $0 + $1.slice.count + 1 } > mostBytes
    }
    if removed.isEmpty || added.isEmpty || isLarge { return whole(removed, added) }
    let old = Array(removed.map(\.bytes).joined(separator: [UInt8(ascii: "\n")]))
    let new = Array(added.map(\.bytes).joined(separator: [UInt8(ascii: "\n")]))
    // Only the newline at the end of the file was removed or added.
    if old == new { return whole(removed, added) }
    let byLines = paired(removed, added)
    let flowing = WordMatching.pieces(from: old, to: new)
    // Compare the lines as one text if that keeps clearly more: their line breaks changed. Otherwise compare line by
    // line.
    let kept = byLines.reduce(0) { $0 + letters(.same, in: $1.pieces) }
    if 3 * letters(.same, in: flowing) > 4 * kept, isReadable(flowing) { return rows(of: flowing) }
    return byLines
  }

  private static func whole(_ removed: [LineDiff.Line], _ added: [LineDiff.Line]) -> [Row] {
    removed.map { Row(kind: .removed, pieces: [Piece(kind: .removed, bytes: $0.slice)]) }
      + added.map { Row(kind: .added, pieces: [Piece(kind: .added, bytes: $0.slice)]) }
  }

  /// With more pairs of lines than this, the lines are paired in order without a comparison.
  private static let mostPairs = 2_500

  /// The removed and added lines; lines that have the most words in common become one row.
  private static func paired(_ removed: [LineDiff.Line], _ added: [LineDiff.Line]) -> [Row] {
    guard removed.count * added.count <= mostPairs else { return whole(removed, added) }
    let pairs = removed.map { old in
      added.map { new -> (score: Int, pieces: [Piece]) in
        let pieces = WordMatching.pieces(from: old.bytes, to: new.bytes)
        return (isReadable(pieces) ? letters(.same, in: pieces) : 0, pieces)
      }
    }
    // The best pairing in order: best[i][j] is the best score for the lines from i and j on.
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

  /// Whether enough is unchanged for a readable combined line: a third of the letters.
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
