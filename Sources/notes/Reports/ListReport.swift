internal import Notebook

/// The notes of a notebook.
struct ListReport {
  let notes: [NoteSummary]
  let isLong: Bool

  init(notes: [NoteSummary], isLong: Bool) {
    // Unsaved notes are the newest of all.
    self.notes = notes.sorted {
      ($1.modified ?? .max, $0.path) < ($0.modified ?? .max, $1.path)
    }
    self.isLong = isLong
  }

  var json: [JSON] {
    notes.map { note in
      [
        "id": .optional(note.id.isEmpty ? nil : note.id), "title": .string(note.title),
        "path": .path(note.path),
        "created": .optional(note.created.map { TimeText.rfc3339($0) }),
        "modified": .optional(note.modified.map { TimeText.rfc3339($0) }),
        "author": .optional(note.author), "size": .int(note.size),
        "conflict": .bool(note.isInConflict),
      ]
    }
  }

  func text(on terminal: Terminal, now: Int64) -> String {
    guard !notes.isEmpty else { return "No notes yet.\n" }
    var table = isLong ? Table(flexible: 5, rightAligned: [1]) : Table(flexible: 0)
    for note in notes {
      table.add(isLong ? longRow(note) : row(note, now: now))
    }
    return table.lines(for: terminal).map { $0 + "\n" }.joined()
  }

  private func row(_ note: NoteSummary, now: Int64) -> [Table.Cell] {
    [
      Table.Cell(note.path.label, .bold),
      Table.Cell(note.isInConflict ? "!" : "", .boldRed),
      Table.Cell(note.modified.map { TimeText.relative($0, now: now) } ?? "not saved yet"),
      Table.Cell(Visible.name(note.author ?? ""), .dim),
    ]
  }

  private func longRow(_ note: NoteSummary) -> [Table.Cell] {
    [
      Table.Cell(note.id.isEmpty ? "-" : note.id, .yellow),
      Table.Cell(Counted.bytes(note.size)),
      Table.Cell(note.created.map(TimeText.local) ?? "-"),
      Table.Cell(note.modified.map(TimeText.local) ?? "-"),
      Table.Cell(note.isInConflict ? "!" : "", .boldRed),
      Table.Cell(Visible.name(note.path), .bold),
      Table.Cell(Visible.name(note.author ?? ""), .dim),
    ]
  }
}
