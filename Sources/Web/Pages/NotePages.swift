internal import Exchange
internal import Git
internal import History
internal import Notebook
internal import System
internal import WorkTree

/// A note: its text, and the forms that change it.
extension RequestContext {
  func notePage(of subject: Subject, in notebook: Notebook) throws -> HTML {
    // If this fails, the note only appears as new again.
    if visitor.isOwner { try? ReadMarks(in: notebook.history).markRead([subject.path]) }
    let isOpen = visitor.mayWrite && !subject.isDeleted
    let text: [UInt8]
    var ticking: (String, ShownNote)?
    if isOpen {
      let (shown, bytes) = try shownNoteAndText(subject, in: notebook)
      (text, ticking) = (bytes, (address(subject, "/tick"), shown))
    } else {
      text =
        try subject.isDeleted
        ? lastText(of: subject, in: notebook) : notebook.workTree.text(of: subject.path)
    }
    var frame = try frame(of: subject, isNote: true, in: notebook)
    if isOpen {
      frame.deed = """
        <a class="btn main" data-key="e" href="\(address(subject, "/edit"))">\(HTML.icon(.pen))Edit</a>
        """
    }
    let blocks = try subject.isInConflict ? blocks(of: subject, as: text, in: notebook) : nil
    return try layout(subject.title, name: notebook.identity.name, frame) {
      """
      <article id="note" data-live>
      <h1 dir="auto">\(subject.title)</h1>
      \(try about(subject, in: notebook))
      \(deletion(of: subject), if: subject.isDeleted)
      \(conflict(of: subject), if: subject.isInConflict)
      \(try reading(text, of: subject.path, conflict: blocks, in: notebook, ticking: ticking))
      </article>
      """
    }
  }

  /// The note's folder, the author and time of its last change, and the people who are editing it.
  private func about(_ subject: Subject, in notebook: Notebook) throws -> HTML {
    let folder: HTML? = subject.path.parent.map { "<bdi class=\"folder\">\("\($0)")</bdi>" }
    let last = try notebook.history.versions(of: subject.path).next()?.commit
    let author = try last.map { commit -> HTML in
      let name = name(try VersionProofs(in: notebook).author(of: commit), in: notebook)
      return "<span>\(name), \(time(commit.author.time))</span>"
    }
    return """
      <div class="about">\(folder)\(author)\(try editors(of: subject, in: notebook))</div>
      """
  }

  private func lastText(of subject: Subject, in notebook: Notebook) throws -> [UInt8] {
    guard let last = try notebook.history.lastVersion(with: subject.path) else {
      throw Refusal.noSuchNote
    }
    return try notebook.history.text(of: subject.path, at: last)
  }

  private func deletion(of subject: Subject) -> HTML {
    let form = HTML.button("Bring it back", at: address(subject, "/restore"))
    return """
      <div class="notice"><p>This note is deleted.</p>\(form, if: visitor.mayWrite)</div>
      """
  }

  /// The blocks of a note in conflict; nil if the text in the folder differs from the last
  /// version's.
  private func blocks(
    of subject: Subject, as text: [UInt8], in notebook: Notebook
  ) throws -> ConflictedNote? {
    let note = try notebook.state().tip.map {
      try notebook.conflictedNote(at: subject.path, in: $0)
    }
    return note.flatMap { $0.text == text ? $0 : nil }
  }

  private func conflict(of subject: Subject) -> HTML {
    let settle: HTML =
      "<a class=\"btn\" href=\"\(address(subject, "/settle"))\">Choose which to keep</a>"
    return """
      <div class="notice warn"><p>Two people changed the same words. Both texts are here.</p>
      \(settle, if: visitor.mayWrite)</div>
      """
  }

  // MARK: Edit

  func editPage(of subject: Subject, in notebook: Notebook) throws -> HTML {
    let shown = try shownNote(from: 3, in: notebook)
    guard let text = try text(of: shown, subject, in: notebook) else { throw Refusal.noSuchText }
    guard text.count <= limit else { throw Refusal.tooLong(limit) }
    guard let editable = EditableText(text) else { throw Refusal.noText }
    var frame = try frame(of: subject, in: notebook)
    (frame.deed, frame.isEditor) = (Self.saveButton, true)
    // Above a text that begins with the title, the heading is only for screen readers.
    let style: HTML = subject.path.textBehindTitle(editable.text) == nil ? "edited" : "vh"
    return try layout("Edit \(subject.title)", name: notebook.identity.name, frame) {
      """
      <h1 class="\(style)" dir="auto">\(subject.title)</h1>
      <div class="about">\(try editors(of: subject, in: notebook))</div>
      \(Self.addTools)
      \(editForm(of: subject, editable.text, shown))
      """
    }
  }

  /// A note's present text, for a page that continues to edit it, or copies it.
  func textNow(of subject: Subject, in notebook: Notebook) throws -> Response {
    guard !subject.isDeleted else { throw Refusal.noSuchNote }
    let (shown, bytes) = try shownNoteAndText(subject, in: notebook)
    guard bytes.count <= limit else { throw Refusal.tooLong(limit) }
    guard let editable = EditableText(bytes) else { throw Refusal.noText }
    let author = try lastOther(of: subject, in: notebook)
    let facts = [
      "\"edit\":\"/n/\(subject.id)/edit\(shown.path)\"", "\"blob\":\"\(shown.blob.hex)\"",
      "\"isInConflict\":\(subject.isInConflict)", "\"title\":\(JSONText.quoted(subject.title))",
      "\"by\":\(JSONText.quoted(author ?? "Somebody else"))",
    ]
    // If the page already has the text, it is not sent again.
    let text =
      request.query["known"] == shown.blob.hex
      ? [] : ["\"text\":\(JSONText.quoted(editable.text))"]
    return .facts("{\((facts + text).joined(separator: ","))}")
  }

