internal import ArgumentParser
internal import Git
internal import History
internal import Notebook
internal import WorkTree

/// The changes that keys of the browser make in the notebook.
extension BrowserSession {
  mutating func edit(_ note: EditedNote) throws {
    shown = nil
    defer { attempt { try $0.reread() } }
    try terminal.lend {
      let options = try CommonOptions.parse([])
      try NoteEditing(notebook: notebook, options: options).edit([note])
    }
  }

  /// Asks for a title, and opens the editor.
  mutating func make() throws {
    shown = nil
    guard let title = terminal.lend({ Console.ask("Title of the new note: ") }), !title.isEmpty
    else { return }
    let folder = browser.note?.path.parent ?? ""
    try edit(EditedNote(path: notebook.path(titled: title, in: folder), creation: .anySuffix))
  }

  mutating func delete(_ path: TreePath) throws {
    _ = try notebook.delete([path])
    try reread()
    browser.message = Styled(
      "deleted \(path.label); D lists it, and r brings it back there", .green)
  }

  /// Resolves block by block, on the normal screen of the terminal.
  mutating func settle(_ path: TreePath) throws {
    shown = nil
    defer { attempt { try $0.reread() } }
    try terminal.lend {
      try ConflictWalk.settle([path], in: notebook)
      _ = Console.ask("Press Enter to go back. ")
    }
  }

  mutating func restore(_ revision: Browser.Revision) throws {
    guard let note = browser.note else { return }
    let version = try notebook.repository.commit(revision.id)
    let target = note.path == revision.path ? nil : note.path
    guard let made = try notebook.restore(revision.path, from: version, as: target) else {
      browser.message = Styled("the note is already as it was in \(revision.id.short)", .yellow)
      return
    }
    browser.message = Styled(
      "restored as it was in \(revision.id.short): version \(made.short); the text before is also "
        + "a version", .green)
    try reread()
  }

  mutating func recover(_ path: TreePath) throws {
    guard let version = try notebook.history.lastVersion(with: path) else { return }
    _ = try notebook.restore(path, from: version)
    try reread()
    browser.message = Styled("restored \(path.label)", .green)
  }

  mutating func copy(_ revision: Browser.Revision) throws {
    let version = try notebook.repository.commit(revision.id)
    let target = try notebook.copy(revision.path, from: version)
    try reread()
    browser.message = Styled("copied to \(target.label)", .green)
  }
}
