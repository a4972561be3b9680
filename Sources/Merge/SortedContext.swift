/// What stands around joined insertions, and where they go in a list that is in alphabetical order:
/// notes-merge(7), "Lines around" and "Order of insertions".
struct SortedContext {
  /// How far from the insertions lines are looked at.
  static let reach = 100
  /// How many lines before and after the insertions are looked at.
  static let depth = 2

  /// The lines before and after a region.
  typealias Surroundings = (before: ArraySlice<Int32>, after: ArraySlice<Int32>)

  /// The base with what is around it, and the place of the insertions.
  let lines: [Int32]
  let place: Range<Int>

  init(lines: [Int32], place: Range<Int>) {
    self.lines = lines
    self.place = place
  }

  /// The whole of a base as the place.
  init(base: [Int32], between surroundings: Surroundings) {
    let before = surroundings.before.suffix(Self.reach)
    lines = before + base + surroundings.after.prefix(Self.reach)
    place = before.count..<before.count + base.count
  }

  /// The same base at another place.
  func at(_ place: Range<Int>) -> SortedContext { SortedContext(lines: lines, place: place) }

  /// The lines around the place.
  var around: [Int32] {
    lines[..<place.lowerBound].suffix(Self.reach)
      + Array(lines[place.upperBound...].prefix(Self.reach))
  }

  /// Both runs of lines in the order of the list they are inserted in, or nil when it is in none.
  func ordered(_ older: [Int32], _ newer: [Int32], table: LineTable) -> [Int32]? {
    guard let first = older.first(where: { !LineGuards.isBlank($0, table) }),
      let second = newer.first(where: { !LineGuards.isBlank($0, table) })
    else { return nil }
    let mark = Self.mark(table[first])
    guard mark.elementsEqual(Self.mark(table[second])) else { return nil }
    let isList = (older + newer).allSatisfy {
      Self.mark(table[$0]).elementsEqual(mark) && !LineGuards.isBlank($0, table)
    }
    let olderKeys = (isList ? older : [first]).map { Self.key(table[$0]) }
    let newerKeys = (isList ? newer : [second]).map { Self.key(table[$0]) }
    guard isSorted(olderKeys), isSorted(newerKeys) else { return nil }
    let above = neighbours(
      lines[..<place.lowerBound].suffix(Self.reach).reversed(), mark: mark, isList: isList,
      table: table
    ).reversed()
    let below = neighbours(
      Array(lines[place.upperBound...].prefix(Self.reach)), mark: mark, isList: isList, table: table
    )
    guard above.count + below.count >= 2, isSorted(above + olderKeys + below),
      isSorted(above + newerKeys + below)
    else { return nil }
    if !isList {
      return newerKeys[0].lexicographicallyPrecedes(olderKeys[0]) ? newer + older : older + newer
    }
    var result: [Int32] = []
    var (i, j) = (0, 0)
    while i < older.count || j < newer.count {
      let takesNewer =
        i == older.count
        || (j < newer.count && newerKeys[j].lexicographicallyPrecedes(olderKeys[i]))
      result.append(takesNewer ? newer[j] : older[i])
      if takesNewer { j += 1 } else { i += 1 }
    }
    return result
  }

  /// The keys of the nearest lines with that mark: a list's must be next to the insertions.
  private func neighbours(
    _ lines: [Int32], mark: ArraySlice<UInt8>, isList: Bool, table: LineTable
  ) -> [[UInt8]] {
    func isAlike(_ line: Int32) -> Bool {
      table.blocks[line] == nil && Self.mark(table[line]).elementsEqual(mark)
    }
    let alike = isList ? Array(lines.prefix(while: isAlike)) : lines.filter(isAlike)
    return alike.prefix(Self.depth).map { Self.key(table[$0]) }
  }

  private func isSorted(_ keys: [[UInt8]]) -> Bool {
    zip(keys, keys.dropFirst()).allSatisfy { !$1.lexicographicallyPrecedes($0) }
  }

  /// What a line starts with before its first letter or digit.
  static func mark(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    line.prefix { !Token.isLetterOrDigit($0) }
  }

  /// The line's letters and digits in lower case, a space for anything between them.
  private static func key(_ line: ArraySlice<UInt8>) -> [UInt8] {
    var key: [UInt8] = []
    var isBetween = false
    for byte in line {
      guard Token.isLetterOrDigit(byte) else {
        isBetween = !key.isEmpty
        continue
      }
      if isBetween { key.append(UInt8(ascii: " ")) }
      isBetween = false
      key.append((UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte + 32 : byte)
    }
    return key
  }
}
