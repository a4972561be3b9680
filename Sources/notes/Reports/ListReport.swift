internal import History
internal import Notebook

/// What `notes list` was asked for.
struct ListStyle {
  var isLong = false
  var order = ListCommand.Order.modified
  var isReversed = false
  /// Whether there are more than those listed.
  var isFiltered = false
  /// What is listed, in the singular.
  var kind = "note"

  func sorted<Item>(_ items: [Item], by precedes: (Item, Item) -> Bool) -> [Item] {
    let sorted = items.sorted(by: precedes)
    return isReversed ? sorted.reversed() : sorted
  }
}

struct ListReport {
  let notes: [NoteSummary]
  private let style: ListStyle

  init(notes: [NoteSummary], _ style: ListStyle) {
    self.style = style
    self.notes = style.sorted(notes) { left, right in
      // Unsaved notes are the newest of all.
      switch style.order {
      case .modified: (right.modified ?? .max, left.path) < (left.modified ?? .max, right.path)
      case .created: (right.created ?? .max, left.path) < (left.created ?? .max, right.path)
      case .size: (right.size, left.path) < (left.size, right.path)
      case .title:
        (left.title.lowercased(), left.path) < (right.title.lowercased(), right.path)
      }
    }
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
    guard !notes.isEmpty else {
      return style.isFiltered ? "No \(style.kind)s match.\n" : "No \(style.kind)s yet.\n"
    }
    var table =
      style.isLong
      ? Table(flexible: 5, dispensable: [2, 6, 1, 0], rightAligned: [1]) : Table(flexible: 0)
    for note in notes {
      table.add(style.isLong ? longRow(note) : row(note, now: now))
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
