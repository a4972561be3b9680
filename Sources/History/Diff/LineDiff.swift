internal import Merge
internal import System

// `LineDiff` has hunks of its own.
private typealias MatchedRun = Hunk

/// The lines that two texts differ in, as a unified diff shows them. They are matched as in a merge
/// (notes-merge(7)), so that a diff shows what a merge would see.
public struct LineDiff: Sendable {
  /// A line of a hunk.
  public struct Line: Hashable, Sendable {
    /// A line of both texts, only the old one or only the new one.
    public enum Kind: Hashable, Sendable { case context, removed, added }
    /// Which of the texts have it.
    public let kind: Kind
    /// The line's bytes without its newline: a part of the text, which may be large.
    public let slice: ArraySlice<UInt8>
    /// The same, on its own.
    public var bytes: [UInt8] { Array(slice) }
    /// False for a last line that the file does not end with a newline.
    public let hasNewline: Bool
  }

  /// A run of changed lines with its context.
  public struct Hunk: Hashable, Sendable {
    /// Which lines of the old text it covers, counted from 0.
    public let old: Range<Int>
    /// Which lines of the new text it covers, counted from 0.
    public let new: Range<Int>
    /// The lines in the order they are shown: context, removed and added ones.
    public let lines: [Line]
  }

  /// The runs of changed lines, in the order of the texts; empty for equal ones.
  public let hunks: [Hunk]
  /// How many lines were added.
  public let added: Int
  /// How many lines were removed.
  public let removed: Int
  /// Whether either side holds a NUL byte and is no text; there are no hunks then.
  public let isBinary: Bool

  /// Two texts with more newlines together are not compared where nobody has asked for their differences.
  static let mostNewlines = 1 << 18

  /// Whether two texts have more lines than a list of versions counts: notes-log(1).
  public static func hasTooManyLines(_ old: [UInt8], _ new: [UInt8]) -> Bool {
    [old, new].reduce(0) { sum, text in sum + text.count { $0 == UInt8(ascii: "\n") } }
      > mostNewlines
  }

  /// Compares two texts, to show each change with so many unchanged lines around it.
  public init(from old: [UInt8], to new: [UInt8], context: Int = 3) {
    isBinary = old.firstIndex(of: 0, from: 0) != nil || new.firstIndex(of: 0, from: 0) != nil
    guard !isBinary, old != new else {
      (hunks, added, removed) = ([], 0, 0)
      return
    }
    let oldLines = Self.split(old)
    let newLines = Self.split(new)
    var table = LineTable()
    // A line with and one without its newline differ, as for git and patch.
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
