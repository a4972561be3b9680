/// The lines around insertions, and their effects: notes-merge(7), "Lines around" and "Order of
/// insertions".
struct InsertionContext {
  /// How many lines from the insertions are searched.
  static let reach = 100
  /// How many lines before and after the insertions are compared.
  static let depth = 2

  /// The base with the lines around it, and the place of the insertions.
  private let lines: [Int32]
  private var place: Range<Int>

  /// A context in which `base` is the place of the insertions, between these lines.
  init(base: [Int32], between before: [Int32], and after: [Int32]) {
    lines = before + base + after
    place = before.count..<before.count + base.count
  }

  /// The same context with `base` as the place of the insertions and, unless `before` is nil, `before` as the lines
  /// above it.
  func replacing(by base: [Int32], behind before: [Int32]? = nil) -> InsertionContext {
    InsertionContext(
      base: base, between: before ?? Array(self.before), and: Array(lines[place.upperBound...]))
  }

  private var before: ArraySlice<Int32> { lines[..<place.lowerBound] }

  /// The next line below the place that is not blank.
  func nextLine(_ table: LineTable) -> Int32? {
    lines[place.upperBound...].first { table.blocks[$0] != nil || !table.isBlank($0) }
  }

  /// The last line above the place that is neither blank nor indented by more than `depth` bytes.
  func lastLine(_ table: LineTable, indentedAtMost depth: Int) -> Int32? {
    before.last {
      table.blocks[$0] != nil || !table.isBlank($0) && table.indentation($0) <= depth
    }
  }

  /// Whether the place is at the beginning of the note.
  var isAtStart: Bool { place.lowerBound == 0 }

  /// The same context for a part of the place.
  func replacing(_ stretch: Range<Int>) -> InsertionContext {
    var context = self
    context.place = place.lowerBound + stretch.lowerBound..<place.lowerBound + stretch.upperBound
    return context
  }

  private var above: ArraySlice<Int32> { lines[..<place.lowerBound].suffix(Self.reach) }

  private var below: ArraySlice<Int32> { lines[place.upperBound...].prefix(Self.reach) }

  var around: [Int32] { Array(above + below) }

  /// The names that lines at this place define, without the lines that both sides share. Names are link
  /// references, items with links, keys at the note's top, and properties in a drawer.
  func names(
    _ lines: [Int32], behind common: ArraySlice<Int32> = [], _ table: LineTable
  ) -> Set<ArraySlice<UInt8>> {
    let before = before + common
    let (isTop, isDrawer) = (Self.isTop(before, table), Self.isInDrawer(before, table))
    return Set(
      lines.flatMap { number -> [ArraySlice<UInt8>] in
        let line = table[number]
        return [
          Self.definition(line), Self.linkItem(line), isTop ? Self.key(line) : nil,
          isDrawer ? Self.property(line) : nil,
        ].compactMap { $0 }
      })
  }

  /// Whether a key may follow these lines: they are unclosed front matter, or only keys.
  private static func isTop(_ before: ArraySlice<Int32>, _ table: LineTable) -> Bool {
    if before.count >= Self.reach { return false }
    if before.allSatisfy({ table.blocks[$0] == nil && key(table[$0]) != nil }) { return true }
    let ends = FrontMatter.ends(behind: before.first, table)
    return !ends.isEmpty && !before.dropFirst().contains { ends.contains(Array(table[$0])) }
  }

  private static func isInDrawer(_ before: ArraySlice<Int32>, _ table: LineTable) -> Bool {
    let last = before.suffix(Self.reach).last { number in
      let line = table.trimmed(number)
      return line.elementsEqual(":PROPERTIES:".utf8) || line.elementsEqual(":END:".utf8)
    }
    return last.map { table.trimmed($0).elementsEqual(":PROPERTIES:".utf8) } ?? false
  }

  /// `[NAME]:` if the line begins with it.
  private static func definition(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    bracketed(line, before: UInt8(ascii: ":")).map { line[..<$0] }
  }

