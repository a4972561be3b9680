internal import Git
internal import History
internal import Notebook
internal import WorkTree

/// The state in which a form was shown: the version of the notebook, and the text of the note. The addresses of
/// the page and of the form contain both. So a browser that restores a page, or its fields, gets the same text
/// again: notes-web(1), "What a save is made on".
struct ShownNote: Sendable {
  let version: ObjectID
  let blob: ObjectID

  /// The last part of a form's address.
  var path: String { "/\(version.hex)/\(blob.hex)" }

  /// The name of a field, which is different in forms for other texts, because browsers restore
  /// fields by their names.
  func name(_ field: String) -> String { "\(field)-\(blob.hex)" }
}

extension RequestContext {
  /// A note's present state. An unsaved text is stored, so that the page can be shown again.
  func shownNote(_ subject: Subject, in notebook: Notebook) throws -> ShownNote {
    try shownNoteAndText(subject, in: notebook).0
  }

  /// A note's present state and text.
  func shownNoteAndText(
    _ subject: Subject, in notebook: Notebook
  ) throws -> (ShownNote, [UInt8]) {
    let shown = try notebook.shownText(of: subject.path)
    // If the note is not in a version, the text in the folder differs.
    let saved = try? notebook.history.noteVersion(named: shown.version.hex, of: subject.path).blob
    if saved != shown.blob {
      _ = try notebook.repository.write(blob: shown.text)
      site.unsaved.remember(shown.blob)
    }
    return (ShownNote(version: shown.version, blob: shown.blob), shown.text)
  }

  /// The state in the address, beginning at a part of its path.
  func shownNote(from place: Int) throws -> ShownNote {
    let path = request.path
    guard path.count == place + 2, let version = ObjectID(hex: path[place]),
      let blob = ObjectID(hex: path[place + 1])
    else { throw Refusal.noSuchPage }
    return ShownNote(version: version, blob: blob)
  }

  /// The state in the address, if its version is in this history.
  func shownNote(from place: Int, in notebook: Notebook) throws -> ShownNote {
    let shown = try shownNote(from: place)
    _ = try version(shown.version.hex, in: notebook)
    return shown
  }

  /// The text that a form was shown with; a text of another note is not accepted. Nil if it no longer
  /// exists: it was only in the folder, and was overwritten.
  func text(of shown: ShownNote, _ subject: Subject, in notebook: Notebook) throws -> [UInt8]? {
    // If the form's version does not exist here, the text in the folder is used.
    let then = try? notebook.history.noteVersion(named: shown.version.hex, of: subject.path)
    // Without this commit, the text in the folder is used as well.
    if then == nil, let commit = try? version(shown.version.hex, in: notebook),
      // Without this text, the text in the folder is used as well.
      let text = try? notebook.history.text(of: subject.path, at: commit),
      try notebook.repository.hash(blob: text) == shown.blob
    {
      return text
    }
    guard then?.blob == shown.blob || site.unsaved.contains(shown.blob) else {
      // Nil means that the text no longer exists.
      let now = try? notebook.shownText(of: subject.path)
      return now?.blob == shown.blob ? now?.text : nil
    }
    // Nil means that the text no longer exists.
    return try? notebook.repository.blob(shown.blob)
  }

  /// Throws if a change would undo others' changes that the page did not show.
  func mustBe(_ shown: ShownNote, _ subject: Subject, in notebook: Notebook) throws {
    // An unknown version of the note is refused below.
    let then = try? notebook.history.noteVersion(named: shown.version.hex, of: subject.path)
    let now = try notebook.shownText(of: subject.path)
    guard now.blob == shown.blob, then?.path ?? subject.path == subject.path else {
      throw Refusal.changedSince
    }
  }
}
