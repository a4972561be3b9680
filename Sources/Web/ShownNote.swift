internal import Git
internal import History
internal import Notebook
internal import WorkTree

/// The state that a form was shown with: the version of the notebook, and the text of the note. The address
/// of the page and the form's own have both, so that a browser that brings back a page, or its fields,
/// brings back the same text below it: notes-web(1), "What a save is made on".
struct ShownNote: Sendable {
  let version: ObjectID
  let blob: ObjectID

  /// Behind the address of a form.
  var path: String { "/\(version.hex)/\(blob.hex)" }

  /// The name of a field, which no other text's form has: browsers fill fields again by their names, too.
  func name(_ field: String) -> String { "\(field)-\(blob.hex)" }
}

extension Visit {
  /// A note as it is now. An unsaved text is stored, so that the page can be shown again.
  func shownNote(_ subject: Subject, in notebook: Notebook) throws -> ShownNote {
    try shownNoteAndText(subject, in: notebook).0
  }

  /// The same, with its text.
  func shownNoteAndText(
    _ subject: Subject, in notebook: Notebook
  ) throws -> (ShownNote, [UInt8]) {
    let shown = try notebook.shownText(of: subject.path)
    // Without a version of the note the text in the folder is another one.
    let saved = try? notebook.history.noteVersion(named: shown.version.hex, of: subject.path).blob
    if saved != shown.blob {
      _ = try notebook.repository.write(blob: shown.text)
      site.unsaved.remember(shown.blob)
    }
    return (ShownNote(version: shown.version, blob: shown.blob), shown.text)
  }

  /// The state that the address names, from a part of its path on.
  func shownNote(from place: Int) throws -> ShownNote {
    let path = request.path
    guard path.count == place + 2, let version = ObjectID(hex: path[place]),
      let blob = ObjectID(hex: path[place + 1])
    else { throw Refusal.noSuchPage }
    return ShownNote(version: version, blob: blob)
  }

  /// The same, where the version is one of this history.
  func shownNote(from place: Int, in notebook: Notebook) throws -> ShownNote {
    let shown = try shownNote(from: place)
    _ = try version(shown.version.hex, in: notebook)
    return shown
  }

  /// The text that a form was shown with, which no other note's text is taken for. Nil if nobody has it any
  /// more: it was in the folder alone, and has been written over.
  func text(of shown: ShownNote, _ subject: Subject, in notebook: Notebook) throws -> [UInt8]? {
    // The form names a version: one that names none here leads to what the folder holds.
    let then = try? notebook.history.noteVersion(named: shown.version.hex, of: subject.path)
    // The same.
    if then == nil, let commit = try? version(shown.version.hex, in: notebook),
      // The same.
      let text = try? notebook.history.text(of: subject.path, at: commit),
      try notebook.repository.hash(blob: text) == shown.blob
    {
      return text
    }
    guard then?.blob == shown.blob || site.unsaved.contains(shown.blob) else {
      // Nil says that the text is not to be had.
      let now = try? notebook.shownText(of: subject.path)
      return now?.blob == shown.blob ? now?.text : nil
    }
    // Nil says that the text is not to be had.
    return try? notebook.repository.blob(shown.blob)
  }

  /// Refuses what would take back a change of others that the page did not show.
  func mustBe(_ shown: ShownNote, _ subject: Subject, in notebook: Notebook) throws {
    // A name of no version of the note is refused below.
    let then = try? notebook.history.noteVersion(named: shown.version.hex, of: subject.path)
    let now = try notebook.shownText(of: subject.path)
    guard now.blob == shown.blob, then?.path ?? subject.path == subject.path else {
      throw Refusal.changedSince
    }
  }
}
