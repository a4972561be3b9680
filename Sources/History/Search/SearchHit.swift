public import Git

/// A note that a search found.
public struct SearchHit: Sendable {
  /// How well a note matches; the best comes first.
  public enum Rank: Comparable, Sendable {
    /// All terms are in the title.
    case title
    /// Each term is in the note as a whole word.
    case words
    /// Some term is only a part of longer words.
    case parts
  }

  /// A note that matched in the past: its last matching version.
  public struct Former: Sendable {
    /// The last version of the note that matches.
    public let version: ObjectID
    /// Whether the note was deleted from the folder.
    public let isDeleted: Bool
  }

  /// The note's path; for a former match, its path in that version.
  public let path: TreePath
  /// How well the note matches.
  public let rank: Rank
  /// When the file, or for a former match the version, was written: in seconds since 1970.
  public let modified: Int64
  /// The first matching lines and their context, by number.
  public let lines: [SearchLine]
  /// The number of all matching lines.
  public let matchingLineCount: Int
  /// Set for a note that matched in the past.
  public var former: Former?

  /// Present matches come before former ones; then the order is by rank, newest first, and by path.
  static func precedes(_ left: SearchHit, _ right: SearchHit) -> Bool {
    (left.former == nil ? 0 : 1, left.rank, right.modified, left.path)
      < (right.former == nil ? 0 : 1, right.rank, left.modified, right.path)
  }

  /// A match made from the parts of a matching text.
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
