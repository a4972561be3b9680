/// A choice among the sides of a note's conflict blocks.
public enum Resolution: Hashable, Sendable {
  /// The oldest side of each block.
  case older
  /// The newest side of each block.
  case newer
  /// All sides, in their order in the block.
  case both
  /// The side with this name in its label; blocks without such a side are unchanged.
  case side(name: String)

  /// The note `marked` with its blocks replaced by the chosen sides. Throws if it has no block, or no side with
  /// the requested name.
  ///
  /// - Parameters:
  ///   - times: when the sides were written, by label, in seconds since 1970. If one is missing, the block's
  ///     sides are in the order of the note: notes-merge(7), "Blocks that meet".
  ///   - blocks: the numbers of the blocks, counted from 0; all if empty.
  public func apply(
    to marked: MarkedText, times: [[UInt8]: Int64] = [:], blocks: Set<Int> = []
  ) throws(MergeError) -> [UInt8] {
    let all = marked.blocks
    guard !all.isEmpty else { throw .noConflict }
    let wanted = blocks.isEmpty ? Set(all.indices) : blocks
    if let missing = wanted.subtracting(all.indices).min() {
      throw .noBlock(number: missing + 1, of: all.count)
    }
    var chosen: [Int: [UInt8]] = [:]
    for number in wanted { chosen[number] = self.text(of: all[number], times: times) }
    if chosen.isEmpty, case .side(let name) = self { throw .noSide(name: name) }
    return marked.text(replacing: chosen)
  }

  /// The text in place of a block; nil if the block is unchanged. The parameters are those of
  /// `apply`.
  public func text(of sides: [MarkedText.Side], times: [[UInt8]: Int64]) -> [UInt8]? {
    switch self {
    case .older: sides.oldestFirst(times).first?.text
    case .newer: sides.oldestFirst(times).last?.text
    case .both: sides.flatMap(\.text)
    case .side(let name):
      sides.oldestFirst(times)
        .first { $0.name == name || $0.name == name + SideLabel.unsigned }?.text
    }
  }
}

extension [MarkedText.Side] {
  /// The sides in the order in which they were written; in the block's order if a time is missing.
  public func oldestFirst(_ times: [[UInt8]: Int64]) -> [MarkedText.Side] {
    let written = compactMap { times[$0.label] }
    guard written.count == count else { return self }
    return zip(written, indices).sorted { $0 < $1 }.map { self[$0.1] }
  }
}
