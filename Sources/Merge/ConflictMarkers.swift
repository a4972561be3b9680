/// A note's text divided into plain text and conflict blocks: notes-merge(7), "Markers".
public struct MarkedText: Sendable {
  /// One side of a block.
  public struct Side: Hashable, Sendable {
    /// The author of the side and the time, from the marker: `NAME · YYYY-MM-DD HH:MM`.
    public var label: [UInt8]
    /// The side's bytes, with the note's line endings.
    public var text: [UInt8]

    /// The name in the label.
    public var name: String {
      String(decoding: ConflictLabel.parse(label)?.name ?? [], as: UTF8.self)
    }
    /// The date in the label, `YYYY-MM-DD HH:MM`, in the writer's zone.
    public var date: String {
      String(decoding: ConflictLabel.parse(label)?.date ?? [], as: UTF8.self)
    }
  }

  /// A piece of the note. Its bytes are a slice of the note, not a copy, as a note may be large.
  public enum Piece: Hashable, Sendable {
    case text(ArraySlice<UInt8>)
    /// The sides, and the bytes of the whole block.
    case block([Side], source: ArraySlice<UInt8>)
  }

  /// The pieces in order; texts are never empty and never next to each other.
  public var pieces: [Piece]

  /// The sides of each block, in order.
  public var blocks: [[Side]] {
    pieces.compactMap { if case .block(let sides, _) = $0 { sides } else { nil } }
  }

  /// The bytes of a block, including its markers; blocks are counted from 0.
  public func source(ofBlock number: Int) -> ArraySlice<UInt8> {
    let sources = pieces.lazy.compactMap {
      if case .block(_, let source) = $0 { source } else { nil }
    }
    return Array(sources)[number]
  }

  /// The note with texts in place of blocks, which are counted from 0; other blocks are unchanged.
  public func text(replacing texts: [Int: [UInt8]]) -> [UInt8] {
    var number = 0
    return pieces.reduce(into: []) { whole, piece in
      switch piece {
      case .text(let text): whole += text
      case .block(_, let source):
        if let text = texts[number] { whole += text } else { whole += source }
        number += 1
      }
    }
  }

  /// The length of the shortest markers.
  public static let smallestMarkerSize = 7

  /// Reads a note whose blocks, if any, have markers of that size; anything without the exact form
  /// of a block is text.
  public init(_ text: [UInt8], markerSize: Int) {
    let lines = Self.lineRanges(of: text)
    pieces = []
    var textStart = 0
    var index = 0
    while index < lines.count {
      if let (sides, next) = Self.block(in: text, lines, at: index, markerSize: markerSize) {
        let start = lines[index].lowerBound
        if start > textStart { pieces.append(.text(text[textStart..<start])) }
        index = next
        textStart = index < lines.count ? lines[index].lowerBound : text.count
        pieces.append(.block(sides, source: text[start..<textStart]))
      } else {
        index += 1
      }
    }
    if textStart < text.count { pieces.append(.text(text[textStart...])) }
  }

  /// Whether any line is a block's opening marker, of any size. If not, the text has no block.
  package static func mayHoldBlocks(_ text: [UInt8]) -> Bool {
    let mark = UInt8(ascii: "<")
    var start = 0
    while let first = text[start...].firstIndex(of: mark) {
      let size = text[first...].prefix { $0 == mark }.count
      start = first + size
      let isAtStart = first == 0 || text[first - 1] == UInt8(ascii: "\n")
      guard size >= smallestMarkerSize, isAtStart else { continue }
      let line = text[first...].prefix { $0 != UInt8(ascii: "\n") }
      if case .opening = MarkerLine(line, size: size) { return true }
    }
    return false
  }

  /// The ranges of the lines, including newlines.
  private static func lineRanges(of text: [UInt8]) -> [Range<Int>] {
    var ends = text.indices.filter { text[$0] == UInt8(ascii: "\n") }.map { $0 + 1 }
    if (ends.last ?? 0) < text.count { ends.append(text.count) }
    return zip([0] + ends, ends).map { $0..<$1 }
  }

  private static func block(
    in text: [UInt8], _ lines: [Range<Int>], at first: Int, markerSize: Int
  ) -> (sides: [Side], next: Int)? {
    guard case .opening(let label) = MarkerLine(text[lines[first]], size: markerSize) else {
      return nil
    }
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

/// The kind of marker, of a given size, in a line.
enum MarkerLine: Equatable {
  case opening(label: [UInt8])
  /// A separator. If it has no label, the side after it is the block's last.
  case separator(label: [UInt8]?)
  case closing(label: [UInt8])
  /// A marker of that size with an invalid label.
  case malformed

  init?(_ line: ArraySlice<UInt8>, size: Int) {
    guard let parts = Parts(line), parts.size == size else { return nil }
    if parts.mark == UInt8(ascii: "="), parts.rest.isEmpty {
      self = .separator(label: nil)
      return
    }
    let label = Array(parts.rest.dropFirst())
    guard ConflictLabel.parse(label) != nil else {
      self = .malformed
      return
    }
    switch parts.mark {
    case UInt8(ascii: "<"): self = .opening(label: label)
    case UInt8(ascii: ">"): self = .closing(label: label)
    default: self = .separator(label: label)
    }
  }

  /// The parts of a line that could be a marker.
  struct Parts {
    let mark: UInt8
    /// How many times the character is repeated at the start.
    let size: Int
    /// The rest of the line: empty, or a space and more.
    let rest: ArraySlice<UInt8>

    init?(_ line: ArraySlice<UInt8>) {
      var content = line
      if content.last == UInt8(ascii: "\n") { content.removeLast() }
      if content.last == UInt8(ascii: "\r") { content.removeLast() }
      guard let mark = content.first, "<=>".utf8.contains(mark) else { return nil }
      self.mark = mark
      rest = content.drop { $0 == mark }
      size = content.count - rest.count
      guard rest.isEmpty || rest.first == UInt8(ascii: " ") else { return nil }
    }
  }
}

/// `NAME · YYYY-MM-DD HH:MM`.
enum ConflictLabel {
  private static let pattern = Array(" · 0000-00-00 00:00".utf8)

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
