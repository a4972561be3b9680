/// A list with consecutive numbers: notes-merge(7), "Numbered lists".
struct NumberedList {
  private let indentation: ArraySlice<UInt8>
  /// The byte after a number.
  private let mark: UInt8
  private let start: Int
  /// The byte in place of a number. A note that is merged never has this byte near its start.
  private static let placeholder: UInt8 = 0

  /// The merge of two sides that both have the list, but do not both have as many items as the base: merged
  /// without numbers, then renumbered. The inner value is nil if the rules give no result; the outer value is
  /// nil if there is no such list.
  static func merge(
    base: [Int32], older: [Int32], newer: [Int32], context: InsertionContext, rules: MergeRules,
    table: inout LineTable
  ) -> FineRegion.Outcome?? {
    guard let line = older.first(where: { number(of: table[$0]) != nil }),
      let list = NumberedList(table[line])
    else { return nil }
    let counts = [base, older, newer].map { list.count($0, table) }
    guard let inBase = counts[0], let inOlder = counts[1], let inNewer = counts[2],
      inOlder > 0, inNewer > 0, Set([inBase, inOlder, inNewer]).count > 1,
      list.continues(context, table)
    else { return nil }
    let texts = [base, older, newer].map { $0.map { list.bare($0, &table) } }
    let (top, end) = Self.shared(texts)
    let sides = texts.map { Array($0[top..<$0.count - end]) }
    guard
      let outcome = FineRegion.merge(
        base: sides[0], older: sides[1], newer: sides[2],
        context: context.replacing(by: texts[0]).replacing(top..<base.count - end), rules: rules,
        table: &table), outcome.isWhole
    else { return nil }
    var next = list.start
    let lines = (texts[0].prefix(top) + outcome.settled + texts[0].suffix(end))
      .map { list.numbered($0, &next, &table) }
    let goesOn = context.nextLine(table).flatMap { list.number($0, table) } ?? next
    return .some(goesOn == next ? FineRegion.Outcome(lines, by: outcome.rules) : nil)
  }

  /// How many first lines some texts share, and how many last lines of the rest.
  private static func shared(_ texts: [[Int32]]) -> (top: Int, end: Int) {
    let shortest = texts.map(\.count).min() ?? 0
    func isShared(_ line: ([Int32]) -> Int32) -> Bool { Set(texts.map(line)).count == 1 }
    var (top, end) = (0, 0)
    while top < shortest, isShared({ $0[top] }) { top += 1 }
    while end < shortest - top, isShared({ $0[$0.count - 1 - end] }) { end += 1 }
    return (top, end)
  }

  private init?(_ line: ArraySlice<UInt8>) {
    guard let number = Self.number(of: line) else { return nil }
    (indentation, start, mark) = number
  }

  /// The number at the beginning of a line, the bytes before it, and the full stop or bracket after
  /// it.
  private static func number(
    of line: ArraySlice<UInt8>
  ) -> (indentation: ArraySlice<UInt8>, number: Int, mark: UInt8)? {
    let indentation = line.prefix(while: Token.isSpace)
    let digits = line[indentation.endIndex...].prefix {
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
    }
    let rest = line[digits.endIndex...]
    guard (1...9).contains(digits.count), digits.first != UInt8(ascii: "0"),
      let mark = rest.first, ".)".utf8.contains(mark),
      rest.dropFirst().first.map(Token.isSpace) == true,
      let text = rest.dropFirst().first(where: { !Token.isSpace($0) }), text != UInt8(ascii: "\r")
    else { return nil }
    return (indentation, digits.reduce(0) { 10 * $0 + Int($1 - UInt8(ascii: "0")) }, mark)
  }

  /// The number of a line; nil if it is not an item of this list.
  private func number(_ line: Int32, _ table: LineTable) -> Int? {
    guard let found = Self.number(of: table[line]), found.indentation == indentation,
      found.mark == mark
    else { return nil }
    return found.number
  }

  /// Whether the item directly above the place has the number before the first. Ignores blank lines, and lines that are
  /// indented more.
  private func continues(_ context: InsertionContext, _ table: LineTable) -> Bool {
    let above = context.lastLine(table, indentedAtMost: indentation.count)
    return above.flatMap { number($0, table) }.map { $0 == start - 1 } ?? true
  }

  /// The number of items; nil if their numbers are not consecutive.
  private func count(_ lines: [Int32], _ table: LineTable) -> Int? {
    let numbers = lines.compactMap { number($0, table) }
    return numbers.elementsEqual(start..<start + numbers.count) ? numbers.count : nil
  }

  /// An item without its number.
  private func bare(_ line: Int32, _ table: inout LineTable) -> Int32 {
    guard number(line, table) != nil else { return line }
    let rest = table[line].drop { $0 != mark }
    return table.number(of: (indentation + [Self.placeholder] + rest)[...])
  }

  /// An item with the next number.
  private func numbered(_ line: Int32, _ next: inout Int, _ table: inout LineTable) -> Int32 {
    let head = indentation + [Self.placeholder]
    guard table[line].starts(with: head + [mark]) else { return line }
    let rest = table[line].dropFirst(head.count)
    next += 1
    return table.number(of: (indentation + Array(String(next - 1).utf8) + rest)[...])
  }
}
