internal import Exchange
internal import Git
internal import History
internal import Membership
internal import Notebook
internal import System
internal import WorkTree

/// The list of the notes, and search results.
extension RequestContext {
  static let notesAtOnce = 200
  /// The number of notes in the list beside a note; the whole list is one tap away.
  private static let notesBeside = 40

  func list(of notebook: Notebook) throws -> Response {
    let name = notebook.identity.name
    let query = request.query.typed("q")
    let found = try query.map {
      try self.found($0, inHistory: request.query["history"] != nil, notebook)
    }
    let notes = try found == nil ? notesByTime(of: notebook) : []
    let editors = editors(in: notebook)
    return .page(
      try document("Notes – \(name)", "at-list") {
        """
        <div class="pane-list">
        <header class="bar">
        \(visitor.shelf.map { .back(to: $0 + "/", "Notebooks") })
        <p id="state" role="status"></p>
        <a class="tap phone-only" href="#q">\(HTML.icon(.search))\(HTML.spoken("Search"))</a>
        \(HTML.menu("menu", named: "Menu", notebookMenu))
        </header>
        <main id="main" tabindex="-1">
        \(message)
        \(listHead("<h1 class=\"big\" dir=\"auto\">\(name)</h1>", editors, query: query))
        <div id="notes" class="lists" data-live data-presence>
        \(try found ?? rows(of: notes, editors, in: notebook, atOnce: Self.notesAtOnce))
        </div>
        </main>
        </div>
        <aside class="pane-note" aria-label="Note"><div class="nothing">\(HTML.emptySheet)
        <p class="big2">Choose a note</p>
        <p class="soft small">or press <kbd>N</kbd> for a new one, <kbd>/</kbd> to search.</p></div></aside>
        """
      })
  }

  /// The name of the notebook, the people there, the button for a new note, and the search.
  private func listHead(_ name: HTML, _ editors: Editors, query: String? = nil) -> HTML {
    let new: HTML =
      "<a class=\"btn main fab\" data-key=\"n\" href=\"\(root)/new\">\(HTML.icon(.plus))New</a>"
    let history: HTML = """
      <label class="also"><input type="checkbox" name="history"\
      \(" checked", if: request.query["history"] != nil)> also in older versions and deleted notes</label>
      """
    return """
      <div class="head">\(name)\(faces(editors))\(new, if: visitor.mayWrite)</div>
      <form method="get" action="\(root)/" role="search" class="search find\(" open", if: query != nil)" \
      autocomplete="off">
      \(HTML.icon(.search))<label class="vh" for="q">Search the notes</label>
      <input class="input" id="q" name="q" type="search" placeholder="Search" enterkeyhint="search" \
      dir="auto" value="\(field: query ?? "")">
      <button class="vh">Search</button>
      \(history)
      </form>
      """
  }

  private var notebookMenu: HTML {
    let who: HTML? = visitor.guest.map {
      "<small class=\"who\">You are <b>\($0.name)</b>, a guest, \($0.role.rawValue)</small>"
    }
    let devices: HTML = "<a href=\"\(root)/devices\">\(HTML.icon(.people))People and devices</a>"
    let undo: HTML = "<a href=\"\(root)/undo\">\(HTML.icon(.undo))Undo the last change</a>"
    let browser: HTML =
      "<hr><a href=\"\(root)/browser\">\(HTML.icon(.browser))<span>This browser\(who)</span></a>"
    return """
      \(devices, if: visitor.isOwner)
      \(undo, if: visitor.mayWrite)
      <a href="\(root)/files">\(HTML.icon(.clip))Files</a>
      <a href="\(root)/deleted">\(HTML.icon(.bin))Deleted notes</a>
      \(browser, if: visitor.guest != nil)
      """
  }

  /// The list beside a note, on screens that are wide enough.
  func sideList(of notebook: Notebook, shown: Subject?) throws -> HTML {
    let editors = editors(in: notebook)
    let rows = try rows(
      of: notesByTime(of: notebook), editors, in: notebook, atOnce: Self.notesBeside,
      shown: shown?.id)
    let name = notebook.identity.name
    return """
      <nav class="pane-list" aria-label="Notes">
      <div class="bar">\(visitor.shelf.map { .back(to: $0 + "/", "Notebooks") })<span class="grow"></span>
      \(HTML.menu("menu-list", named: "Menu of the notebook", notebookMenu))</div>
      \(listHead("<p class=\"big\" dir=\"auto\"><a href=\"\(root)/\">\(name)</a></p>", editors))
      <div id="beside" class="lists" data-live data-presence>
      \(rows)
      </div>
      </nav>
      """
  }

