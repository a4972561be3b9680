internal import Merge
internal import System

// `LineDiff` has its own type `Hunk`.
private typealias MatchedRun = Hunk

/// The lines in which two texts differ, as in a unified diff. They are matched as in a merge
/// (notes-merge(7)), so a diff shows the changes that a merge would find.
public struct LineDiff: Sendable {
  /// A line of a hunk.
  public struct Line: Hashable, Sendable {
    /// Whether the line is in both texts, only in the old one, or only in the new one.
    public enum Kind: Hashable, Sendable { case context, removed, added }
    /// The texts that have the line.
    public let kind: Kind
    /// The line's bytes without its newline: a part of the text, which may be large.
    public let slice: ArraySlice<UInt8>
    /// A copy of the line's bytes.
    public var bytes: [UInt8] { Array(slice) }
    /// False for a last line without a newline at its end.
    public let hasNewline: Bool
  }

  /// A run of changed lines with its context.
  public struct Hunk: Hashable, Sendable {
    /// The range of lines in the old text, counted from 0.
    public let old: Range<Int>
    /// The range of lines in the new text, counted from 0.
    public let new: Range<Int>
    /// The lines in the order of the diff: context, removed and added ones.
    public let lines: [Line]
  }

  /// The runs of changed lines, in the order of the texts; empty for equal ones.
  public let hunks: [Hunk]
  /// How many lines were added.
  public let added: Int
  /// How many lines were removed.
  public let removed: Int
  /// Whether one of the texts has a NUL byte, and so is not text; then there are no hunks.
  public let isBinary: Bool

  /// The limit for comparing two texts without being asked to. If they together have more newlines, only a
  /// command that asks for their differences compares them.
  static let mostNewlines = 1 << 18

  /// Whether two texts have too many lines for a list of versions to count their changes:
  /// notes-log(1).
  public static func hasTooManyLines(_ old: [UInt8], _ new: [UInt8]) -> Bool {
    [old, new].reduce(0) { sum, text in sum + text.count { $0 == UInt8(ascii: "\n") } }
      > mostNewlines
  }

  /// Compares two texts.
  ///
  /// - Parameter context: how many unchanged lines to show around each change.
  public init(from old: [UInt8], to new: [UInt8], context: Int = 3) {
    isBinary = old.firstIndex(of: 0, from: 0) != nil || new.firstIndex(of: 0, from: 0) != nil
    guard !isBinary, old != new else {
      (hunks, added, removed) = ([], 0, 0)
      return
    }
    let oldLines = Self.split(old)
    let newLines = Self.split(new)
    var table = LineTable()
    // For git and patch, a last line with a newline differs from one without.
    let a = oldLines.map { table.number(of: $0) }
    let b = newLines.map { table.number(of: $0) }
    let changes = LineMatching.hunks(from: a, to: b)
    added = changes.reduce(0) { $0 + $1.b.count }
    removed = changes.reduce(0) { $0 + $1.a.count }
    hunks = Self.grouped(changes, context: context).map { group in
      Self.hunk(group, context: context, old: oldLines, new: newLines)
    }
  }

  private static func grouped(_ changes: [MatchedRun], context: Int) -> [[MatchedRun]] {
    var groups: [[MatchedRun]] = []
    for change in changes {
      if let last = groups.last?.last, change.a.lowerBound - last.a.upperBound <= 2 * context {
        groups[groups.count - 1].append(change)
      } else {
        groups.append([change])
      }
    }
    return groups
  }

  private static func hunk(
    _ changes: [MatchedRun], context: Int, old: [ArraySlice<UInt8>], new: [ArraySlice<UInt8>]
  ) -> Hunk {
    let first = changes[0]
    let last = changes[changes.count - 1]
    let before = min(context, first.a.lowerBound)
    let after = min(context, old.count - last.a.upperBound)
    var lines: [Line] = []
    func add(_ kind: Line.Kind, _ slices: ArraySlice<ArraySlice<UInt8>>) {
      for slice in slices {
        let hasNewline = slice.last == UInt8(ascii: "\n")
        lines.append(
          Line(
            kind: kind, slice: hasNewline ? slice.dropLast() : slice, hasNewline: hasNewline))
      }
    }
    var position = first.a.lowerBound - before
    for change in changes {
      add(.context, old[position..<change.a.lowerBound])
      add(.removed, old[change.a])
      add(.added, new[change.b])
      position = change.a.upperBound
    }
    add(.context, old[position..<(position + after)])
    return Hunk(
      old: (first.a.lowerBound - before)..<(last.a.upperBound + after),
      new: (first.b.lowerBound - before)..<(last.b.upperBound + after), lines: lines)
  }

  private static func split(_ text: [UInt8]) -> [ArraySlice<UInt8>] {
    var lines: [ArraySlice<UInt8>] = []
    var start = 0
    while let position = text.firstIndex(of: UInt8(ascii: "\n"), from: start) {
      lines.append(text[start...position])
      start = position + 1
    }
    if start < text.count { lines.append(text[start...]) }
    return lines
  }
}
