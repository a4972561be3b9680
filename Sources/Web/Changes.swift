internal import Git
internal import History
internal import Merge
internal import Notebook
internal import System
internal import WorkTree

/// The changes that forms make in the notebook.
extension RequestContext {
  func make(in notebook: Notebook) throws -> Response {
    let typed = request.form["text"] ?? ""
    let title = request.form.typed("title") ?? ""
    do {
      guard !title.isEmpty else { throw Refusal.emptyTitle }
      let path = try notebook.path(titled: title)
      let bytes = try text(typed, like: [])
      do {
        _ = try notebook.create(path, text: bytes, anySuffix: !TreePath(title).isNote)
      } catch NotebookError.nameTaken(_, by: path, isFolder: false)
        // If the file cannot be read, it counts as different.
        where (try? notebook.workTree.text(of: path)) == bytes
      {
        // A browser that has not received the answer sends the form again.
      }
      guard let made = try note(at: path, in: notebook),
        let tip = try notebook.state().tip
      else { return .see(root + "/") }
      let shown = ShownNote(version: tip, blob: try notebook.repository.hash(blob: bytes))
      return done("saved", made.id, with: shown)
    } catch {
      return again(error, newForm(title: title, text: typed))
    }
  }

  /// Saves a text on top of the version that it was edited from. If it cannot be saved, the page shows the text
  /// again, because it exists nowhere else.
  func edit(_ subject: Subject, in notebook: Notebook) throws -> Response {
    let shown = try shownNote(from: 3)
    // If the field with this text's name is missing, the form is about another text.
    guard let typed = request.form[shown.name("text")] else { throw Refusal.brokenForm }
    do {
      _ = try version(shown.version.hex, in: notebook)
      // The former text is unknown if it was only in the folder and was overwritten since; then it counts as empty.
      let former = try text(of: shown, subject, in: notebook) ?? []
      return try save(typed, like: former, shown, subject, notebook)
    } catch {
      return again(error, editForm(of: subject, typed, shown))
    }
  }

  /// Ticks or unticks a box of the text that was shown: an edit of one line.
  func tick(_ subject: Subject, in notebook: Notebook) throws -> Response {
    let shown = try shownNote(from: 3)
    guard let number = request.form[shown.name("line")].flatMap({ Int($0) }) else {
      throw Refusal.brokenForm
    }
    _ = try version(shown.version.hex, in: notebook)
    guard let former = try text(of: shown, subject, in: notebook), let text = EditableText(former)
    else { throw Refusal.noSuchText }
    var lines = text.text.split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.indices.contains(number - 1), let task = TaskLine(lines[number - 1]) else {
      throw Refusal.brokenForm
    }
    lines[number - 1] = Substring(task.switched)
    let answer = try save(lines.joined(separator: "\n"), like: former, shown, subject, notebook)
    // Without a script the page is shown at the same position, without a message: the tick is
    // visible.
    return request.isByScript || answer.status != 303 ? answer : .see(address(subject))
  }

  private func save(
    _ typed: String, like former: [UInt8], _ shown: ShownNote, _ subject: Subject,
    _ notebook: Notebook
  ) throws -> Response {
    let bytes = try text(typed, like: former)
    let made = try notebook.save(bytes, of: subject.path, shown: shown.blob, on: shown.version)
    // The next edit is based on this text, even if it was merged with others.
    let next = try made.map {
      ShownNote(version: $0, blob: try notebook.repository.hash(blob: bytes))
    }
    // A merge may have given the note the name that it has on another device.
    guard let note = try note(subject.id, in: notebook) else {
      return .see(root + "/?done=saved")
    }
    guard next != nil else { return done("same", subject.id) }
    if note.isInConflict { return done("conflict", subject.id, with: next) }
    let isMerged = try notebook.workTree.text(of: note.path) != bytes
    return done(isMerged ? "merged" : "saved", subject.id, with: next)
  }

  /// Reports the change: to a script as facts, otherwise on the note's page.
  ///
  /// - Parameter next: the text for further edits; nil if it is the same.
  private func done(_ what: String, _ id: String, with next: ShownNote? = nil) -> Response {
    let page = "/n/\(id)"
    guard request.isByScript else { return .see("\(root)\(page)?done=\(what)") }
    let edit = next.map {
      #","edit":"\#(page)/edit\#($0.path)","tick":"\#(page)/tick\#($0.path)","blob":"\#($0.blob.hex)""#
    }
    let facts = #"{"done":"\#(what)","page":"\#(page)","note":"\#(id)"\#(edit ?? "")}"#
    return .facts(facts)
  }

