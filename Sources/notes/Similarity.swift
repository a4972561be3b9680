/// Which of some words a mistyped one was meant to be.
enum Similarity {
  /// The word fewest slips of the hand away from `typed`, or nil when none is near.
  static func nearest(to typed: String, among words: [String]) -> String? {
    let best = words.map { (word: $0, slips: slips(from: typed.lowercased(), to: $0)) }
      .min { ($0.slips, $0.word) < ($1.slips, $1.word) }
    guard let best else { return nil }
    // A beginning of a word is no slip at all; otherwise a third of the letters may be wrong.
    if let completed = words.first(where: { $0.hasPrefix(typed) && typed.count > 1 }) {
      return completed
    }
    return best.slips <= max(1, typed.count / 3) ? best.word : nil
  }

  /// Letters to insert, drop, change or swap with their neighbour (optimal string alignment).
  static func slips(from left: String, to right: String) -> Int {
    let left = Array(left)
    let right = Array(right)
    var rows = [Array(0...right.count)]
    for row in 1...max(1, left.count) where row <= left.count {
      var current = [row]
      for column in 1...max(1, right.count) where column <= right.count {
        let same = left[row - 1] == right[column - 1]
        var cost = min(
          rows[row - 1][column] + 1, current[column - 1] + 1,
          rows[row - 1][column - 1] + (same ? 0 : 1))
        if row > 1, column > 1, left[row - 1] == right[column - 2],
          left[row - 2] == right[column - 1]
        {
          cost = min(cost, rows[row - 2][column - 2] + 1)
        }
        current.append(cost)
      }
      rows.append(current)
    }
    return rows[left.count][right.count]
  }
}
