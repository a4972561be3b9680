internal import System

/// A line of a note that a search found.
public struct SearchLine: Sendable {
  /// The longest line that is shown in full, in bytes; of a longer line, the part around its first
  /// match is shown.
  static let sizeLimit = 4_000

  /// The line's number, counted from 1.
  public let number: Int
  /// The line's bytes without the newline.
  public let bytes: [UInt8]
  /// The ranges of the matches in `bytes`, in order, not overlapping and not empty; none in a line of
  /// context.
  public let matches: [Range<Int>]
  /// Whether the line has a match, which may be empty.
  public let isMatch: Bool
}

extension SearchLine {
  /// The first lines of a text that have matches, with `context` lines before and after each; and
  /// the number of all lines with a match. `ranges` are in order.
  static func lines(
    of text: [UInt8], matching ranges: [Range<Int>], limit: Int, context: Int
  ) -> (lines: [SearchLine], count: Int) {
    var lines: [Range<Int>] = []
    var start = 0
    while let end = text.firstIndex(of: UInt8(ascii: "\n"), from: start) {
      lines.append(start..<end)
      start = end + 1
    }
    // After the last newline, only an empty match counts as a line.
    let end = start == text.count && start > 0 ? lines.count : lines.count + 1
    lines.append(start..<text.count)
    var matches: [Int: [Range<Int>]] = [:]
    var count = 0
    var (line, last) = (0, -1)
    for range in ranges {
      while lines[line].upperBound < range.lowerBound { line += 1 }
      if line > last { count += 1 }
      last = line
      if count <= limit { matches[line, default: []].append(range) }
    }
    var told = Set(matches.keys)
    for line in matches.keys {
      told.formUnion(max(0, line - context)..<min(end, line + min(context, end) + 1))
    }
    let found = told.sorted().map { line in
      SearchLine(number: line + 1, range: lines[line], of: text, matches: matches[line])
    }
    return (found, count)
  }

  /// A line with its matches; nil for a line of context.
  private init(number: Int, range: Range<Int>, of text: [UInt8], matches: [Range<Int>]?) {
    var kept = range
    if kept.count > Self.sizeLimit {
      // A quarter of the shown part is before the match.
      let first = matches?.first?.lowerBound ?? range.lowerBound
      let start = max(range.lowerBound, first - Self.sizeLimit / 4)
      let end = min(range.upperBound, start + Self.sizeLimit)
      kept = text.characterStart(at: start)..<text.characterStart(at: end)
    }
    if kept.upperBound == range.upperBound, !kept.isEmpty,
      text[kept.upperBound - 1] == UInt8(ascii: "\r")
    {
      kept = kept.lowerBound..<(kept.upperBound - 1)
    }
    var apart: [Range<Int>] = []
    for match in matches ?? [] {
      let cut = match.clamped(to: kept)
      guard !cut.isEmpty else { continue }
      let moved = (cut.lowerBound - kept.lowerBound)..<(cut.upperBound - kept.lowerBound)
      if let last = apart.last, moved.lowerBound <= last.upperBound {
        apart[apart.count - 1] = last.lowerBound..<max(last.upperBound, moved.upperBound)
      } else {
        apart.append(moved)
      }
    }
    self.init(number: number, bytes: Array(text[kept]), matches: apart, isMatch: matches != nil)
  }
}

extension [UInt8] {
  /// The offset, or the next one at which a UTF-8 character starts.
  fileprivate func characterStart(at offset: Int) -> Int {
    var start = offset
    while start < count, start < offset + 3, self[start] & 0xC0 == 0x80 { start += 1 }
    return start
  }
}
