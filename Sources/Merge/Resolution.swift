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

  /// The note with its blocks replaced by what is chosen. Throws when it has no block, or none of
  /// its sides has the name asked for.
  ///
  /// - Parameter times: when the side of a label was written, in seconds since 1970. A block with a side
  ///   that is not told has its sides in the order of time: notes-merge(7), "Blocks that meet".
  public func apply(
    to text: [UInt8], markerSize: Int, times: [[UInt8]: Int64] = [:]
  ) throws(MergeError) -> [UInt8] {
    let marked = MarkedText(text, markerSize: markerSize)
    guard !marked.blocks.isEmpty else { throw .noConflict }
    if case .side(let name) = self,
      !marked.blocks.contains(where: { $0.contains { $0.name == name } })
    {
      throw .noSide(name: name)
    }
    var result: [UInt8] = []
    for piece in marked.pieces {
      switch piece {
      case .text(let text): result += text
      case .block(let sides, let source):
        let sides = self == .both ? sides : Self.sorted(sides, by: times)
        result += chosen(from: sides) ?? source
      }
    }
    return result
  }

  private static func sorted(
    _ sides: [MarkedText.Side], by times: [[UInt8]: Int64]
  ) -> [MarkedText.Side] {
    let written = sides.compactMap { times[$0.label] }
    guard written.count == sides.count else { return sides }
    return zip(written, sides.indices).sorted { $0 < $1 }.map { sides[$0.1] }
  }

  /// What stands in for a block; nil when the block stays.
  private func chosen(from sides: [MarkedText.Side]) -> [UInt8]? {
    switch self {
    case .older: sides.first?.text
    case .newer: sides.last?.text
    case .both: sides.flatMap(\.text)
    case .side(let name): sides.first { $0.name == name }?.text
    }
  }
}
