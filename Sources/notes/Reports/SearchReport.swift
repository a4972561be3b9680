internal import History

struct SearchReport {
  let hits: ArraySlice<SearchHit>
  let found: Int
  let texts: [String]

  var json: some Sequence<JSON> { hits.lazy.map(\.json) }

  func write(on terminal: Terminal, now: Int64, _ give: (String) -> Void) {
    if hits.isEmpty {
      give("No note contains \(Phrase.list(texts.map { "'\(Visible.name($0))'" })).\n")
    }
    for hit in hits { give(Self.text(of: hit, on: terminal, now: now)) }
    let left = found - hits.count
    if left > 0 { give("and \(Phrase.count(left, "note")) more; -n shows more\n") }
  }

  private static func text(of hit: SearchHit, on terminal: Terminal, now: Int64) -> String {
    var text = headline(of: hit, on: terminal, now: now) + "\n"
    // Line numbers are aligned within a note.
    let digits = String(hit.lines.last?.number ?? 0).count
    let hasContext = hit.lines.contains { !$0.isMatch }
    var former: Int?
    for line in hit.lines {
      if hasContext, let former, line.number > former + 1 {
        text += terminal.paint("  " + String(repeating: "·", count: digits), .dim) + "\n"
      }
      former = line.number
      let number = String(line.number)
      let room = terminal.width.map { $0 - digits - 4 }
      text += String.spaces(2 + digits - number.count)
      text += terminal.paint(number + (line.isMatch ? ":" : " "), .dim) + " "
      text += line.pieces(in: room).map { terminal.paint($0) }.joined() + "\n"
    }
    let told = hit.lines.count(where: \.isMatch)
    if told > 0, hit.matchingLineCount > told {
      let more = "and \(Phrase.number(hit.matchingLineCount - told)) more"
      text += "  " + terminal.paint(more, .dim) + "\n"
    }
    return text
  }

  private static func headline(of hit: SearchHit, on terminal: Terminal, now: Int64) -> String {
    let when = TimeText.relative(hit.modified, now: now)
    func title(beside rest: String) -> String {
      terminal.paint(terminal.fitting(hit.path.label, beside: Width.of(rest) + 2), .bold)
    }
    guard let former = hit.former
    else { return title(beside: when) + "  " + terminal.paint(when, .dim) }
    return title(beside: "no longer; last in 0123456789, \(when)")
      + "  " + terminal.paint(former.isDeleted ? "deleted" : "no longer", .red)
      + terminal.paint("; last in ", .dim) + terminal.paint(former.version)
      + terminal.paint(", \(when)", .dim)
  }
}

extension SearchLine {
  /// The line, cut on both sides if it is too wide, so that its first match is visible.
  fileprivate func pieces(in width: Int?) -> [Styled] {
    var pieces: [Styled] = []
    func add(_ range: Range<Int>, _ style: Style?) {
      if range.isEmpty { return }
      // Table columns have no tab stops.
      let text = String(decoding: bytes[range], as: UTF8.self).map { $0 == "\t" ? " " : $0 }
      pieces.append(Styled(Visible.text(String(text)), style))
    }
    var position = 0
    for match in matches {
      add(position..<match.lowerBound, nil)
      add(match, .boldRed)
      position = match.upperBound
    }
    add(position..<bytes.count, nil)
    guard let width = width.map({ max(10, $0) }), pieces.width > width else { return pieces }
    let first = pieces.firstIndex { $0.style != nil } ?? 0
    let before = Array(pieces[..<first])
    let match = Width.of(pieces[first].text)
    guard before.width + match > width - 1 else { return pieces.cut(to: width) }
    // Only so much is cut on the left that the match is visible with some words before it.
    var left = max(0, min(width / 3, width - 2 - match))
    let kept = before.map(\.text).joined().reversed().prefix { character in
      left -= Width.of(character)
      return left >= 0
    }
    return ([Styled("…"), Styled(String(kept.reversed()))] + pieces[first...]).cut(to: width)
  }
}

extension SearchHit: JSONEncodable {
  var json: JSON {
    let found = former == nil ? "present" : former?.isDeleted == true ? "deleted" : "former"
    return [
      "type": "hit", "title": path.noteTitle, "path": path, "state": found,
      "version": former?.version,
      "rank": "\(rank)", "modified": TimeText.rfc3339(modified),
      "matching_lines": matchingLineCount, "lines": lines,
    ]
  }
}

extension SearchLine: JSONEncodable {
  var json: JSON {
    ["line": number, "text": String(decoding: bytes, as: UTF8.self), "match": isMatch]
  }
}
