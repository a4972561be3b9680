/// Two sets of edits of one sequence made into one.
enum EditCombination {
  struct Edit: Equatable {
    var range: Range<Int>
    var text: [Int32]
  }

  /// The base with the edits of both sides, equal ones once; nil when edits of different sides have
  /// fewer than `gap` base elements between them or overlap. What different edits of one and the same
  /// stretch come to, `meeting` says.
  static func combine(
    base: [Int32], older: [Int32], newer: [Int32], olderHunks: [Hunk], newerHunks: [Hunk], gap: Int,
    meeting: (_ older: Edit, _ newer: Edit) -> [Int32]?
  ) -> [Int32]? {
    let olderEdits = olderHunks.map { Edit(range: $0.a, text: Array(older[$0.b])) }
    let newerEdits = newerHunks.map { Edit(range: $0.a, text: Array(newer[$0.b])) }
    var result: [Int32] = []
    var position = 0
    var previousSides = 0
    var previous: Edit?
    var (i, j) = (0, 0)
    while i < olderEdits.count || j < newerEdits.count {
      let edit: Edit
      let sides: Int
      let older = i < olderEdits.count ? olderEdits[i] : nil
      let newer = j < newerEdits.count ? newerEdits[j] : nil
      if let older, let newer, older.range == newer.range,
        let text = older == newer ? older.text : meeting(older, newer)
      {
        (edit, sides) = (Edit(range: older.range, text: text), 3)
      } else if let older, newer.map({ older.range.precedes($0.range) }) ?? true {
        (edit, sides) = (older, 1)
      } else {
        (edit, sides) = (newerEdits[j], 2)
      }
      if sides != 2 { i += 1 }
      if sides != 1 { j += 1 }
      if let previous, sides != previousSides || sides == 3 {
        let distance = edit.range.lowerBound - previous.range.upperBound
        let sameplace = edit.range.isEmpty && previous.range.isEmpty && distance == 0
        if distance < gap || sameplace { return nil }
      }
      result += base[position..<edit.range.lowerBound]
      result += edit.text
      position = edit.range.upperBound
      (previous, previousSides) = (edit, sides)
    }
    return result + base[position...]
  }
}

extension Range<Int> {
  /// Whether it begins before another, or with it and ends before it.
  func precedes(_ other: Range<Int>) -> Bool {
    (lowerBound, upperBound) < (other.lowerBound, other.upperBound)
  }
}
