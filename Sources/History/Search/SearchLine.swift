internal import Glibc

/// A line of a note that a search found.
public struct SearchLine: Sendable {
  /// The longest line that is told in full, in bytes; of a longer one what is around its first
  /// match.
  static let sizeLimit = 4_000

  /// Its number, from 1 on.
  public let number: Int
  /// Its bytes without the line's end.
  public let bytes: [UInt8]
  /// Where the matches are in `bytes`, by place, apart from each other and not empty; none in a line
  /// of context.
  public let matches: [Range<Int>]
  /// Whether it holds a match, which may be an empty one.
  public let isMatch: Bool
}

/// Which lines of a text hold matches.
struct MatchingLines {
  private struct Line {
    let range: Range<Int>
    var matches: [Range<Int>]
  }

  private let text: UnsafeRawBufferPointer
  /// The first lines that hold matches, as many as are told.
  private var first: [Line] = []
  /// How many lines hold a match in all.
  private(set) var count = 0

  /// - Parameter ranges: the matches, by place.
  init(of text: UnsafeRawBufferPointer, _ ranges: [Range<Int>], limit: Int) {
    self.text = text
    var end = -1
    for range in ranges {
      if range.lowerBound > end {
        count += 1
        end = text.lineEnd(from: range.lowerBound)
        if count <= limit {
          first.append(Line(range: text.lineStart(of: range.lowerBound)..<end, matches: []))
        }
      }
      if count <= limit { first[count - 1].matches.append(range) }
    }
  }

  /// The lines to tell, with so many lines of context before and after each.
  func lines(context: Int) -> [SearchLine] {
    var lines: [SearchLine] = []
    // Where the first line is that was not told yet, and what its number is.
    var place = (offset: 0, number: 1)
    func add(_ range: Range<Int>, _ matches: [Range<Int>]?) {
      let number = place.number + text.lineEnds(in: place.offset..<range.lowerBound)
      lines.append(SearchLine(number: number, range: range, of: text, matches: matches))
      place = (min(range.upperBound + 1, text.count), number + 1)
    }
    for (position, line) in first.enumerated() {
      var before: [Range<Int>] = []
      var start = line.range.lowerBound
      while before.count < context, start > place.offset {
        let former = text.lineStart(of: start - 1)
        before.append(former..<(start - 1))
        start = former
      }
      for range in before.reversed() { add(range, nil) }
      add(line.range, line.matches)
      let next = position + 1 < first.count ? first[position + 1].range.lowerBound : text.count
      for _ in 0..<context where place.offset < next {
        add(place.offset..<text.lineEnd(from: place.offset), nil)
      }
    }
    return lines
  }
}

extension SearchLine {
  /// A line with the matches in it; nil for one of context.
  fileprivate init(
    number: Int, range: Range<Int>, of text: UnsafeRawBufferPointer, matches: [Range<Int>]?
  ) {
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
    self.init(
      number: number, bytes: Array(text[kept]), matches: apart, isMatch: matches != nil)
  }
}

extension UnsafeRawBufferPointer {
  /// Where the line that `offset` is in starts.
  fileprivate func lineStart(of offset: Int) -> Int {
    var start = offset
    while start > 0, self[start - 1] != UInt8(ascii: "\n") { start -= 1 }
    return start
  }

  /// Where the next line end is, or the end of the text.
  fileprivate func lineEnd(from offset: Int) -> Int {
    guard let base = baseAddress, offset < count else { return count }
    let found = memchr(base + offset, Int32(UInt8(ascii: "\n")), count - offset)
    return found.map { UnsafeRawPointer($0) - base } ?? count
  }

  /// The offset, or the next one where a character of UTF-8 starts.
  fileprivate func characterStart(at offset: Int) -> Int {
    var start = offset
    while start < count, start < offset + 3, self[start] & 0xC0 == 0x80 { start += 1 }
    return start
  }

  /// How many lines end in that range.
  fileprivate func lineEnds(in range: Range<Int>) -> Int {
    var ends = 0
    for offset in range where self[offset] == UInt8(ascii: "\n") { ends += 1 }
    return ends
  }
}
