/// A list of short elements in one line, to which both sides add at one place: notes-merge(7),
/// "Words".
struct ListOfWords {
  /// The tokens of the list before the place.
  private let before: ArraySlice<Int32>
  /// Whether the list is between square brackets.
  private let isBracketed: Bool
  private let table: LineTable
  /// The most words of an element.
  private static let mostWords = 6

  /// The list that ends at a place of a text; nil if there is none.
  init?(_ base: [Int32], before place: Int, _ table: LineTable) {
    let line = base[..<place].reversed().prefix { !Self.isToken($0, "\n", table) }
    var depth = 0
    var opened: Int?
    var index = place - 1
    for token in line {
      if Self.isToken(token, "]", table) { depth += 1 }
      if Self.isToken(token, "[", table) { depth -= 1 }
      let isColon =
        Self.isToken(token, ":", table) && index + 1 < place
        && Self.isToken(base[index + 1], " ", table)
      if depth < 0 || isColon {
        opened = index
        break
      }
      index -= 1
    }
    guard let opened else { return nil }
    self.table = table
    self.before = base[(opened + 1)..<place]
    isBracketed = Self.isToken(base[opened], "[", table)
  }

  private static func isToken(_ token: Int32, _ text: String, _ table: LineTable) -> Bool {
    table[token].elementsEqual(text.utf8)
  }

  /// The elements that the newer side adds after the older side's, before a token. Nil if the two must not be
  /// joined.
  func addition(
    of newer: [Int32], to older: [Int32], before next: Int32?, _ tokens: inout LineTable
  ) -> [Int32]? {
    let space = tokens.number(of: Array(" ".utf8)[...])
    if (older + newer).contains(where: { Self.isToken($0, "\n", table) }) { return nil }
    let isEmpty =
      isBracketed && !before.contains(where: table.hasWords)
      && next.map { Self.isToken($0, "]", table) } ?? false
    for mark in [",", ";"].map({ tokens.number(of: Array($0.utf8)[...]) }) {
      let begins = older.first == mark && newer.first == mark
      let ends = older.suffix(2) == [mark, space] && newer.suffix(2) == [mark, space]
      guard isEmpty || begins || ends else { continue }
      let elements = [Array(before), older, newer].map { self.elements($0, mark) }
      guard isBracketed || elements[0].count > 1,
        elements.joined().allSatisfy({ $0.count <= Self.mostWords }),
        Set(elements[1]).isDisjoint(with: elements[2])
      else { return nil }
      return isEmpty ? [mark, space] + newer : newer
    }
    return nil
  }

  /// The words of each element that has any, in lower case.
  private func elements(_ tokens: [Int32], _ mark: Int32) -> [[[UInt8]]] {
    tokens.split(separator: mark).map { element in
      element.filter(table.hasWords).map { token in
        table[token].map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 + 32 : $0 }
      }
    }.filter { !$0.isEmpty }
  }
}
