public import Git

/// A note that a search found.
public struct SearchHit: Sendable {
  /// How well it fits; the best comes first.
  public enum Rank: Int, Comparable, Sendable {
    /// All texts stand in the title.
    case title
    /// Each text stands in the note as a word of its own.
    case words
    /// Some text is a part of longer words only.
    case parts

    public static func < (left: Rank, right: Rank) -> Bool { left.rawValue < right.rawValue }
  }

  /// Where a note that does not hold the texts any more held them last.
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

  /// What is found now before what was; then by rank, the newest first, and by path.
  static func precedes(_ left: SearchHit, _ right: SearchHit) -> Bool {
    let isFormer = (left.former != nil, right.former != nil)
    if isFormer.0 != isFormer.1 { return isFormer.1 }
    if left.rank != right.rank { return left.rank < right.rank }
    if left.modified != right.modified { return left.modified > right.modified }
    return left.path < right.path
  }
}
