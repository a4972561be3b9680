internal import Git
internal import History
internal import Notebook

extension FileDiff {
  /// What changed as prose: lines with the words that went and came, broken at the terminal's
  /// width. Where there is no colour, words that went stand in `[-…-]`, words that came in `{+…+}`.
  func words(for terminal: Terminal) -> String {
    let diff = WordDiff(from: old ?? [], to: new ?? [])
    var text = heading(diff, on: terminal)
    if diff.isBinary { return text + "  not text\n" }
    if diff.groups.isEmpty, old != nil, new != nil, old != new {
      text += "  only the newline at the end of the file differs\n"
    }
    for (position, group) in diff.groups.enumerated() {
      if position > 0 || group.firstLine > 1 {
        text += terminal.paint("  line \(Phrase.number(group.firstLine))", .cyan) + "\n"
      }
      for row in group.rows { text += shown(row, on: terminal) }
    }
    return text
  }

  private func heading(_ diff: WordDiff, on terminal: Terminal) -> String {
    let name = Visible.name(path)
    let title = formerPath.map { "\(Visible.name($0)) → \(name)" } ?? name
    let word = ChangeWord.cell(kind)
    let counts = [(diff.added, "+"), (diff.removed, "−")].filter { $0.0 > 0 }
      .map { $0.1 + Phrase.number($0.0) }.joined(separator: " ")
    // Of a title there are ten columns at least, as in tables.
    let others = [word.text, counts].reduce(0) { $0 + ($1.isEmpty ? 0 : Width.of($1) + 2) }
    let room = terminal.width.map { max(10, $0 - others) }
    return [
      terminal.paint(room.map { Width.cut(title, to: $0) } ?? title, .bold),
      terminal.paint(word),
      terminal.paint(counts, .dim),
    ].filter { !$0.isEmpty }.joined(separator: "  ") + "\n"
  }

  /// A sign for the whole row, then its pieces.
  private func shown(_ row: WordDiff.Row, on terminal: Terminal) -> String {
    let sign =
      switch row.kind {
      case .context: "  "
      case .removed: "- "
      case .added: "+ "
      case .changed: "~ "
      }
    var prose = StyledText()
    for piece in row.pieces {
      let decoded = String(decoding: piece.bytes, as: UTF8.self)
      let words = terminal.isInteractive || terminal.usesColour ? Visible.text(decoded) : decoded
      switch piece.kind {
      case .same: prose.add(words)
      case .removed:
        let isMarked = row.kind == .changed && !terminal.usesColour
        prose.add(isMarked ? "[-\(words)-]" : words, .red)
      case .added:
        let isMarked = row.kind == .changed && !terminal.usesColour
        prose.add(isMarked ? "{+\(words)+}" : words, .green)
      }
    }
    let style: Style? =
      switch row.kind {
      case .context: nil
      case .removed: .red
      case .added: .green
      case .changed: .yellow
      }
    let lines = prose.lines(of: terminal.width.map { $0 - 2 }, on: terminal)
    return lines.enumerated().map { position, line in
      let margin = position == 0 ? terminal.paint(sign, style) : "  "
      return (line.isEmpty && row.kind == .context ? "" : margin + line).trimmedAtEnd + "\n"
    }.joined()
  }
}
