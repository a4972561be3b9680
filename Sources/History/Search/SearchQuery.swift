public import Git
internal import WorkTree

/// What to look for in notes (notes-search(1)).
public struct SearchQuery: Sendable {
  /// Texts that a note must all hold, in its title or below it.
  public let terms: [String]
  /// Whether they are POSIX extended regular expressions, or stand for themselves.
  public let areExpressions: Bool
  /// Whether upper and lower case differ.
  public let isCaseSensitive: Bool
  /// Whether only titles are looked at.
  public let isTitleOnly: Bool
  /// How many matching lines a hit tells.
  public let lineLimit: Int
  /// How many lines around each it tells.
  public let context: Int
  /// Only what is below this folder; empty for all.
  public let folder: TreePath

  /// - Throws: `NotebookError.invalidExpression`.
  public init(
    _ terms: [String], areExpressions: Bool = false, isCaseSensitive: Bool = false,
    isTitleOnly: Bool = false, lineLimit: Int = 3, context: Int = 0, below folder: TreePath = ""
  ) throws {
    self.terms = terms
    self.areExpressions = areExpressions
    self.isCaseSensitive = isCaseSensitive
    self.isTitleOnly = isTitleOnly
    self.lineLimit = lineLimit
    self.context = context
    self.folder = folder
    _ = try SearchPatterns(self)
  }

  func covers(_ path: TreePath) -> Bool { folder.isEmpty || path.isBelow(folder) }
}

/// A query made ready for one thread.
struct SearchPatterns {
  let query: SearchQuery
  /// Of each term the first match in a text that starts at a place or later.
  private let firstMatches: [([UInt8], _ start: Int) -> Range<Int>?]

  init(_ query: SearchQuery) throws {
    self.query = query
    firstMatches = try query.terms.map { term in
      query.areExpressions
        ? try RegularExpression(term, isCaseSensitive: query.isCaseSensitive).firstMatch
        : LiteralPattern(term, isCaseSensitive: query.isCaseSensitive).firstMatch
    }
  }

  /// Which of the terms a note's title holds; nil where the path is no note's.
  func termsFound(inTitleOf path: TreePath) -> [Bool]? {
    path.titleRange.map { Array(path.bytes[$0]) }.map { title in
      firstMatches.map { $0(title, 0) != nil }
    }
  }

  /// Whether a text holds all the terms that the title lacks.
  func holdsRest(_ text: [UInt8], inTitle: [Bool]) -> Bool {
    zip(firstMatches, inTitle).allSatisfy { firstMatch, isInTitle in
      isInTitle || firstMatch(text, 0) != nil
    }
  }

  /// All matches in a text, by place; those of several terms may overlap. Also whether each term
  /// stands in it, or in the title, as a word of its own.
  func matches(in text: [UInt8], inTitle: [Bool]) -> (ranges: [Range<Int>], areWords: Bool) {
    var ranges: [Range<Int>] = []
    var areWords = true
    for (firstMatch, isInTitle) in zip(firstMatches, inTitle) {
      var isWord = isInTitle
      var start = 0
      while start <= text.count, let range = firstMatch(text, start) {
        ranges.append(range)
        isWord = isWord || text.isWord(range)
        start = max(range.upperBound, range.lowerBound + 1)
      }
      areWords = areWords && isWord
    }
    if firstMatches.count > 1 { ranges.sort { $0.lowerBound < $1.lowerBound } }
    return (ranges, areWords)
  }
}

extension [UInt8] {
  /// Whether neither side of a range goes on with a letter or a digit. Bytes beyond ASCII are taken
  /// for letters.
  fileprivate func isWord(_ range: Range<Int>) -> Bool {
    func continues(_ index: Int) -> Bool {
      guard indices.contains(index) else { return false }
      let letter = Character(UnicodeScalar(self[index]))
      return self[index] >= 0x80 || letter == "_" || letter.isLetter || letter.isNumber
    }
    return !continues(range.lowerBound - 1) && !continues(range.upperBound)
  }
}
