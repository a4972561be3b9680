internal import Git
internal import History

struct ListStyle {
  /// The author of a version.
  struct Author {
    let shown: String
    let name: String
    let claim: String
    let signature: String
  }

  var isLong = false
  var order = ListCommand.Order.modified
  var isReversed = false
  /// Whether there are more notes than those listed.
  var isFiltered = false
  var kind = "note"
  /// The notes that others changed and that were not read since; and whether only these are listed.
  var newNotes: Set<TreePath> = []
  var showsNewOnly = false
  /// The authors of versions, for people and for programs.
  var names: [ObjectID: Author] = [:]
  /// The largest number of listed items.
  var limit = Int.max

  /// A version's author, for people.
  fileprivate func author(of version: ObjectID?) -> String {
    version.flatMap { names[$0]?.shown } ?? ""
  }

  /// The items sorted by a key, up to the limit. Items with equal keys keep their order.
  fileprivate func sorted<Item, Key: Comparable>(_ items: [Item], by key: (Item) -> Key) -> [Item] {
    let keys = items.map(key)
    let places = keys.indices.sorted { keys[$0] < keys[$1] }
    return (isReversed ? places.reversed() : places).prefix(limit).map { items[$0] }
  }
}

struct ListReport {
  let notes: [NoteSummary]
  private let style: ListStyle

  /// A report of these notes, which are sorted by path.
  init(notes: [NoteSummary], _ style: ListStyle) {
    self.style = style
    // Unsaved notes are the newest. `~` reverses the order and never overflows.
    self.notes =
      switch style.order {
      case .modified: style.sorted(notes) { ~($0.modified ?? .max) }
      case .created: style.sorted(notes) { ~($0.created ?? .max) }
      case .size: style.sorted(notes) { ~$0.size }
      case .title: style.sorted(notes) { $0.title.lowercased() }
      }
  }

  var json: [JSON] {
    notes.map { note in
      [
        "type": style.kind, "id": note.id.isEmpty ? nil as String? : note.id, "title": note.title,
        "path": note.path,
        "created": note.created.map { TimeText.rfc3339($0) },
        "modified": note.modified.map { TimeText.rfc3339($0) },
        "author": note.lastVersion.flatMap { style.names[$0]?.name },
        "author_then": note.lastVersion.flatMap { style.names[$0]?.claim },
        "signature": note.lastVersion.flatMap { style.names[$0]?.signature },
        "size": note.size, "conflict": note.isInConflict,
        "new": style.newNotes.contains(note.path),
      ]
    }
  }

  func text(on terminal: Terminal, now: Int64) -> String {
    guard !notes.isEmpty else {
      if style.showsNewOnly, style.newNotes.isEmpty { return "No note is new.\n" }
      return style.isFiltered ? "No \(style.kind)s match.\n" : "No \(style.kind)s yet.\n"
    }
    let table =
      style.isLong
      ? Table(
        flexible: 5, dispensable: [2, 6, 1, 0], rightAligned: [1], rows: notes.map(longRow))
      : Table(flexible: 0, rows: notes.map { row($0, now: now) })
    return table.text(on: terminal)
  }

  private func mark(of note: NoteSummary) -> Styled {
    if note.isInConflict { return Styled("!", .boldRed) }
    return style.newNotes.contains(note.path) ? Styled("*", .green) : Styled("")
  }

  private func row(_ note: NoteSummary, now: Int64) -> [Styled] {
    [
      Styled(note.path.label, .bold), mark(of: note),
      Styled(note.modified.map { TimeText.relative($0, now: now) } ?? "not saved yet"),
      Styled(style.author(of: note.lastVersion), .dim),
    ]
  }

  private func longRow(_ note: NoteSummary) -> [Styled] {
    [
      Styled(note.id.isEmpty ? "-" : note.id, .yellow), Styled(Phrase.bytes(note.size)),
      Styled(note.created.map(TimeText.local) ?? "-"),
      Styled(note.modified.map(TimeText.local) ?? "-"),
      mark(of: note), Styled(Visible.name(note.path), .bold),
      Styled(style.author(of: note.lastVersion), .dim),
    ]
  }
}

struct DeletedReport {
  let files: [DeletedFile]
  private let style: ListStyle

  init(files: [DeletedFile], _ style: ListStyle) {
    self.style = style
    let byPath = files.sorted { $0.path < $1.path }
    self.files =
      style.order == .title
      ? style.sorted(byPath) { $0.path.noteTitle.lowercased() }
      : style.sorted(byPath) { ~($0.time ?? .max) }
  }

  var json: [JSON] {
    files.map { file in
      [
        "type": style.kind, "id": file.id.isEmpty ? nil as String? : file.id,
        "title": file.path.noteTitle,
        "path": file.path, "deleted": file.time.map { TimeText.rfc3339($0) },
        "author": file.version.flatMap { style.names[$0]?.name },
        "author_then": file.version.flatMap { style.names[$0]?.claim },
        "signature": file.version.flatMap { style.names[$0]?.signature },
      ]
    }
  }

  func text(on terminal: Terminal, now: Int64) -> String {
    guard !files.isEmpty else {
      return style.isFiltered ? "No \(style.kind)s match.\n" : "No \(style.kind) was deleted.\n"
    }
    let rows = files.map { file in
      let when = file.time.map {
        style.isLong ? TimeText.local($0) : TimeText.relative($0, now: now)
      }
      return (style.isLong ? [Styled(file.id.isEmpty ? "-" : file.id, .yellow)] : []) + [
        Styled(style.isLong ? Visible.name(file.path) : file.path.label, .bold),
        Styled(when ?? "not saved yet"),
        Styled(style.author(of: file.version), .dim),
      ]
    }
    return Table(flexible: style.isLong ? 1 : 0, rows: rows).text(on: terminal)
  }
}