  /// `- [NAME](` if the line begins with it, after spaces and tabs and with any item mark.
  private static func linkItem(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    Token.itemMark(line).flatMap { mark in
      bracketed(line[mark.endIndex...], before: UInt8(ascii: "(")).map { line[..<$0] }
    }
  }

  /// The end of `[NAME]` and the byte after it, if the text begins with them.
  private static func bracketed(_ text: ArraySlice<UInt8>, before byte: UInt8) -> Int? {
    guard text.first == UInt8(ascii: "["), let end = text.firstIndex(of: UInt8(ascii: "]")),
      end > text.startIndex + 1, end + 1 < text.endIndex, text[end + 1] == byte
    else { return nil }
    return end + 2
  }

  /// `KEY:` or `KEY =` if the line begins with it.
  static func key(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    let name = line.prefix { !" \t:=".utf8.contains($0) }
    let rest = line[name.endIndex...].drop(while: Token.isSpace)
    guard !name.isEmpty, let mark = rest.first, ":=".utf8.contains(mark) else { return nil }
    return line[...rest.startIndex]
  }

  /// `:KEY:` if the line begins with it, after spaces and tabs.
  private static func property(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    let rest = line.drop(while: Token.isSpace)
    guard rest.first == UInt8(ascii: ":") else { return nil }
    let name = rest.dropFirst().prefix { !" \t:".utf8.contains($0) }
    guard !name.isEmpty, line[name.endIndex...].first == UInt8(ascii: ":") else { return nil }
    return line[...name.endIndex]
  }

  /// The lines of both sides in the order of the sorted list around them; nil if the place is not
  /// in such a list.
  func ordered(_ older: [Int32], _ newer: [Int32], table: LineTable) -> [Int32]? {
    guard let first = older.first(where: { !table.isBlank($0) }),
      let second = newer.first(where: { !table.isBlank($0) })
    else { return nil }
    let mark = Token.mark(table[first])
    guard mark == Token.mark(table[second]) else { return nil }
    let isList = (older + newer).allSatisfy { Token.mark(table[$0]) == mark && !table.isBlank($0) }
    /// The keys of the nearest lines with that mark, if the list is directly beside the insertions.
    func neighbours(_ lines: [Int32]) -> [[UInt8]] {
      func isAlike(_ line: Int32) -> Bool {
        table.blocks[line] == nil && Token.mark(table[line]) == mark
      }
      let alike = isList ? Array(lines.prefix(while: isAlike)) : lines.filter(isAlike)
      return alike.prefix(Self.depth).map { Self.sortKey(table[$0]) }
    }
    let olderKeys = (isList ? older : [first]).map { Self.sortKey(table[$0]) }
    let newerKeys = (isList ? newer : [second]).map { Self.sortKey(table[$0]) }
    let (keysAbove, keysBelow) = (neighbours(above.reversed()).reversed(), neighbours(Array(below)))
    guard Self.isSorted(olderKeys), Self.isSorted(newerKeys),
      keysAbove.count + keysBelow.count >= 2, Self.isSorted(keysAbove + olderKeys + keysBelow),
      Self.isSorted(keysAbove + newerKeys + keysBelow)
    else { return nil }
    if !isList {
      let isNewerFirst = newerKeys[0].lexicographicallyPrecedes(olderKeys[0])
      let (first, second) = isNewerFirst ? (newer, older) : (older, newer)
      return table.mayFollow(first, second) ? first + second : nil
    }
    // The sort is stable: for equal keys, the older side's lines come first.
    return zip(older + newer, olderKeys + newerKeys)
      .sorted { $0.1.lexicographicallyPrecedes($1.1) }.map(\.0)
  }

  private static func isSorted(_ keys: [[UInt8]]) -> Bool {
    zip(keys, keys.dropFirst()).allSatisfy { !$1.lexicographicallyPrecedes($0) }
  }

  /// The line's letters and digits in lower case, with a space for everything between them.
  private static func sortKey(_ line: ArraySlice<UInt8>) -> [UInt8] {
    let words = line.split { !Token.isLetterOrDigit($0) }
    return words.joined(separator: [UInt8(ascii: " ")]).map {
      (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 + 32 : $0
    }
  }
}
