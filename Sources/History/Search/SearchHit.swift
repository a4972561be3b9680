public import Git

/// A note that a search found.
public struct SearchHit: Sendable {
  /// How well it fits; the best comes first.
  public enum Rank: Comparable, Sendable {
    /// All texts stand in the title.
    case title
    /// Each text stands in the note as a word of its own.
    case words
    /// Some text is a part of longer words only.
    case parts
  }

  /// A note that held the texts, and holds them no more: the last version that did.
  public struct Former: Sendable {
    /// The last version of the note that holds them.
    public let version: ObjectID
    /// Whether the note is gone from the folder.
    public let isDeleted: Bool
  }

  /// The note's path; for a former hit the one it had then.
  public let path: TreePath
  /// How well it fits.
  public let rank: Rank
  /// When the file, or for a former hit the version, was written: seconds since 1970.
  public let modified: Int64
  /// The first matching lines and those around them, by number.
  public let lines: [SearchLine]
  /// How many lines match in all.
  public let matchingLineCount: Int
  /// Set for a note that once held the texts.
  public var former: Former?

  /// Present hits come before former ones; then by rank, the newest first, and by path.
  static func precedes(_ left: SearchHit, _ right: SearchHit) -> Bool {
    (left.former == nil ? 0 : 1, left.rank, right.modified, left.path)
      < (right.former == nil ? 0 : 1, right.rank, left.modified, right.path)
  }

  /// The parts of a text that fits.
  init(
    _ path: TreePath, _ text: SearchedText, modified: Int64, inTitle: [Bool],
    patterns: SearchPatterns
  ) {
    self.path = path
    self.modified = modified
    let isTitleHit = !inTitle.contains(false)
    guard !patterns.query.isTitleOnly else {
      (rank, lines, matchingLineCount) = (.title, [], 0)
      return
    }
    let found = patterns.matches(in: text, inTitle: inTitle)
    rank = isTitleHit ? .title : found.areWords ? .words : .parts
    (lines, matchingLineCount) = SearchLine.lines(
      of: text.bytes, matching: found.ranges, limit: patterns.query.lineLimit,
      context: patterns.query.context)
  }
}
