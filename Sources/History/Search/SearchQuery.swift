public import Git
internal import WorkTree

/// The texts to look for in notes (notes-search(1)).
public struct SearchQuery: Sendable {
  /// The texts that a note must all contain, in its title or below it.
  public let terms: [String]
  /// Whether the terms are POSIX extended regular expressions. If not, they are literal texts.
  public let areExpressions: Bool
  /// Whether upper and lower case differ.
  public let isCaseSensitive: Bool
  /// Whether a letter is equal with and without accents.
  public let ignoresAccents: Bool
  /// Whether only titles are searched.
  public let isTitleOnly: Bool
  /// How many matching lines a hit shows.
  public let lineLimit: Int
  /// How many lines of context a hit shows before and after each matching line.
  public let context: Int
  /// Only notes below this folder match; empty for all.
  public let folder: TreePath

  /// - Throws: `HistoryError.invalidExpression`.
  public init(
    _ terms: [String], areExpressions: Bool = false, isCaseSensitive: Bool = false,
    ignoresAccents: Bool = false, isTitleOnly: Bool = false, lineLimit: Int = 3, context: Int = 0,
    below folder: TreePath = ""
  ) throws {
    self.terms = terms
    self.areExpressions = areExpressions
    self.isCaseSensitive = isCaseSensitive
    self.ignoresAccents = ignoresAccents
    self.isTitleOnly = isTitleOnly
    self.lineLimit = lineLimit
    self.context = context
    self.folder = folder
    _ = try SearchPatterns(self)
  }

  func covers(_ path: TreePath) -> Bool { folder.isEmpty || path.isBelow(folder) }
}

/// A text that is ready to be searched.
struct SearchedText {
  let bytes: [UInt8]
  fileprivate let folded: FoldedText
}

/// A query that is ready to be used by one thread.
struct SearchPatterns {
  let query: SearchQuery
  private let folder: Folder
  /// For each term, a function that returns the first match in a folded text from an offset on.
  private let firstMatches: [(FoldedText, _ start: Int) -> Range<Int>?]

  init(_ query: SearchQuery) throws {
    self.query = query
    // Regular expressions ignore case on their own, and may name characters in composed form.
    let folder = Folder(
      Folding(
        ignoresCase: !query.isCaseSensitive && !query.areExpressions,
        ignoresAccents: query.ignoresAccents, decomposes: !query.areExpressions))
    self.folder = folder
    firstMatches = try query.terms.map { term in
      guard query.areExpressions else { return LiteralPattern(term, folder: folder).firstMatch }
      let folded = String(decoding: folder.fold(Array(term.utf8)).bytes, as: UTF8.self)
      let expression = try RegularExpression(folded, isCaseSensitive: query.isCaseSensitive)
      return { expression.firstMatch(in: $0.bytes, from: $1) }
    }
  }

  func prepare(_ text: [UInt8]) -> SearchedText {
    SearchedText(bytes: text, folded: folder.fold(text))
  }

  /// Which of the terms are in a note's title; nil if the path is not a note's.
  func termsFound(inTitleOf path: TreePath) -> [Bool]? {
    path.titleRange.map { folder.fold(Array(path.bytes[$0])) }.map { title in
      firstMatches.map { $0(title, 0) != nil }
    }
  }

  /// Whether a text contains all the terms that the title lacks.
  func holdsRest(_ text: SearchedText, inTitle: [Bool]) -> Bool {
    zip(firstMatches, inTitle).allSatisfy { firstMatch, isInTitle in
      isInTitle || firstMatch(text.folded, 0) != nil
    }
  }

  /// All matches in a text, in order; those of several terms may overlap. Also whether each term is
  /// a whole word in the text or in the title.
  func matches(in text: SearchedText, inTitle: [Bool]) -> (ranges: [Range<Int>], areWords: Bool) {
    var ranges: [Range<Int>] = []
    var areWords = true
    for (firstMatch, isInTitle) in zip(firstMatches, inTitle) {
      var isWord = isInTitle
      var start = 0
      while start <= text.folded.bytes.count, let found = firstMatch(text.folded, start) {
        start = max(found.upperBound, found.lowerBound + 1)
        guard let range = text.folded.original(of: found) else { continue }
        ranges.append(range)
        isWord = isWord || text.bytes.isWord(range)
      }
      areWords = areWords && isWord
    }
    if firstMatches.count > 1 { ranges.sort { $0.lowerBound < $1.lowerBound } }
    return (ranges, areWords)
  }
}

extension [UInt8] {
  /// Whether no letter or digit is directly before or after a range. Bytes outside ASCII count as
  /// letters.
  fileprivate func isWord(_ range: Range<Int>) -> Bool {
    func continues(_ index: Int) -> Bool {
      guard indices.contains(index) else { return false }
      let letter = Character(UnicodeScalar(self[index]))
      return self[index] >= 0x80 || letter == "_" || letter.isLetter || letter.isNumber
    }
    return !continues(range.lowerBound - 1) && !continues(range.upperBound)
  }
}
