/// The sides of a conflict, of which some may hold blocks already: notes-merge(7), "Blocks that
/// meet".
enum ConflictSides {
  /// One side for each distinct text that the positive terms hold; a side of an older block that
  /// another term removed or replaced is left out.
  static func sides(
    positives: [(lines: [Int32], label: [UInt8])], negatives: [[Int32]],
    blocks: [Int32: ConflictBlock]
  ) -> [ConflictBlock.Side] {
    let expanded = positives.map { expand($0.lines, label: $0.label, blocks: blocks) }
    let texts = expanded.map { Set($0.map(\.lines)) }
    let old = Set(
      negatives.flatMap { expand($0, label: [], blocks: blocks).map(\.lines) })
    var result: [ConflictBlock.Side] = []
    var seen: Set<[Int32]> = []
    for sides in expanded {
      for side in sides {
        let isDropped =
          sides.count > 1 && old.contains(side.lines)
          && texts.contains { !$0.contains(side.lines) }
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
