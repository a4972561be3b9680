/// Choosing among the sides of a note's conflict blocks.
public enum Resolution: Hashable, Sendable {
  /// The side that comes first in each block.
  case older
  /// The side that comes last in each block.
  case newer
  /// All sides, in order.
  case both
  /// The side whose label bears this name; blocks without one stay.
  case side(name: String)

  /// The note with its blocks replaced by what is chosen. Throws when it has no block, or none of
  /// its sides has the name asked for.
  public func apply(to text: [UInt8], markerSize: Int) throws(MergeError) -> [UInt8] {
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
      case .block(let sides, let source): result += chosen(from: sides) ?? source
      }
    }
    return result
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
