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
      if i < olderEdits.count, j < newerEdits.count, olderEdits[i] == newerEdits[j] {
        (edit, sides) = (olderEdits[i], 3)
        i += 1
        j += 1
      } else if i < olderEdits.count, j < newerEdits.count,
        olderEdits[i].range == newerEdits[j].range, let text = meeting(olderEdits[i], newerEdits[j])
      {
        (edit, sides) = (Edit(range: olderEdits[i].range, text: text), 3)
        i += 1
        j += 1
      } else if j == newerEdits.count
        || (i < olderEdits.count && olderEdits[i].range.precedes(newerEdits[j].range))
      {
        (edit, sides) = (olderEdits[i], 1)
        i += 1
      } else {
        (edit, sides) = (newerEdits[j], 2)
        j += 1
      }
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
