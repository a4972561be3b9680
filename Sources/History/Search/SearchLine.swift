internal import System

/// A line of a note that a search found.
public struct SearchLine: Sendable {
  /// The longest line that is told in full, in bytes; of a longer one what is around its first
  /// match.
  static let sizeLimit = 4_000

  /// Its number, from 1 on.
  public let number: Int
  /// Its bytes without the line's end.
  public let bytes: [UInt8]
  /// The places of the matches in `bytes`, in order, apart from each other and not empty; none in a line of
  /// context.
  public let matches: [Range<Int>]
  /// Whether it holds a match, which may be an empty one.
  public let isMatch: Bool
}

extension SearchLine {
  /// The first lines of a text that hold matches, which come by place, each with so many lines
  /// before and after it; and how many hold one in all.
  static func lines(
    of text: [UInt8], matching ranges: [Range<Int>], limit: Int, context: Int
  ) -> (lines: [SearchLine], count: Int) {
    var lines: [Range<Int>] = []
    var start = 0
    while let end = text.firstIndex(of: UInt8(ascii: "\n"), from: start) {
      lines.append(start..<end)
      start = end + 1
    }
    // Behind the last newline only an empty match makes a line.
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

  /// A line with the matches in it; nil for one of context.
  private init(number: Int, range: Range<Int>, of text: [UInt8], matches: [Range<Int>]?) {
    var kept = range
    if kept.count > Self.sizeLimit {
      // A quarter of what is told stands before the match.
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
  /// The offset, or the next one where a character of UTF-8 starts.
  fileprivate func characterStart(at offset: Int) -> Int {
    var start = offset
    while start < count, start < offset + 3, self[start] & 0xC0 == 0x80 { start += 1 }
    return start
  }
}