  // MARK: Rows

  func notesByTime(of notebook: Notebook) throws -> [NoteSummary] {
    try notes(of: notebook).sorted {
      ($1.modified ?? .max, $0.path) < ($0.modified ?? .max, $1.path)
    }
  }

  /// The name of the top folder that a note is in.
  private func folder(of note: NoteSummary) -> String? {
    note.path.parent.map { String($0.description.prefix { $0 != "/" }) }
  }

  private func rows(
    of all: [NoteSummary], _ editors: Editors, in notebook: Notebook, atOnce: Int,
    shown: String? = nil
  ) throws -> HTML {
    if all.isEmpty { return noNotes(in: notebook) }
    let folder = request.path.isEmpty ? request.query["in"] : nil
    let inFolder = folder == nil ? all : all.filter { self.folder(of: $0) == folder }
    let pinned = PinnedNotes(in: notebook.stateFolder).ids
    let notes =
      inFolder.filter { pinned.contains($0.id) } + inFolder.filter { !pinned.contains($0.id) }
    let skipped = request.path.isEmpty ? skipped : 0
    let page = notes.dropFirst(skipped).prefix(atOnce)
    let proofs = VersionProofs(in: notebook)
    defer { proofs.remember() }
    let own = ownName(in: notebook)
    // A guest's reading is recorded nowhere.
    let marks = visitor.isOwner ? ReadMarks(in: notebook.history) : nil
    let news = try marks?.newNotes(among: page.map(\.path)) ?? []
    let shownRows = try page.map { note in
      // The visitor's own name is not shown.
      let last = try note.lastVersion.map { try proofs.author(of: $0) }
      let author = last.flatMap { $0.isOf(own) ? nil : name($0, in: notebook) }
      let row = row(
        note, in: notebook, by: author, editors: editors.names(of: note.id, note.path),
        isShown: note.id == shown, isNew: news.contains(note.path))
      let period = note.modified.map { TimeStyle.period.text($0) } ?? "Not saved yet"
      return (pinned.contains(note.id) ? "Pinned" : period, row)
    }
    // A note without a version has no ID, and so no page.
    let saveForm = HTML.button("Save the new files in the folder", at: root + "/save")
    let next = skipped + page.count
    let address = "\(root)/?from=\(next)" + (folder.map { "&in=" + $0.percentEncoded } ?? "")
    return """
      \(folders(of: all, chosen: folder))
      \(HTML.grouped(shownRows) { .group($0) })
      \(more(notes.count - next, address))
      \(saveForm, if: visitor.mayWrite && notes.contains { $0.id.isEmpty })
      """
  }

  private func noNotes(in notebook: Notebook) -> HTML {
    let first: HTML = """
      <p class="soft">Write the first one. A list for the shop is a good start.</p>
      <p><a class="btn main" href="\(root)/new">\(HTML.icon(.plus))New note</a></p>
      """
    let folder: HTML = """
      <p class="soft small">Text files that you put into the folder <b>\(notebook.folder)</b> also appear here.</p>
      """
    return """
      <div class="nothing">\(HTML.emptySheet)<h2>No notes yet</h2>
      \(first, if: visitor.mayWrite)
      \(folder, if: visitor.isOwner)</div>
      """
  }

  private func folders(of notes: [NoteSummary], chosen: String?) -> HTML? {
    var counts: [String: Int] = [:]
    for name in notes.lazy.compactMap(folder) { counts[name, default: 0] += 1 }
    if counts.isEmpty { return nil }
    let links = counts.sorted { $0.key < $1.key }.map { name, count -> HTML in
      """
      <a href="\(root)/?in=\(name.percentEncoded)"\(" aria-current=\"page\"", if: name == chosen)>\
      <bdi>\(name)</bdi> <small>\(count)</small></a>

      """
    }
    return """
      <nav class="folders" aria-label="Folders">
      <a href="\(root)/"\(" aria-current=\"page\"", if: chosen == nil)>All</a>
      \(links)
      </nav>
      """
  }

