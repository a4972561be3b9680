internal import Git
internal import History
internal import Membership
internal import Notebook
internal import System

/// The notes for a script of the page: their titles for the filter, and their texts for a browser that
/// stores them: notes-web(1), "As an app".
extension RequestContext {
  private struct KeptNote {
    let summary: NoteSummary
    /// The text's blob in the tip.
    let blob: ObjectID
    /// Whether the browser stores the text: the texts of newer notes leave room for it.
    let isKept: Bool

    /// A mark that is equal for the same note with the same text.
    var mark: String { "\(summary.id) \(blob.hex) \(isKept) \(summary.path)\n" }
  }

  /// The notes in a version, newest first. As many texts are stored as fit into the limit together.
  private func keptNotes(at tip: Commit, in notebook: Notebook) throws -> [KeptNote] {
    var blobs: [TreePath: ObjectID] = [:]
    for (path, entry) in try notebook.repository.files(in: tip.tree) { blobs[path] = entry.id }
    var room = request.query["most"].flatMap { Int($0) } ?? 0
    return try notesByTime(of: notebook).compactMap { note in
      guard !note.id.isEmpty, let blob = blobs[note.path] else { return nil }
      guard note.size <= limit else { return KeptNote(summary: note, blob: blob, isKept: false) }
      room -= note.size
      return KeptNote(summary: note, blob: blob, isKept: room >= 0)
    }
  }

  /// The marks of the parts, by the first digit of the notes' IDs: parts with equal marks are
  /// equal.
  func keptMarks(in notebook: Notebook) throws -> Response {
    let tip = try notebook.state().tip.map { try notebook.repository.commit($0) }
    let notes = try tip.map { try keptNotes(at: $0, in: notebook) } ?? []
    let marks = try "0123456789abcdef".map { digit in
      let marks = notes.lazy.filter { $0.summary.id.first == digit }.map(\.mark).sorted().joined()
      return "\"\(digit)\":\"\(try SecretText.mark(of: marks))\""
    }
    return .facts("{\(marks.joined(separator: ","))}")
  }

  /// The notes whose IDs begin with a digit, with their texts; for `all`, the titles of all notes.
  func keptPart(_ part: String, in notebook: Notebook) throws -> Response {
    guard part == "all" || part.utf8.count == 1 else { throw Refusal.noSuchPage }
    guard let id = try notebook.state().tip else { return .facts("[]") }
    let tip = try notebook.repository.commit(id)
    let notes = try keptNotes(at: tip, in: notebook).lazy
      .filter { part == "all" || $0.summary.id.hasPrefix(part) }
      .map { try facts(of: $0, at: id, in: notebook) }
    return .facts("[\(notes.joined(separator: ",\n"))]")
  }

  private func facts(of note: KeptNote, at tip: ObjectID, in notebook: Notebook) throws -> String {
    let (id, summary) = (note.summary.id, note.summary)
    let text =
      note.isKept ? EditableText(try notebook.repository.blob(note.blob))?.text : nil
    let behindTitle = text.flatMap { text in
      summary.path.textBehindTitle(text).map {
        text.utf16.distance(from: text.startIndex, to: $0.startIndex)
      }
    }
    let shown = ShownNote(version: tip, blob: note.blob)
    let facts = [
      "\"id\":\"\(id)\"", "\"title\":\(JSONText.quoted(summary.title))",
      "\"folder\":\(JSONText.quoted(summary.path.parent?.description ?? ""))",
      "\"time\":\(summary.modified ?? 0)", "\"edit\":\"\(shown.path)\"",
      "\"field\":\"\(shown.name("text"))\"", "\"below\":\(behindTitle ?? 0)",
    ]
    return
      "{\((facts + (text.map { ["\"text\":\(JSONText.quoted($0))"] } ?? [])).joined(separator: ","))}"
  }

  // MARK: Pages without a connection

  /// The page into which the browser inserts a stored text, for reading or for editing.
  func pageForKept(isEditor: Bool, in notebook: Notebook) -> HTML {
    let (title, address): (HTML, HTML) = ("KEPT-TITLE", "\(root)/n/KEPT-ID")
    var frame = Frame(back: (root + "/", notebook.identity.name), isEditor: isEditor)
    if isEditor {
      frame.deed = Self.saveButton
    } else if visitor.mayWrite {
      frame.deed = """
        <a class="btn main" data-key="e" href="\(address)/edit">\(HTML.icon(.pen))Edit</a>
        """
    }
    return layout("KEPT-TITLE", name: notebook.identity.name, frame) {
      guard isEditor else {
        return """
          <article id="note" data-live>
          <h1 dir="auto">\(title)</h1>
          <pre class="text" dir="auto">KEPT-TEXT</pre>
          </article>
          """
      }
      return """
        <h1 class="KEPT-STYLE" dir="auto">\(title)</h1>
        \(Self.addTools)
        \(editForm(to: "\(address)/editKEPT-EDIT", "KEPT-ID", "KEPT-FIELD", "KEPT-TEXT"))
        """
    }
  }
}
