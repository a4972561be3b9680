internal import History
internal import Merge
internal import Notebook

/// A block of a note in conflict, as shown to the person who resolves it: in each side, words that
/// another side lacks are marked.
struct BlockText {
  let note: ConflictedNote
  /// The block's number, counted from 0.
  let number: Int
  /// The authors of the sides, by their labels.
  let writers: [[UInt8]: String]

  /// How many lines before the block are shown.
  private static let context = 2

  func text(on terminal: Terminal) -> String {
    let sides = note.blocks[number]
    let name = Visible.name(note.path)
    let place = "block \(number + 1) of \(note.blocks.count), line \(Phrase.number(line))"
    var text =
      "\n" + terminal.paint([Styled(name, .bold), Styled(": \(place)")]) + "\n"
    for line in linesBefore {
      text += "    " + terminal.paint(Width.cut(terminal.shown(line), to: room(terminal)), .dim)
      text += "\n"
    }
    for (position, side) in sides.enumerated() {
      let other = position == 0 ? sides[sides.count - 1] : sides[0]
      text += heading(side, position, of: sides.count, on: terminal)
      text += body(side, beside: other, isFirst: position == 0, on: terminal)
    }
    return text
  }

  private func heading(
    _ side: MarkedText.Side, _ position: Int, of count: Int, on terminal: Terminal
  ) -> String {
    let age =
      switch position {
      case 0: count > 2 ? "oldest" : "older"
      case count - 1: count > 2 ? "newest" : "newer"
      default: "between"
      }
    let number = count > 2 ? "\(position + 1) " : ""
    let writer = "\(writers[side.label] ?? Visible.name(side.name)), \(side.date)"
    return "  "
      + terminal.paint([
        Styled(number + age, position == 0 ? .red : .green), Styled("  " + writer, .dim),
      ]) + "\n"
  }

  /// The lines of a side. Without colour, words only in the first side are in `[-…-]`, and those only
  /// in the others in `{+…+}`, as in notes-diff(1).
  private func body(
    _ side: MarkedText.Side, beside other: MarkedText.Side, isFirst: Bool, on terminal: Terminal
  ) -> String {
    let pair =
      isFirst
      ? WordDiff.sides(side.text, other.text) : WordDiff.sides(other.text, side.text)
    let pieces = isFirst ? pair.old : pair.new
    if side.text.isEmpty { return "    " + terminal.paint("(nothing)", .dim) + "\n" }
    let marksWords = pieces.contains { $0.kind == .same } && !terminal.usesColour
    var lines: [[Styled]] = [[]]
    for piece in pieces {
      let parts = piece.bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      for (position, part) in parts.enumerated() {
        if position > 0 { lines.append([]) }
        guard !part.isEmpty else { continue }
        lines[lines.count - 1].append(styled(part, piece.kind, marksWords, on: terminal))
      }
    }
    if side.text.last == UInt8(ascii: "\n") { lines.removeLast() }
    return lines.flatMap { $0.lines(of: terminal.width.map { $0 - 4 }, on: terminal) }
      .map { ("    " + $0).trimmedAtEnd + "\n" }.joined()
  }

  private func styled(
    _ bytes: ArraySlice<UInt8>, _ kind: WordDiff.Piece.Kind, _ marksWords: Bool,
    on terminal: Terminal
  ) -> Styled {
    let words = terminal.shown(bytes)
    return switch kind {
    case .same: Styled(words)
    case .removed: Styled(marksWords ? "[-\(words)-]" : words, .red)
    case .added: Styled(marksWords ? "{+\(words)+}" : words, .green)
    }
  }

  private func room(_ terminal: Terminal) -> Int { terminal.width.map { $0 - 4 } ?? .max }

  /// The text before the block, up to the block before.
  private var before: (all: [UInt8], last: [UInt8]) {
    var all: [UInt8] = []
    var last: [UInt8] = []
    var block = 0
    for piece in note.marked.pieces {
      switch piece {
      case .text(let text): (all, last) = (all + text, Array(text))
      case .block(_, let source):
        if block == number { return (all, last) }
        (all, last) = (all + source, [])
        block += 1
      }
    }
    return (all, last)
  }

  /// The number of the block's first line in the note, counted from 1.
  private var line: Int { before.all.count { $0 == UInt8(ascii: "\n") } + 1 }

  private var linesBefore: [ArraySlice<UInt8>] {
    let lines = before.last.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    return Array(lines.dropLast().suffix(Self.context))
  }
}
