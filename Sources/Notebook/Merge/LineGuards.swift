/// The signs that two edits are versions of one thing, or that a merge of both would say something
/// twice: notes-merge(7), "Guards".
enum LineGuards {
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

  /// Whether a line of one side is more than 0.8 similar to a line of the other.
  static func holdSimilarLines(_ older: [Int32], _ newer: [Int32], _ table: LineTable) -> Bool {
    let older = Set(older).filter { hasLetters($0, table) }
    let newer = Set(newer).filter { hasLetters($0, table) }
    return older.contains { left in
      newer.contains { areSimilar(table[left], table[$0]) }
    }
  }

  /// Whether twice the length of the longest common subsequence is more than 0.8 of both lengths.
  static func areSimilar(_ a: ArraySlice<UInt8>, _ b: ArraySlice<UInt8>) -> Bool {
    if a == b { return true }
    guard a.count <= longestComparedLine, b.count <= longestComparedLine else { return false }
    // 2·common > 0.8·total, where total − 2·common is the number of insertions and deletions.
    let total = a.count + b.count
    let limit = (total - 1) / 5
    guard 5 * limit < total, abs(a.count - b.count) <= limit else { return false }
    var counts = [Int](repeating: 0, count: 256)
    for byte in a { counts[Int(byte)] += 1 }
    for byte in b { counts[Int(byte)] -= 1 }
    guard counts.reduce(0, { $0 + abs($1) }) <= limit else { return false }
    return hasEdit(Array(a), Array(b), atMost: limit)
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
