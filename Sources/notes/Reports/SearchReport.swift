internal import Git
internal import History
internal import Notebook

struct SearchReport {
  let hits: ArraySlice<SearchHit>
  /// How many were found but are not told.
  let left: Int
  let texts: [String]

  /// - Parameter left: how many notes were found in all.
  init(hits: ArraySlice<SearchHit>, left: Int, texts: [String]) {
    self.hits = hits
    self.left = left - hits.count
    self.texts = texts
  }

  var json: some Sequence<JSON> { hits.lazy.map(\.json) }

  /// Gives the report piece by piece, a note each: there may be very many.
  func write(on terminal: Terminal, now: Int64, _ give: (String) -> Void) {
    if hits.isEmpty {
      give("No note holds \(Phrase.list(texts.map { "'\(Visible.name($0))'" })).\n")
    }
    for hit in hits { give(Self.text(of: hit, on: terminal, now: now)) }
    if left > 0 { give("and \(Phrase.count(left, "note")) more; -n shows more\n") }
  }

  private static func text(of hit: SearchHit, on terminal: Terminal, now: Int64) -> String {
    var text = headline(of: hit, on: terminal, now: now) + "\n"
    // Numbers stand below each other within a note.
    let digits = String(hit.lines.last?.number ?? 0).count
    var former: Int?
    for line in hit.lines {
      if let former, line.number > former + 1, hit.lines.contains(where: { !$0.isMatch }) {
        text += terminal.paint("  " + String(repeating: "·", count: digits), .dim) + "\n"
      }
      former = line.number
      let number = String(line.number)
      let indent = "  " + String(repeating: " ", count: digits - number.count)
      let room = terminal.width.map { $0 - digits - 4 }
      text += indent + terminal.paint(number + (line.isMatch ? ":" : " "), .dim) + " "
      text += MatchedText(line).shown(on: terminal, width: room) + "\n"
    }
    let told = hit.lines.count(where: \.isMatch)
    if told > 0, hit.matchingLineCount > told {
      text +=
        "  "
        + terminal.paint(
          "and \(Phrase.number(hit.matchingLineCount - told)) more", .dim) + "\n"
    }
    return text
  }

  private static func headline(of hit: SearchHit, on terminal: Terminal, now: Int64) -> String {
    let when = TimeText.relative(hit.modified, now: now)
    func title(beside rest: String) -> String {
      let room = terminal.width.map { max($0 - Width.of(rest) - 2, 10) }
      return terminal.paint(room.map { Width.cut(hit.path.label, to: $0) } ?? hit.path.label, .bold)
    }
    guard let former = hit.former else {
      return title(beside: when) + "  " + terminal.paint(when, .dim)
    }
    return title(beside: "no longer; last in 0123456789, \(when)")
      + "  " + terminal.paint(former.isDeleted ? "deleted" : "no longer", .red)
      + terminal.paint("; last in ", .dim) + terminal.paint(former.version)
      + terminal.paint(", \(when)", .dim)
  }
}

extension SearchHit: JSONEncodable {
  var json: JSON {
    let found = former == nil ? "present" : former?.isDeleted == true ? "deleted" : "former"
    return [
      "title": path.noteTitle, "path": path, "state": found, "version": former?.version,
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
