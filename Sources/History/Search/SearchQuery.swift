/// What to look for in notes (notes-search(1)).
public struct SearchQuery: Sendable {
  /// How the texts are read.
  public enum Syntax: Sendable {
    /// As they stand.
    case plain
    /// As POSIX extended regular expressions.
    case expression
  }

  /// Texts that a note must all hold, in its title or below it.
  public let terms: [String]
  /// How they are read.
  public let syntax: Syntax
  /// Whether upper and lower case differ.
  public let isCaseSensitive: Bool
  /// Whether only titles are looked at.
  public let isTitleOnly: Bool
  /// How many matching lines a hit tells.
  public let lineLimit: Int
  /// How many lines around each it tells.
  public let context: Int

  /// - Throws: `NotebookError.invalidExpression`.
  public init(
    _ terms: [String], syntax: Syntax = .plain, isCaseSensitive: Bool = false,
    isTitleOnly: Bool = false, lineLimit: Int = 3, context: Int = 0
  ) throws {
    self.terms = terms
    self.syntax = syntax
    self.isCaseSensitive = isCaseSensitive
    self.isTitleOnly = isTitleOnly
    self.lineLimit = lineLimit
    self.context = context
    _ = try SearchPatterns(self)
  }
}

/// A query made ready for one thread.
struct SearchPatterns {
  private enum Pattern {
    case literal(LiteralPattern)
    case expression(RegularExpression)

    func firstMatch(in text: UnsafeRawBufferPointer, from start: Int) -> Range<Int>? {
      switch self {
      case .literal(let pattern): pattern.firstMatch(in: text, from: start)
      case .expression(let pattern): pattern.firstMatch(in: text, from: start)
      }
    }
  }

  let query: SearchQuery
  private let patterns: [Pattern]

  init(_ query: SearchQuery) throws {
    self.query = query
    patterns = try query.terms.map { term in
      switch query.syntax {
      case .plain:
        .literal(LiteralPattern(term, isCaseSensitive: query.isCaseSensitive))
      case .expression:
        .expression(try RegularExpression(term, isCaseSensitive: query.isCaseSensitive))
      }
    }
  }

  /// Which of the terms a title holds.
  func termsFound(inTitle title: UnsafeRawBufferPointer) -> [Bool] {
    patterns.map { $0.firstMatch(in: title, from: 0) != nil }
  }

  /// Whether a text holds all the terms that the title lacks.
  func holdsRest(_ text: UnsafeRawBufferPointer, inTitle: [Bool]) -> Bool {
    for (pattern, isInTitle) in zip(patterns, inTitle) where !isInTitle {
      if pattern.firstMatch(in: text, from: 0) == nil { return false }
    }
    return true
  }

  /// All matches in a text, by place; those of several terms may overlap. Also whether each term
  /// stands in it, or in the title, as a word of its own.
  func matches(in text: UnsafeRawBufferPointer, inTitle: [Bool]) -> (
    ranges: [Range<Int>], areWords: Bool
  ) {
    var ranges: [Range<Int>] = []
    var areWords = true
    for (pattern, isInTitle) in zip(patterns, inTitle) {
      var isWord = isInTitle
      var start = 0
      while start <= text.count, let range = pattern.firstMatch(in: text, from: start) {
        ranges.append(range)
        isWord = isWord || text.isWord(range)
        start = max(range.upperBound, range.lowerBound + 1)
      }
      areWords = areWords && isWord
    }
    if patterns.count > 1 { ranges.sort { $0.lowerBound < $1.lowerBound } }
    return (ranges, areWords)
  }
}

extension UnsafeRawBufferPointer {
  /// Whether neither side of a range goes on with a letter or a digit. Bytes beyond ASCII are taken
  /// for letters.
  fileprivate func isWord(_ range: Range<Int>) -> Bool {
    func continues(_ index: Int) -> Bool {
      guard indices.contains(index) else { return false }
      switch self[index] {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"), 0x80...:
        return true
      default: return false
      }
    }
    return !continues(range.lowerBound - 1) && !continues(range.upperBound)
  }
}
