/// A note's text cut into plain text and conflict blocks: notes-merge(7), "Markers".
public struct MarkedText: Sendable {
  /// One side of a block.
  public struct Side: Hashable, Sendable {
    /// Who wrote the side and when, as the marker says: `NAME · YYYY-MM-DD HH:MM`.
    public var label: [UInt8]
    /// The side's bytes, its line endings as in the note.
    public var text: [UInt8]

    /// The name in the label.
    public var name: String {
      String(decoding: ConflictLabel.parse(label)?.name ?? [], as: UTF8.self)
    }
    /// The date in the label, `YYYY-MM-DD HH:MM` where the side was written.
    public var date: String {
      String(decoding: ConflictLabel.parse(label)?.date ?? [], as: UTF8.self)
    }
  }

  /// A piece of the note.
  public enum Piece: Hashable, Sendable {
    case text([UInt8])
    /// The sides, and the bytes of the whole block.
    case block([Side], source: [UInt8])
  }

  /// The pieces in order; texts are not empty and never neighbours.
  public var pieces: [Piece]

  /// The sides of each block, in order.
  public var blocks: [[Side]] {
    pieces.compactMap { if case .block(let sides, _) = $0 { sides } else { nil } }
  }

  /// How long the shortest markers are.
  public static let smallestMarkerSize = 7

  /// Reads a note whose blocks, if it has any, have markers of that size; what does not have the
  /// exact form of a block is text.
  public init(_ text: [UInt8], markerSize: Int) {
    let lines = Self.lineRanges(of: text)
    pieces = []
    var textStart = 0
    var index = 0
    while index < lines.count {
      if let (sides, next) = Self.block(in: text, lines, at: index, markerSize: markerSize) {
        let start = lines[index].lowerBound
        if start > textStart { pieces.append(.text(Array(text[textStart..<start]))) }
        index = next
        textStart = index < lines.count ? lines[index].lowerBound : text.count
        pieces.append(.block(sides, source: Array(text[start..<textStart])))
      } else {
        index += 1
      }
    }
    if textStart < text.count { pieces.append(.text(Array(text[textStart...]))) }
  }

  /// Whether some line is a block's opening marker, of any size: without one there is no block.
  package static func mayHoldBlocks(_ text: [UInt8]) -> Bool {
    text.withUnsafeBytes { bytes in
      let mark = UInt8(ascii: "<")
      var start = 0
      while let first = bytes[start...].firstIndex(of: mark) {
        let run = bytes[first...].prefix { $0 == mark }.count
        start = first + run
        let isAtStart = first == 0 || bytes[first - 1] == UInt8(ascii: "\n")
        guard run >= smallestMarkerSize, isAtStart else { continue }
        let line = text[first...].prefix { $0 != UInt8(ascii: "\n") }
        if case .opening = MarkerLine(line, size: run) { return true }
      }
      return false
    }
  }

  /// The ranges of the lines, newlines included.
  private static func lineRanges(of text: [UInt8]) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    var start = 0
    for index in text.indices where text[index] == UInt8(ascii: "\n") {
      ranges.append(start..<index + 1)
      start = index + 1
    }
    if start < text.count { ranges.append(start..<text.count) }
    return ranges
  }

  private static func block(
    in text: [UInt8], _ lines: [Range<Int>], at first: Int, markerSize: Int
  ) -> (sides: [Side], next: Int)? {
    guard
      case .opening(let label) = MarkerLine(text[lines[first]], size: markerSize)
    else { return nil }
    var sides: [Side] = []
    var current = Side(label: label, text: [])
    var isLast = false
    for index in lines.indices[(first + 1)...] {
      switch MarkerLine(text[lines[index]], size: markerSize) {
      case nil: current.text.append(contentsOf: text[lines[index]])
      case .separator(let label):
        if isLast { return nil }
        sides.append(current)
        isLast = label == nil
        current = Side(label: label ?? [], text: [])
      case .closing(let label):
        guard isLast else { return nil }
        current.label = label
        return (sides + [current], index + 1)
      case .opening, .malformed: return nil
      }
    }
    return nil
  }
}

/// What a line is if it is a marker of a given size.
enum MarkerLine: Equatable {
  case opening(label: [UInt8])
  /// Without a label the side that follows is the block's last.
  case separator(label: [UInt8]?)
  case closing(label: [UInt8])
  /// A marker of that size whose label is not one of ours.
  case malformed

  init?(_ line: ArraySlice<UInt8>, size: Int) {
    var content = line
    if content.last == UInt8(ascii: "\n") { content.removeLast() }
    if content.last == UInt8(ascii: "\r") { content.removeLast() }
    guard let mark = content.first, [UInt8]("<=>".utf8).contains(mark) else { return nil }
    let run = content.prefix { $0 == mark }.count
    guard run == size else { return nil }
    let rest = content.dropFirst(run)
    guard rest.isEmpty || rest.first == UInt8(ascii: " ") else { return nil }
    let label = Array(rest.dropFirst())
    let isLabel = ConflictLabel.parse(label) != nil
    switch mark {
    case UInt8(ascii: "<"): self = isLabel ? .opening(label: label) : .malformed
    case UInt8(ascii: ">"): self = isLabel ? .closing(label: label) : .malformed
    default:
      if rest.isEmpty {
        self = .separator(label: nil)
      } else {
        self = isLabel ? .separator(label: label) : .malformed
      }
    }
  }

  /// The length of the run of one marker character that a line starts with, if the line could be
  /// taken for a marker, else 0.
  static func run(in line: ArraySlice<UInt8>) -> (mark: UInt8, length: Int) {
    guard let mark = line.first, [UInt8]("<=>".utf8).contains(mark) else { return (0, 0) }
    let run = line.prefix { $0 == mark }.count
    let rest = line.dropFirst(run)
    let ends = rest.isEmpty || rest.first == UInt8(ascii: " ") || rest.elementsEqual("\r".utf8)
    return ends ? (mark, run) : (0, 0)
  }
}

/// `NAME · YYYY-MM-DD HH:MM`.
enum ConflictLabel {
  private static let pattern = Array(" · 0000-00-00 00:00".utf8)

  /// The label's parts, or nil when it does not have the form.
  static func parse(_ label: [UInt8]) -> (name: [UInt8], date: [UInt8])? {
    guard label.count > pattern.count else { return nil }
    for (byte, wanted) in zip(label.suffix(pattern.count), pattern) {
      let fits =
        wanted == UInt8(ascii: "0")
        ? (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) : byte == wanted
      guard fits else { return nil }
    }
    return (Array(label.dropLast(pattern.count)), Array(label.suffix(16)))
  }
}