  /// The author of the note's last change, among its last few versions, if that is another person, with a
  /// remark if the name is not proved.
  private func lastOther(of subject: Subject, in notebook: Notebook) throws -> String? {
    let (walk, proofs) = (
      try notebook.history.versions(of: subject.path), VersionProofs(in: notebook)
    )
    let own = ownName(in: notebook)
    for _ in 0..<5 {
      guard let version = try walk.next() else { break }
      let author = try proofs.author(of: version.commit)
      if !author.isOf(own) { return author.markedName }
    }
    return nil
  }

  /// The button that saves the text. It is in the header, where it is always visible, although the form is elsewhere on
  /// the page.
  static let saveButton: HTML =
    "<button class=\"btn main\" form=\"edit\" data-save>Save</button>"

  /// The tools that add photos and files to the text. They need the script, which shows them.
  static let addTools: HTML = """
    <div class="adding" id="adding" hidden>
    <label class="btn">\(HTML.icon(.clip))Add a photo or file<input type="file" multiple></label>
    \(HTML.menu("adding-options", named: "How files are added", addOptions))
    </div>
    """

  private static let addOptions: HTML = """
    <label class="also"><input type="checkbox" id="smaller"> Make photos smaller</label>
    <label class="also"><input type="checkbox" id="places"> Keep where photos were taken</label>
    """

  /// The text in a form for a version and a blob.
  func editForm(of subject: Subject, _ text: String, _ shown: ShownNote) -> HTML {
    let form = editForm(
      to: "\(address(subject, "/edit"))\(shown.path)", subject.id, shown.name("text"), text)
    return "\(form)\n\(HTML.hiddenLines(of: text))"
  }

  /// The text in a form whose address and field name contain the version and the blob that it is
  /// based on.
  func editForm(to address: HTML, _ note: String, _ field: String, _ text: String) -> HTML {
    """
    <form method="post" action="\(address)" id="edit" class="edit" data-note="\(note)">
    <label class="vh" for="text">Text</label>
    <textarea id="text" class="write" name="\(field)" rows="16" spellcheck="true" dir="auto">
    \(field: text)</textarea>
    </form>
    """
  }

  // MARK: New, rename, delete

  func newPage(of notebook: Notebook) -> HTML {
    let frame = Frame(
      back: (root + "/", notebook.identity.name), deed: Self.saveButton, isEditor: true)
    return layout("New note", name: notebook.identity.name, frame) {
      """
      <h1 class="vh">New note</h1>
      \(Self.addTools)
      \(newForm(title: "", text: ""))
      """
    }
  }

  func newForm(title: String, text: String) -> HTML {
    """
    <form method="post" action="\(root)/new" id="edit" class="edit" data-note="new">
    <label class="vh" for="title">Title</label>
    <input id="title" class="title-input" name="title" value="\(field: title)" placeholder="Title" required \
    dir="auto" autocomplete="off" enterkeyhint="next" aria-describedby="title-hint">
    <label class="vh" for="text">Text</label>
    <textarea id="text" class="write" name="text" rows="14" spellcheck="true" dir="auto" placeholder="Text">
    \(field: text)</textarea>
    <p class="hint" id="title-hint">A folder may stand in front of the title: <b>Trips/Rome</b></p>
    </form>
    """
  }

  /// A note's title with its folders, for the form that renames it.
  func wholeTitle(_ path: TreePath) -> String {
    TreePath(bytes: path.bytes.dropLast(path.noteSuffix.utf8.count)).description
  }

  func renamePage(of subject: Subject, in notebook: Notebook) throws -> HTML {
    guard let tip = try notebook.state().tip else { throw Refusal.noSuchNote }
    let title = wholeTitle(subject.path)
    let frame = try frame(of: subject, in: notebook)
    return layout("Rename \(subject.title)", name: notebook.identity.name, frame) {
      """
      <h1>Rename or move</h1>
      <form method="post" action="\(address(subject, "/rename/\(tip.hex)"))" class="stack">
      <div class="field"><label for="title">New title</label>
      <input class="input" id="title" name="title" value="\(field: title)" required dir="auto" autocomplete="off">
      \(HTML.hiddenLines(of: title, .name))
      <p class="hint">A folder may stand in front: <b>Trips/Rome</b></p></div>
      <p class="acts"><button class="btn main">Rename</button>
      <a class="btn" href="\(address(subject))">Cancel</a></p>
      </form>
      """
    }
  }

  func deletePage(of subject: Subject, in notebook: Notebook) throws -> HTML {
    let shown = try shownNote(subject, in: notebook)
    let frame = try frame(of: subject, in: notebook)
    return layout("Delete \(subject.title)", name: notebook.identity.name, frame) {
      """
      <h1>Delete <bdi>\(subject.title)</bdi>?</h1>
      <form method="post" action="\(address(subject, "/delete"))\(shown.path)" class="stack">
      <p class="soft">It stays under \u{201C}Deleted notes\u{201D}, and can be brought back.</p>
      <p class="acts"><button class="btn bad">Delete</button>
      <a class="btn" href="\(address(subject))">Cancel</a></p>
      </form>
      """
    }
  }
}

extension VersionAuthor {
  /// Whether this author is proved to be the person with that name on the page, on any device.
  func isOf(_ name: String) -> Bool {
    mark == nil && (self.name == name || self.name.hasPrefix(name + " ("))
  }
}
