internal import Exchange
internal import Git
internal import History
internal import Notebook
internal import WorkTree

/// The list of the notes, and what a search found.
extension Visit {
  private static let notesAtOnce = 500

  func list(of notebook: Notebook) throws -> Response {
    let query = request.query.typed("q")
    let inHistory = request.query["history"] != nil
    let name = notebook.identity.name
    return .page(
      try layout("Notes", name: name) {
        """
        <h1>Notes</h1>
        <form method="get" action="\(root)/" role="search" class="search">
        <label for="q">Find</label>
        <input id="q" name="q" type="search" value="\(field: query ?? "")">
        <label><input type="checkbox" name="history"\(" checked", if: inHistory)> also in history</label>
        <button>Search</button>
        </form>
        <div id="notes" data-live>
        \(try query.map { try found($0, inHistory: inHistory, notebook) } ?? rows(of: notebook))
        </div>
        """
      })
  }

  /// Words to look for: a note has all of them, in its title or below it.
  private func terms(_ text: String) -> [String] {
    text.split(whereSeparator: \.isWhitespace).prefix(16).map { String($0.prefix(200)) }
  }

  private func rows(of notebook: Notebook) throws -> HTML {
    let notes = try notebook.history.notes().sorted {
      ($1.modified ?? .max, $0.path) < ($0.modified ?? .max, $1.path)
    }
    let skipped = max(0, Int(request.query["from"] ?? "") ?? 0)
    let shown = notes.dropFirst(skipped).prefix(Self.notesAtOnce)
    let proofs = VersionProofs(in: notebook)
    defer { proofs.remember() }
    let rows = try shown.map { note in
      row(note, by: try note.lastVersion.map { name(try proofs.author(of: $0)) })
    }
    let rest = notes.count - skipped - shown.count
    let next = skipped + shown.count
    let more: HTML? =
      rest > 0 ? "<p><a href=\"\(root)/?from=\(next)\">\(rest) more</a></p>" : nil
    let unsaved = notes.count { $0.id.isEmpty }
    if notes.isEmpty { return "<p>There are no notes yet.</p>" }
    return """
      <ul class="notes">
      \(rows)
      </ul>
      \(more)
      \(saveForm, if: unsaved > 0 && visitor.mayWrite)
      """
  }

  /// What no version has has no ID, and so no page.
  private var saveForm: HTML {
    """
    <form method="post" action="\(root)/save"><button>Save what is new in the folder</button></form>
    """
  }

  private func row(_ note: NoteSummary, by author: HTML?) -> HTML {
    let title: HTML =
      note.id.isEmpty
      ? "<b>\(note.title)</b> <span class=\"mark\">not saved yet</span>"
      : "<a href=\"\(root)/n/\(note.id)\">\(note.title)</a>"
    let folder: HTML? = note.path.parent.map { "<span class=\"folder\">in \("\($0)")</span>" }
    let who: HTML? = author.map { "<span>\($0)</span>" }
    return """
      <li>\(title) \(" <span class=\"mark\">in conflict</span>", if: note.isInConflict)
      <span class="about">\(folder) \(note.modified.map(time)) \(who)</span></li>

      """
  }

  // MARK: Search

  private func found(_ text: String, inHistory: Bool, _ notebook: Notebook) throws -> HTML {
    let history = notebook.history
    let query = try SearchQuery(terms(text))
    let hits = try history.search(query).filter { $0.path.isNote }
    let former =
      inHistory ? try history.searchHistory(query, except: Set(hits.map(\.path))) : []
    var addresses: [TreePath: String] = [:]
    if inHistory {
      for file in try history.deletedFiles() { addresses[file.path] = "\(root)/n/\(file.id)" }
    }
    for note in try history.notes() where !note.id.isEmpty {
      addresses[note.path] = "\(root)/n/\(note.id)"
    }
    let shown = (hits + former.filter { $0.path.isNote }).prefix(Self.notesAtOnce)
    if shown.isEmpty { return "<p>No notes match.</p>" }
    return """
      <p>\(shown.count == 1 ? "1 note" : "\(shown.count) notes")</p>
      <ul class="notes">
      \(shown.map { row($0, at: addresses[$0.path]) })
      </ul>
      """
  }

  private func row(_ hit: SearchHit, at address: String?) -> HTML {
    let target = address.map { place in
      hit.former.map { "\(place)/v/\($0.version.hex)" } ?? place
    }
    let title: HTML =
      target.map { "<a href=\"\($0)\">\(hit.path.noteTitle)</a>" } ?? "<b>\(hit.path.noteTitle)</b>"
    let mark: HTML? = hit.former.map {
      "<span class=\"mark\">\($0.isDeleted ? "deleted" : "in an older version")</span>"
    }
    return """
      <li>\(title) \(mark) <span class="about">\(time(hit.modified))</span>
      \(hit.lines.map(line))</li>

      """
  }

  private func line(_ line: SearchLine) -> HTML {
    var parts: [HTML] = []
    var place = 0
    for match in line.matches {
      parts.append("\(text: line.bytes[place..<match.lowerBound])")
      parts.append("<mark>\(text: line.bytes[match])</mark>")
      place = match.upperBound
    }
    parts.append("\(text: line.bytes[place...])")
    return "<p class=\"line\">\(parts)</p>"
  }

  // MARK: Deleted notes

  func deletedPage(of notebook: Notebook) throws -> HTML {
    let files = try notebook.history.deletedFiles().filter { $0.path.isNote && !$0.id.isEmpty }
    let proofs = VersionProofs(in: notebook)
    defer { proofs.remember() }
    let rows = try files.prefix(Self.notesAtOnce).map { file -> HTML in
      let author = try file.version.map { name(try proofs.author(of: $0)) }
      return """
        <li><a href="\(root)/n/\(file.id)">\(file.path.noteTitle)</a>
        <span class="about">\(file.time.map(time)) \(author)</span></li>

        """
    }
    return layout("Deleted notes", name: notebook.identity.name) {
      """
      <h1>Deleted notes</h1>
      <div id="notes" data-live>
      \("<p>None.</p>", if: rows.isEmpty)
      <ul class="notes">\(rows)</ul>
      </div>
      """
    }
  }
}
