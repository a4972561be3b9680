internal import Exchange
internal import Git
internal import History
internal import Membership
internal import Notebook

struct BlameReport {
  private let lines: [BlamedLine]
  private let sharedNames: SharedNames
  private var versions: [ObjectID: Commit] = [:]
  private var authors: [ObjectID: VersionAuthor] = [:]

  init(
    _ lines: [BlamedLine], in notebook: Notebook, sharedNames: SharedNames = SharedNames()
  ) throws {
    self.lines = lines
    self.sharedNames = sharedNames
    let proofs = VersionProofs(in: notebook)
    defer { proofs.remember() }
    for line in lines {
      if case .alteredMerge(let merge, _) = line.origin, versions[merge] == nil {
        versions[merge] = try notebook.repository.commit(merge)
      }
      guard let id = line.origin.author, authors[id] == nil else { continue }
      let commit = try notebook.repository.commit(id)
      versions[id] = commit
      authors[id] = try proofs.author(of: commit)
    }
  }

  private func commit(of line: BlamedLine) -> Commit? {
    switch line.origin {
    case .version(let id), .alteredMerge(let id, _): versions[id]
    case .marker, .unsaved: nil
    }
  }

  private func author(of line: BlamedLine) -> VersionAuthor? {
    line.origin.author.flatMap { authors[$0] }
  }

  var json: [JSON] {
    lines.enumerated().map { position, line in
      let commit = commit(of: line)
      return [
        "type": "line", "line": position + 1, "version": commit?.id,
        "author": author(of: line)?.name,
        "author_then": author(of: line)?.claim,
        "device": author(of: line)?.deviceID,
        "time": commit.map { TimeText.rfc3339($0.author.time, offset: $0.author.offset) },
        "signature": author(of: line)?.proof.rawValue,
        "altered_merge": line.origin.isAltered, "answered_by": line.origin.endorsedBy,
        "saved": line.origin != .unsaved, "marker": line.origin == .marker,
        "text": String(decoding: line.slice, as: UTF8.self),
      ]
    }
  }

  /// The lines for people: prose, so they are broken between words, never cut. Neighbouring lines
  /// with the same version show it once on a terminal, and on each line in a file or pipe.
  func text(on terminal: Terminal, now: Int64, isLong: Bool = false) -> String {
    let rows = lines.map { cells(for: $0, on: terminal, now: now, isLong: isLong) }
    let columns = (0..<3).map { column in rows.map { Width.of($0[column].text) }.max() ?? 0 }
    let digits = String(lines.count).utf8.count
    let margin = columns.reduce(digits + 2) { $0 + ($1 == 0 ? 0 : $1 + 2) }
    // If there is hardly any space beside the margin, the terminal may break the line.
    let width = terminal.width.map { $0 - margin }.flatMap { $0 < 10 ? nil : $0 }
    var text = ""
    for (position, line) in lines.enumerated() {
      let repeats =
        terminal.isInteractive && position > 0 && line.origin == lines[position - 1].origin
      var head = ""
      for (cell, column) in zip(rows[position], columns) where column > 0 {
        let shown = repeats ? "" : cell.text
        head += terminal.paint(shown, cell.style) + String.spaces(column - Width.of(shown) + 2)
      }
      let number = String(position + 1)
      head += String.spaces(digits - number.utf8.count) + terminal.paint(number, .dim) + "  "
      let prose = Styled(terminal.shown(line.bytes), line.origin == .marker ? .boldYellow : nil)
      for (row, part) in [prose].lines(of: width, on: terminal).enumerated() {
        let start = row == 0 ? head : String.spaces(margin)
        text += (part.isEmpty ? start.trimmedAtEnd : start + part) + "\n"
      }
    }
    return text
  }

  private func cells(
    for line: BlamedLine, on terminal: Terminal, now: Int64, isLong: Bool
  ) -> [Styled] {
    let isNarrow = terminal.width.map { $0 < 60 } ?? false
    guard let commit = commit(of: line) else {
      let isMarker = line.origin == .marker
      let word = Styled(isMarker ? "conflict" : "not saved", isMarker ? .boldYellow : .dim)
      return [Styled(""), word, Styled("")]
    }
    let time = commit.author.time
    let when =
      isLong
      ? TimeText.local(time)
      : isNarrow ? TimeText.short(time, now: now) : TimeText.relative(time, now: now)
    let name = author(of: line).map { sharedNames.shown($0, cutTo: isNarrow ? 8 : 24) }
    return [
      Styled(isNarrow ? "" : commit.id.short, .yellow),
      Styled(line.origin.isAltered ? "nobody (altered merge)" : name ?? ""),
      Styled(when, .dim),
    ]
  }
}

extension BlamedLine.Origin {
  /// The version whose author is shown.
  fileprivate var author: ObjectID? { if case .version(let id) = self { id } else { nil } }

  /// The version on top of an altered merge.
  fileprivate var endorsedBy: ObjectID? {
    if case .alteredMerge(_, let version) = self { version } else { nil }
  }

  fileprivate var isAltered: Bool { if case .alteredMerge = self { true } else { false } }
}