  /// The typed text, with the line endings of the text that it replaces.
  private func text(_ typed: String, like former: [UInt8]) throws -> [UInt8] {
    guard typed.utf8.count <= limit else { throw Refusal.tooLong(limit) }
    guard let editable = EditableText(former), !typed.utf8.contains(0) else { throw Refusal.noText }
    return editable.bytes(ofTyped: typed)
  }

  private func again(_ error: any Error, _ form: HTML) -> Response {
    switch error {
    case let refusal as Refusal: trouble(refusal.text, status: refusal.status, with: form)
    default: trouble("\(error)", status: 409, with: form)
    }
  }

  func rename(_ subject: Subject, in notebook: Notebook) throws -> Response {
    guard let title = request.form.typed("title") else { throw Refusal.emptyTitle }
    let shown = try version(request.path[3], in: notebook)
    let former = try notebook.history.noteVersion(named: shown.id.hex, of: subject.path).path
    let asShown = Fields([("title", wholeTitle(former))]).typed("title")
    // A field cannot contain every title, so the typed title is compared with the one that an
    // unchanged field returns.
    guard title != asShown else { return .see(address(subject) + "?done=same") }
    guard former == subject.path else { throw Refusal.changedSince }
    let path = try notebook.path(titled: title, suffix: subject.path.noteSuffix)
    _ = try notebook.rename(subject.path, to: path)
    return .see(address(subject) + "?done=renamed")
  }

  func delete(_ subject: Subject, in notebook: Notebook) throws -> Response {
    if !subject.isDeleted {
      try mustBe(shownNote(from: 3, in: notebook), subject, in: notebook)
    }
    _ = try notebook.delete([subject.path])
    return .see(root + "/?done=deleted")
  }

  /// Pins a note to the top of the list, or unpins it, as the address says.
  func pin(_ subject: Subject, in notebook: Notebook) throws -> Response {
    let (pinned, deed) = (PinnedNotes(in: notebook.stateFolder), request.path[2])
    if deed == "pin" { try pinned.pin(subject.id) } else { try pinned.unpin(subject.id) }
    return .see(address(subject) + "?done=\(deed)")
  }

  /// Restores a deleted note.
  func bringBack(_ subject: Subject, in notebook: Notebook) throws -> Response {
    guard subject.isDeleted else { throw Refusal.noSuchPage }
    guard let last = try notebook.history.lastVersion(with: subject.path) else {
      throw Refusal.noSuchVersion
    }
    return try restore(subject, from: last, in: notebook)
  }

  /// Gives a note the text of a version, in place of the text that the page knew.
  func restore(_ subject: Subject, in notebook: Notebook) throws -> Response {
    let from = try version(request.path[3], in: notebook)
    if subject.isDeleted {
      guard request.path.count == 4 else { throw Refusal.changedSince }
    } else {
      guard request.path.count == 6 else { throw Refusal.changedSince }
      try mustBe(shownNote(from: 4, in: notebook), subject, in: notebook)
    }
    return try restore(subject, from: from, in: notebook)
  }

  private func restore(
    _ subject: Subject, from version: Commit, in notebook: Notebook
  ) throws -> Response {
    let made = try notebook.restore(subject.path, from: version)
    let note = try note(at: subject.path, in: notebook)
    let done = made == nil ? "same" : "restored"
    return .see(note.map { "\(root)/n/\($0.id)?done=\(done)" } ?? root + "/")
  }

  func copy(_ subject: Subject, in notebook: Notebook) throws -> Response {
    let from = try version(request.path[3], in: notebook)
    let copy = try note(at: notebook.copy(subject.path, from: from), in: notebook)
    return .see(copy.map { "\(root)/n/\($0.id)?done=copied" } ?? root + "/")
  }

  func saveFolder(in notebook: Notebook) throws -> Response {
    let made = try notebook.save().version
    return .see(root + "/?done=" + (made == nil ? "same" : "saved"))
  }

  /// Makes a version of the texts chosen in a note's blocks, on top of the version that showed
  /// them.
  func settle(_ subject: Subject, in notebook: Notebook) throws -> Response {
    let shown = try version(request.path[3], in: notebook).id
    let note = try notebook.conflictedNote(at: subject.path, in: shown)
    let texts = try choices(for: note, in: shown)
    guard !texts.isEmpty else { return .see(address(subject, "/settle/\(shown.hex)?done=same")) }
    let settled = note.marked.text(replacing: texts)
    // A browser that has not received the answer sends the form again.
    if (try? notebook.workTree.text(of: subject.path)) != settled {
      _ = try notebook.settle(note, as: settled)
    }
    let isOpen = try notebook.history.conflicts().contains { $0.path == subject.path }
    return .see(address(subject) + "?done=" + (isOpen ? "partly" : "settled"))
  }
}
