internal import Git
internal import History
internal import Merge
internal import Notebook
internal import System
internal import WorkTree

/// What forms change in the notebook.
extension Visit {
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
        where (try? notebook.workTree.text(of: path)) == bytes
      {
        // Whoever has not heard the answer sends it again.
      }
      let made = try notebook.history.notes().first { $0.path == path }
      return .see(made.map { "\(root)/n/\($0.id)?done=saved" } ?? root + "/")
    } catch {
      return again(error, newForm(title: title, text: typed))
    }
  }

  /// Saves a text on the version that it was made on. What cannot be saved is shown again: it is nowhere
  /// else.
  func edit(_ subject: Subject, in notebook: Notebook) throws -> Response {
    let typed = request.form["text"] ?? ""
    do {
      let base = try version(request.form["version"], in: notebook)
      guard let blob = request.form["blob"].flatMap({ ObjectID(hex: $0) }) else {
        throw Refusal.brokenForm
      }
      guard let former = try? notebook.repository.blob(blob) else {
        // What was shown was in the folder alone, and has been written over since.
        return try save(typed, like: [], blob, base, subject, notebook)
      }
      return try save(typed, like: former, blob, base, subject, notebook)
    } catch {
      let form = editForm(
        of: subject, typed, version: request.form["version"] ?? "",
        blob: request.form["blob"] ?? "")
      return again(error, form)
    }
  }

  private func save(
    _ typed: String, like former: [UInt8], _ blob: ObjectID, _ base: Commit, _ subject: Subject,
    _ notebook: Notebook
  ) throws -> Response {
    let bytes = try text(typed, like: former)
    let made = try notebook.save(bytes, of: subject.path, shown: blob, on: base.id)
    // A merge may have given the note its name of another device.
    guard let note = try notebook.history.notes().first(where: { $0.id == subject.id }) else {
      return .see(root + "/?done=saved")
    }
    guard made != nil else { return .see(address(subject) + "?done=same") }
    if note.isInConflict { return .see(address(subject) + "?done=conflict") }
    let isMerged = try notebook.workTree.text(of: note.path) != bytes
    return .see(address(subject) + (isMerged ? "?done=merged" : "?done=saved"))
  }

  /// What was typed, with the line ends of the text that it takes the place of.
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
    let path = try notebook.path(titled: title, suffix: subject.path.noteSuffix)
    _ = try notebook.rename(subject.path, to: path)
    return .see(address(subject) + "?done=renamed")
  }

  func delete(_ subject: Subject, in notebook: Notebook) throws -> Response {
    _ = try notebook.delete([subject.path])
    return .see(root + "/?done=deleted")
  }

  func restore(_ subject: Subject, in notebook: Notebook) throws -> Response {
    let last = try subject.isDeleted ? notebook.history.lastVersion(with: subject.path) : nil
    let hex = request.form["version"]
    let from = try hex == nil ? last : version(hex, in: notebook)
    guard let from else { throw Refusal.noSuchVersion }
    let made = try notebook.restore(subject.path, from: from)
    let note = try notebook.history.notes().first { $0.path == subject.path }
    let done = made == nil ? "same" : "restored"
    return .see(note.map { "\(root)/n/\($0.id)?done=\(done)" } ?? root + "/")
  }

  /// As `notes browse` does: `TITLE (DATE TIME)` beside the note, with a number where that is taken.
  func copy(_ subject: Subject, in notebook: Notebook) throws -> Response {
    let from = try version(request.form["version"], in: notebook)
    let when = WallClock.text(from.author.time, "%Y-%m-%d %H.%M")
    for number in 1...99 {
      let mark = number == 1 ? " (\(when))" : " (\(when), \(number))"
      let name = TreePath(subject.title + mark + subject.path.noteSuffix)
      let target = subject.path.parent?.appending(name) ?? name
      do {
        _ = try notebook.restore(subject.path, from: from, as: target)
      } catch NotebookError.nameTaken {
        continue
      }
      let copy = try notebook.history.notes().first { $0.path == target }
      return .see(copy.map { "\(root)/n/\($0.id)?done=copied" } ?? root + "/")
    }
    throw NotebookError.nameTaken(subject.path, by: subject.path, isFolder: false)
  }

  func undo(in notebook: Notebook) throws -> Response {
    guard let after = request.form["after"], ObjectID(hex: after) != nil else {
      throw Refusal.brokenForm
    }
    _ = try notebook.undo(.version(after))
    return .see(root + "/?done=undone")
  }

  func saveFolder(in notebook: Notebook) throws -> Response {
    let made = try notebook.save().version
    return .see(root + "/?done=" + (made == nil ? "same" : "saved"))
  }

  /// Makes a version of what was chosen in a note's blocks, on the version that showed them.
  func settle(_ subject: Subject, in notebook: Notebook) throws -> Response {
    let shown = try version(request.form["version"], in: notebook)
    let note = try notebook.conflictedNote(at: subject.path, in: shown.id)
    let texts = try choices(for: note)
    guard !texts.isEmpty else { return .see(address(subject, "/settle") + "?done=same") }
    _ = try notebook.settle(note, as: note.marked.text(replacing: texts))
    let isOpen = try notebook.history.conflicts().contains { $0.path == subject.path }
    return .see(address(subject) + "?done=" + (isOpen ? "partly" : "settled"))
  }
}
