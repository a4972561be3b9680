/// Finds lines that are versions of each other, and those that only look similar: notes-merge(7),
/// "Joined insertions" and "Lines around".
struct SimilarLines {
  /// The limit for the work of a search. Each pair of lines costs `pairEffort`; a pair with similar lengths and
  /// letters also costs their lengths times the number of edits to search.
  static let effortLimit = 1 << 27

  /// The cost of finding that two lines have other lengths or letters.
  static let pairEffort = 32

  /// Lines longer than this are similar only if they are equal.
  static let longestComparedLine = 4096

  private let table: LineTable
  private var effort = 0
  private var shapes: [Int32: Shape] = [:]

  private struct TooMuchEffort: Error {}

  private struct Shape {
    let bytes: [UInt8]
    /// How often each byte occurs, ignoring the high bits of non-ASCII bytes.
    let counts: [Int]
  }

  /// Whether a line of one side is similar to a line of the other. Two lines are similar if they differ only in
  /// spaces and punctuation, or if they are more than 0.8 similar and no line in `around` is as near to either.
  /// Also true if the search would exceed `effortLimit`.
  static func arePresent(
    in older: [Int32], and newer: [Int32], around: [Int32] = [], _ table: LineTable
  ) -> Bool {
    var search = SimilarLines(table: table)
    do {
      return try search.find(search.lines(older), search.lines(newer), search.lines(around))
    } catch {
      return true
    }
  }

  init(table: LineTable) { self.table = table }

  /// Whether two lines with letters are more than 0.8 similar; nil if the searches exceed
  /// `effortLimit`.
  mutating func areSimilar(_ left: Int32, _ right: Int32) -> Bool? {
    do {
      try spend(Self.pairEffort)
      return try table.hasLetters(right) && distance(left, right) != nil
    } catch {
      return nil
    }
  }

  /// The distinct lines with letters.
  private func lines(_ lines: [Int32]) -> [Int32] {
    var seen: Set<Int32> = []
    return lines.filter { table.hasLetters($0) && seen.insert($0).inserted }
  }

  private mutating func find(_ older: [Int32], _ newer: [Int32], _ around: [Int32]) throws -> Bool {
    let known = Set(older.map(words))
    if newer.contains(where: { known.contains(words($0)) }) { return true }
    try spend(older.count * newer.count * Self.pairEffort)
    for left in older {
      for right in newer {
        guard let distance = try distance(left, right) else { continue }
        if try !isUsual(left, right, distance, around) { return true }
      }
    }
    return false
  }

  private mutating func spend(_ more: Int) throws {
    effort += more
    if effort > Self.effortLimit { throw TooMuchEffort() }
  }

  /// The number of insertions and deletions between the lines. Nil if there are too many for similar lines, or
  /// if a line is too long to compare.
  private mutating func distance(_ left: Int32, _ right: Int32) throws -> Int? {
    guard max(table[left].count, table[right].count) <= Self.longestComparedLine else { return nil }
    let (a, b) = (shape(of: left), shape(of: right))
    // 2·common > 0.8·total; the number of insertions and deletions is total − 2·common.
    let total = a.bytes.count + b.bytes.count
    let limit = (total - 1) / 5
    guard Self.areAlike(a, b, limit) else { return nil }
    try spend(limit * total)
    return MyersMatcher.distance(a.bytes, b.bytes, atMost: limit)
  }

  /// Whether a line around is as similar to one of two similar lines as these are to each other.
  private mutating func isUsual(
    _ left: Int32, _ right: Int32, _ distance: Int, _ around: [Int32]
  ) throws -> Bool {
    let sides = [shape(of: left), shape(of: right)]
    for line in around where line != left && line != right {
      guard table[line].count <= Self.longestComparedLine else { continue }
      let near = shape(of: line)
      for side in sides {
        try spend(Self.pairEffort)
        guard Self.areAlike(side, near, distance) else { continue }
        try spend(distance * (side.bytes.count + near.bytes.count))
        if MyersMatcher.distance(side.bytes, near.bytes, atMost: distance) != nil { return true }
      }
    }
    return false
  }

  /// The line without spaces and punctuation.
  private func words(_ line: Int32) -> [UInt8] { table[line].filter(Token.isLetterOrDigit) }

  private mutating func shape(of line: Int32) -> Shape {
    if let known = shapes[line] { return known }
    var counts = Array(repeating: 0, count: 128)
    for byte in table[line] { counts[Int(byte & 0x7f)] += 1 }
    let shape = Shape(bytes: Array(table[line]), counts: counts)
    shapes[line] = shape
    return shape
  }

  /// Whether the distance can be within the limit, judging by sizes and bytes.
  private static func areAlike(_ left: Shape, _ right: Shape, _ limit: Int) -> Bool {
    guard abs(left.bytes.count - right.bytes.count) <= limit else { return false }
    return zip(left.counts, right.counts).reduce(0) { $0 + abs($1.0 - $1.1) } <= limit
  }
}