  private func row(
    _ note: NoteSummary, in notebook: Notebook, by author: HTML?, editors: [String], isShown: Bool,
    isNew: Bool
  ) -> HTML {
    let preview = Preview(of: note.path, in: notebook.workTree)
    let when: HTML? =
      editors.isEmpty
      ? note.modified.map { .time($0, .brief) }
      : "<span class=\"chip live\">\(Self.isWriting(editors))</span>"
    let boxes = preview.boxes.map { "\($0.ticked) of \($0.all) ticked" }
    let marks: [HTML?] = [
      note.isInConflict ? "<span class=\"chip warn\">\(HTML.icon(.fork))two texts</span>" : nil,
      note.id.isEmpty ? "<span class=\"chip\">not saved yet</span>" : nil,
      note.path.parent.map {
        "<span class=\"folder\">\(HTML.icon(.folder))<bdi>\("\($0)")</bdi></span>"
      },
      boxes.map { "<span>\($0)</span>" }, author.map { "<span>\($0)</span>" },
    ]
    return .row(
      note.title, at: note.id.isEmpty ? nil : "\(root)/n/\(note.id)", when,
      ["<span class=\"row-text\" dir=\"auto\">\(preview.words)</span>"], marks: marks,
      isShown: isShown, isNew: isNew)
  }

  // MARK: Search

  /// Words to search for: a note must have all of them, in its title or text.
  private func terms(_ text: String) -> [String] {
    text.split(whereSeparator: \.isWhitespace).prefix(16).map { String($0.prefix(200)) }
  }

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
    for note in try notes(of: notebook) where !note.id.isEmpty {
      addresses[note.path] = "\(root)/n/\(note.id)"
    }
    let all = hits + former.filter { $0.path.isNote }
    let shown = all.dropFirst(skipped).prefix(Self.notesAtOnce)
    if shown.isEmpty {
      return """
        <div class="nothing"><h2>No notes match.</h2>
        <p class="soft">\(inHistory ? "Try fewer or other words." : "Older versions and deleted notes may.")</p></div>
        """
    }
    let next = skipped + shown.count
    let address =
      "\(root)/?q=\(text.percentEncoded)&from=\(next)" + (inHistory ? "&history=on" : "")
    return """
      <p class="label">\(Self.count(all.count, "note"))</p>
      \(HTML.group(shown.map { row($0, at: addresses[$0.path]) }))
      \(more(all.count - next, address))
      """
  }

  private func row(_ hit: SearchHit, at address: String?) -> HTML {
    let target = address.map { place in
      hit.former.map { "\(place)/v/\($0.version.hex)" } ?? place
    }
    let mark: HTML? = hit.former.map {
      "<span class=\"chip\">\($0.isDeleted ? "deleted" : "in an older version")</span>"
    }
    return .row(
      hit.path.noteTitle, at: target, .time(hit.modified, .brief),
      // Skip a line that repeats the title.
      hit.lines.filter {
        hit.path.textBehindTitle(String(decoding: $0.bytes, as: UTF8.self)) == nil
      }
      .prefix(3).map(line), marks: [mark])
  }

  private static let marks = Set("#>-*+[] \t".utf8)

  private func line(_ line: SearchLine) -> HTML {
    var parts: [HTML] = []
    // Skip the marks of a list, a heading or a box before the words.
    var place = line.bytes.prefix { Self.marks.contains($0) }.count
    place = min(place, line.matches.first?.lowerBound ?? 0)
    for match in line.matches {
      parts.append("\(text: line.bytes[place..<match.lowerBound])")
      parts.append("<mark>\(text: line.bytes[match])</mark>")
      place = match.upperBound
    }
    parts.append("\(text: line.bytes[place...])")
    return "<span class=\"row-text line\" dir=\"auto\">\(parts)</span>"
  }

  // MARK: Deleted notes

  func deletedPage(of notebook: Notebook) throws -> HTML {
    let files = try notebook.history.deletedFiles().filter { $0.path.isNote && !$0.id.isEmpty }
    let proofs = VersionProofs(in: notebook)
    defer { proofs.remember() }
    let rows = try files.prefix(Self.notesAtOnce).map { file -> HTML in
      let author = try file.version.map { name(try proofs.author(of: $0), in: notebook) }
      return .row(
        file.path.noteTitle, at: "\(root)/n/\(file.id)", file.time.map { .time($0, .brief) },
        marks: [author])
    }
    let none = HTML.empty(
      "Nothing was deleted", "Deleted notes are listed here. You can restore them.")
    return listPage("Deleted notes", of: notebook, rows, or: none)
  }
}
