/// Which of some words a mistyped one was meant to be.
enum Similarity {
  /// The word fewest slips of the hand away from `typed`, or nil when none is near.
  static func nearest(to typed: String, among words: [String]) -> String? {
    let typed = typed.lowercased()
    // A beginning of a word is no slip at all; otherwise a third of the letters may be wrong.
    if typed.count > 1, let completed = words.first(where: { $0.lowercased().hasPrefix(typed) }) {
      return completed
    }
    let best = words.map { (word: $0, slips: slips(from: typed, to: $0.lowercased())) }
      .min { ($0.slips, $0.word) < ($1.slips, $1.word) }
    return best.flatMap { $0.slips <= max(1, typed.count / 3) ? $0.word : nil }
  }

  /// The titles nearest to a mistyped one, at most three: few slips away from all of it or from one
  /// of its words.
  static func titles(near typed: String, among titles: [String]) -> [String] {
    let typed = typed.lowercased()
    let limit = max(1, typed.count / 4)
    let letters = Array(typed.utf8)
    func slips(to word: some StringProtocol) -> Int? {
      // Most words are told apart by their lengths or letters, without a closer look.
      guard abs(word.utf8.count - letters.count) <= 4 * limit,
        Self.differ(letters, word.utf8) <= 8 * limit
      else { return nil }
      let found = Self.slips(from: typed, to: String(word))
      return found <= limit ? found : nil
    }
    var near: [(title: String, slips: Int)] = []
    for title in titles {
      let folded = title.lowercased()
      let words = folded.split(separator: " ")
      let all = [slips(to: folded)] + (words.count > 1 ? words.map { slips(to: $0) } : [])
      if let best = all.compactMap(\.self).min() { near.append((title, best)) }
    }
    return near.sorted { ($0.slips, $0.title) < ($1.slips, $1.title) }.prefix(3).map(\.title)
  }

  /// How many bytes of one text have no partner in the other, wherever they stand.
  private static func differ(_ left: [UInt8], _ right: some Sequence<UInt8>) -> Int {
    withUnsafeTemporaryAllocation(of: Int16.self, capacity: 256) { counts in
      counts.initialize(repeating: 0)
      for byte in left { counts[Int(byte)] += 1 }
      for byte in right { counts[Int(byte)] -= 1 }
      return counts.reduce(0) { $0 + Int(abs($1)) }
    }
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
