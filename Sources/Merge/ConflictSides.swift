/// Several texts for one place of a note, as numbers of a `LineTable`.
struct ConflictBlock {
  struct Side {
    /// `NAME · DATE`, as the marker shows it.
    var label: [UInt8]
    var lines: [Int32]
  }

  var sides: [Side]
}

/// The sides of a conflict, of which some may hold blocks already: notes-merge(7), "Blocks that
/// meet".
enum ConflictSides {
  /// One side for each distinct text that the values left hold; a side of an older block that some
  /// term removed or replaced is left out: those that have it cancel against the bases that do.
  static func sides(
    _ left: [(lines: [Int32], label: [UInt8])], positives: [[Int32]], negatives: [[Int32]],
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
    var result: [ConflictBlock.Side] = []
    var seen: Set<[Int32]> = []
    for value in left {
      let sides = expand(value.lines, label: value.label, blocks: blocks)
      for side in sides {
        let isDropped = sides.count > 1 && net[side.lines, default: 0] <= 0
        if !isDropped, seen.insert(side.lines).inserted { result.append(side) }
      }
    }
    return result
  }

  /// The texts that a run of lines and blocks stands for: as many as its largest block has sides;
  /// of a smaller block the last one is repeated.
  private static func expand(
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
