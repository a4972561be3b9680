internal import History
internal import Notebook

struct ListReport {
  let notes: [NoteSummary]
  let isLong: Bool
  private let isFiltered: Bool
  private let kind: String

  /// - Parameters:
  ///   - isFiltered: whether there are more than these.
  ///   - kind: what they are, in the singular.
  init(
    notes: [NoteSummary], isLong: Bool, order: ListCommand.Order = .modified,
    isReversed: Bool = false, isFiltered: Bool = false, kind: String = "note"
  ) {
    let sorted = notes.sorted { left, right in
      // Unsaved notes are the newest of all.
      switch order {
      case .modified: (right.modified ?? .max, left.path) < (left.modified ?? .max, right.path)
      case .created: (right.created ?? .max, left.path) < (left.created ?? .max, right.path)
      case .size: (right.size, left.path) < (left.size, right.path)
      case .title:
        (left.title.lowercased(), left.path) < (right.title.lowercased(), right.path)
      }
    }
    self.notes = isReversed ? sorted.reversed() : sorted
    self.isLong = isLong
    self.isFiltered = isFiltered
    self.kind = kind
  }

  var json: [JSON] {
    notes.map { note in
      [
        "id": note.id.isEmpty ? JSON.null : note.id.json, "title": note.title, "path": note.path,
        "created": note.created.map { TimeText.rfc3339($0) },
        "modified": note.modified.map { TimeText.rfc3339($0) }, "author": note.author,
        "size": note.size, "conflict": note.isInConflict,
      ] as JSON
    }
  }

  func text(on terminal: Terminal, now: Int64) -> String {
    guard !notes.isEmpty else { return isFiltered ? "No \(kind)s match.\n" : "No \(kind)s yet.\n" }
    var table =
      isLong
      ? Table(flexible: 5, dispensable: [2, 6, 1, 0], rightAligned: [1]) : Table(flexible: 0)
    for note in notes {
      table.add(isLong ? longRow(note) : row(note, now: now))
    }
    return table.text(on: terminal)
  }

  private func row(_ note: NoteSummary, now: Int64) -> [Styled] {
    [
      Styled(note.path.label, .bold),
      Styled(note.isInConflict ? "!" : "", .boldRed),
      Styled(note.modified.map { TimeText.relative($0, now: now) } ?? "not saved yet"),
      Styled(Visible.name(note.author ?? ""), .dim),
    ]
  }

  private func longRow(_ note: NoteSummary) -> [Styled] {
    [
      Styled(note.id.isEmpty ? "-" : note.id, .yellow),
      Styled(Phrase.bytes(note.size)),
      Styled(note.created.map(TimeText.local) ?? "-"),
      Styled(note.modified.map(TimeText.local) ?? "-"),
      Styled(note.isInConflict ? "!" : "", .boldRed),
      Styled(Visible.name(note.path), .bold),
      Styled(Visible.name(note.author ?? ""), .dim),
    ]
  }
}
