internal import History
internal import Notebook

/// The notes of a notebook.
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
    guard !notes.isEmpty else { return isFiltered ? "No such \(kind)s.\n" : "No \(kind)s yet.\n" }
    var table =
      isLong
      ? Table(flexible: 5, dispensable: [2, 6, 1, 0], rightAligned: [1]) : Table(flexible: 0)
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
