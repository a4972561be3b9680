/// Several texts for one place of a note, as line numbers of a `LineTable`.
struct ConflictBlock {
  struct Side {
    /// `NAME · DATE`, as in the marker.
    var label: [UInt8]
    var lines: [Int32]
  }

  var sides: [Side]
}

/// The terms of a sum: the positive ones, each with its author's label, and the negative ones.
struct ConflictTerms {
  var positives: [[Int32]]
  var labels: [[UInt8]]
  var negatives: [[Int32]]

  /// The terms that remain when each one cancels an equal one of opposite sign. Of several equal terms, the last
  /// ones cancel.
  var uncancelled: ConflictTerms {
    func counts(_ values: [[Int32]]) -> [[Int32]: Int] {
      values.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }
    let (above, below) = (counts(positives), counts(negatives))
    func left(_ values: [[Int32]], _ other: [[Int32]: Int], _ own: [[Int32]: Int]) -> Set<Int> {
      var kept: [[Int32]: Int] = [:]
      return Set(
        values.indices.filter { index in
          kept[values[index], default: 0] += 1
          return kept[values[index], default: 0]
            <= own[values[index], default: 0] - other[values[index], default: 0]
        })
    }
    let places = left(positives, below, above)
      .union(left(negatives, above, below).map { $0 + positives.count })
    return split(where: places.contains).0
  }

  /// Whether a side of a block has half of the lines of each negative term, and all lines of the negative terms that
  /// some positive term has replaced. Then the positive terms' edits also apply to that side.
  func areEdits(ofBasesIn side: [Int32]) -> Bool {
    func counts(_ lines: [Int32]) -> [Int32: Int] {
      lines.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }
    let (has, others) = (counts(side), positives.map(counts))
    return negatives.allSatisfy { base in
      let lines = counts(base)
      let common = lines.reduce(0) { $0 + min($1.value, has[$1.key, default: 0]) }
      return 2 * common >= base.count
        && lines.allSatisfy { line, count in
          let least = others.map { $0[line, default: 0] }.min() ?? count
          return count - least <= has[line, default: 0]
        }
    }
  }

  /// The terms at some positions, with the negative ones after the positive ones, and the other
  /// terms.
  func split(where isFirst: (Int) -> Bool) -> (ConflictTerms, ConflictTerms) {
    var parts = (
      ConflictTerms(positives: [], labels: [], negatives: []),
      ConflictTerms(positives: [], labels: [], negatives: [])
    )
    for (index, value) in (positives + negatives).enumerated() {
      func add(to terms: inout ConflictTerms) {
        if index < positives.count {
          terms.positives.append(value)
          terms.labels.append(labels[index])
        } else {
          terms.negatives.append(value)
        }
      }
      if isFirst(index) { add(to: &parts.0) } else { add(to: &parts.1) }
    }
    return parts
  }
}

/// The common first and last lines of all sides of a conflict, and the lines between them: each text once, with
/// its first label. In a union, a side without lines does not count.
struct TrimmedSides {
  private(set) var start: [Int32] = []
  private(set) var sides: [ConflictBlock.Side] = []
  private(set) var end: [Int32] = []

  init(_ given: [ConflictBlock.Side], isUnion: Bool) {
    var seen: Set<[Int32]> = []
    var texts = given.filter { seen.insert($0.lines).inserted }.map { ($0.label, $0.lines[...]) }
    var (first, last): (ArraySlice<Int32>, ArraySlice<Int32>) = ([], [])
    while true {
      if isUnion { texts.removeAll { $0.1.isEmpty } }
      guard texts.count > 1, let shortest = texts.map(\.1.count).min(), shortest > 0 else { break }
      let model = texts[0].1
      var count = 0
      while count < shortest,
        texts.allSatisfy({ $0.1[$0.1.startIndex + count] == model[model.startIndex + count] })
      {
        count += 1
      }
      first += model.prefix(count)
      texts = texts.map { ($0.0, $0.1.dropFirst(count)) }
      if count == shortest, isUnion { continue }
      let rest = texts[0].1
      var tail = 0
      while tail < shortest - count,
        texts.allSatisfy({ $0.1[$0.1.endIndex - 1 - tail] == rest[rest.endIndex - 1 - tail] })
      {
        tail += 1
      }
      last = rest.suffix(tail) + last
      texts = texts.map { ($0.0, $0.1.dropLast(tail)) }
      if count + tail == 0 || !isUnion { break }
    }
    start = Array(first)
    sides = texts.map { .init(label: $0.0, lines: Array($0.1)) }
    end = Array(last)
  }
}

/// The sides of a conflict, some of which may already contain blocks: notes-merge(7), "Blocks that
/// meet".
enum ConflictSides {
  /// One side for each distinct text in the remaining values. A side of an older block that some term removed or
  /// replaced is left out: the terms with that side cancel against the bases with it.
  static func sides(
    _ left: [ConflictBlock.Side], positives: [[Int32]], negatives: [[Int32]],
    blocks: [Int32: ConflictBlock]
  ) -> [ConflictBlock.Side] {
    var net: [[Int32]: Int] = [:]
    for (values, sign) in [(positives, 1), (negatives, -1)] {
      for value in values {
        for text in Set(expand(value, label: [], blocks: blocks).map(\.lines)) {
          net[text, default: 0] += sign
        }
      }
    }
    return left.flatMap { value in
      let sides = expand(value.lines, label: value.label, blocks: blocks)
      return sides.filter { sides.count == 1 || net[$0.lines, default: 0] > 0 }
    }
  }

  /// The texts that a sequence of lines and blocks represents: as many as its largest block has sides. For a
  /// smaller block, the last side is repeated.
  static func expand(
    _ lines: [Int32], label: [UInt8], blocks: [Int32: ConflictBlock]
  ) -> [ConflictBlock.Side] {
    let held = lines.compactMap { blocks[$0] }
    guard let largest = held.max(by: { $0.sides.count < $1.sides.count }) else {
      return [ConflictBlock.Side(label: label, lines: lines)]
    }
    return largest.sides.indices.map { index in
      let label = held.first { $0.sides.count > index }?.sides[index].label ?? label
      let text = lines.flatMap { line -> [Int32] in
        guard let block = blocks[line] else { return [line] }
        return block.sides[min(index, block.sides.count - 1)].lines
      }
      return ConflictBlock.Side(label: label, lines: text)
    }
  }
}
