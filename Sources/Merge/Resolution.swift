/// Choosing among the sides of a note's conflict blocks.
public enum Resolution: Hashable, Sendable {
  /// The side of each block that was written first.
  case older
  /// The side of each block that was written last.
  case newer
  /// All sides, in the order in which they stand there.
  case both
  /// The side whose label bears this name; blocks without one stay.
  case side(name: String)

  /// The note `marked` with its blocks replaced by what is chosen. Throws when it has no block, or none
  /// of its sides has the name asked for.
  ///
  /// - Parameters:
  ///   - times: when the side of a label was written, in seconds since 1970. A block with a side that is
  ///     not told has its sides in the order of the note: notes-merge(7), "Blocks that meet".
  ///   - blocks: which blocks, counted from 0; all where none are given.
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

  /// The text in place of a block; nil when the block stays. Parameters as in `apply`.
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
  /// In the order in which they were written; as they stand where that is not known of all.
  public func oldestFirst(_ times: [[UInt8]: Int64]) -> [MarkedText.Side] {
    let written = compactMap { times[$0.label] }
    guard written.count == count else { return self }
    return zip(written, indices).sorted { $0 < $1 }.map { self[$0.1] }
  }
}
