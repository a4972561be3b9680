/// The signs that two edits are versions of one thing, or that a merge of both would say something
/// twice: notes-merge(7), "Guards".
enum LineGuards {
  /// How much work the search for similar lines may be: `pairEffort` for each pair of lines, and for
  /// each pair of about the same length and letters their lengths times the edits to look for.
  static let effortLimit = 1 << 27

  /// What it costs to see that two lines are of other lengths or letters.
  static let pairEffort = 32

  /// Lines longer than this count as similar only when they are equal.
  static let longestComparedLine = 4096

  /// Whether a line holds nothing but spaces and tabs.
  static func isBlank(_ line: Int32, _ table: LineTable) -> Bool {
    table[line].allSatisfy { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == 13 }
  }

  /// Whether a line holds three letters or more: ASCII letters, and bytes of other scripts.
  static func hasLetters(_ line: Int32, _ table: LineTable) -> Bool {
    var letters = 0
    for byte in table[line] where Token.isLetter(byte) {
      letters += 1
      if letters == 3 { return true }
    }
    return false
  }

  /// Whether one of the sides opens a code fence (a line that starts with ``` or ~~~ after blanks)
  /// that it does not close.
  static func holdOpenFence(_ sides: [[Int32]], _ table: LineTable) -> Bool {
    sides.contains { side in
      side.count { line in
        let content = table[line].drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        return content.starts(with: "```".utf8) || content.starts(with: "~~~".utf8)
      } % 2 == 1
    }
  }

  /// Whether both sides hold the same line of three letters or more.
  static func shareLine(_ older: [Int32], _ newer: [Int32], _ table: LineTable) -> Bool {
    let lines = Set(older)
    return newer.contains { lines.contains($0) && hasLetters($0, table) }
  }

  /// Whether a line of one side differs from a line of the other in nothing but spaces and
  /// punctuation, or is more than 0.8 similar to it, or finding out would take longer than
  /// `effortLimit`.
  static func holdSimilarLines(_ older: [Int32], _ newer: [Int32], _ table: LineTable) -> Bool {
    let older = distinct(older).filter { hasLetters($0, table) }
    let newer = distinct(newer).filter { hasLetters($0, table) }
    let olderWords = Set(older.map { words(table[$0]) })
    if newer.contains(where: { olderWords.contains(words(table[$0])) }) { return true }
    var effort = older.count * newer.count * pairEffort
    if effort > effortLimit { return true }
    let olderCounts = older.map { byteCounts(table[$0]) }
    let newerCounts = newer.map { byteCounts(table[$0]) }
    let olderNumbers = older.map { linkNumbers(table[$0]) }
    let newerNumbers = newer.map { linkNumbers(table[$0]) }
    for (i, left) in older.enumerated() {
      for (j, right) in newer.enumerated() {
        let (a, b) = (table[left], table[right])
        guard a.count <= longestComparedLine, b.count <= longestComparedLine else { continue }
        // 2·common > 0.8·total, where total − 2·common is the number of insertions and deletions.
        let total = a.count + b.count
        let limit = (total - 1) / 5
        guard abs(a.count - b.count) <= limit,
          difference(olderCounts[i], newerCounts[j]) <= limit,
          olderNumbers[i].isEmpty || newerNumbers[j].isEmpty
            || !olderNumbers[i].isDisjoint(with: newerNumbers[j])
        else { continue }
        effort += limit * total
        if effort > effortLimit || hasEdit(Array(a), Array(b), atMost: limit) { return true }
      }
    }
    return false
  }

  /// What is left of a line without spaces and punctuation.
  private static func words(_ line: ArraySlice<UInt8>) -> [UInt8] {
    line.filter { Token.isLetter($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }

  /// The numbers after the first `://` of a line: links with other numbers lead to other things.
  private static func linkNumbers(_ line: ArraySlice<UInt8>) -> Set<ArraySlice<UInt8>> {
    let mark = Array("://".utf8)
    guard
      let link = line.indices.dropLast(2).first(where: {
        line[$0] == mark[0] && line[$0 + 1] == mark[1] && line[$0 + 2] == mark[2]
      })
    else { return [] }
    return Set(
      line[(link + 3)...].split { !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
  }

  private static func distinct(_ lines: [Int32]) -> [Int32] {
    var seen: Set<Int32> = []
    return lines.filter { seen.insert($0).inserted }
  }

  /// How often each byte occurs, the high bits of non-ASCII bytes left out.
  private static func byteCounts(_ line: ArraySlice<UInt8>) -> [Int32] {
    var counts = [Int32](repeating: 0, count: 128)
    for byte in line { counts[Int(byte & 0x7f)] += 1 }
    return counts
  }

  /// The sum of the differences of two lines' counts.
  private static func difference(_ left: [Int32], _ right: [Int32]) -> Int {
    left.withUnsafeBufferPointer { left in
      right.withUnsafeBufferPointer { right in
        var sum: Int32 = 0
        for index in 0..<128 { sum &+= abs(left[index] &- right[index]) }
        return Int(sum)
      }
    }
  }

  /// Whether some edit of at most `limit` insertions and deletions leads from `a` to `b`.
  private static func hasEdit(_ a: [UInt8], _ b: [UInt8], atMost limit: Int) -> Bool {
    var reach = Array(repeating: 0, count: 2 * limit + 3)
    let middle = limit + 1
    for d in 0...limit {
      for k in stride(from: -d, through: d, by: 2) {
        var i = 0
        if d > 0 {
          let inserts =
            k == -d || (k != d && reach[middle + k - 1] < reach[middle + k + 1])
          i = inserts ? reach[middle + k + 1] : reach[middle + k - 1] + 1
        }
        var j = i - k
        while i < a.count, j < b.count, a[i] == b[j] {
          i += 1
          j += 1
        }
        reach[middle + k] = i
        if i >= a.count, j >= b.count { return true }
      }
    }
    return false
  }
}
