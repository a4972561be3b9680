internal import Git
internal import History
internal import Notebook

extension Failure {
  /// The hint for a name that nothing has, where one is near that may have been meant.
  static func guess(_ name: String, among names: [String]) -> String? {
    Similarity.nearest(to: name, among: names).map { "did you mean '\(Visible.name($0))'?" }
  }

  static func folder(_ path: TreePath) -> Failure {
    Failure(
      .failed, "is_a_folder", "\(Visible.name(path)) is a folder, not a note",
      hint: "'notes list --folder \(Visible.word(path.description))' lists the notes in it")
  }

  /// Where there is no note or folder of a name, the same failure with what may have been meant: one
  /// that was deleted, or names nearby.
  func withNearNames() -> Failure {
    guard ["no_such_note", "no_such_folder", "ambiguous_note"].contains(kind), let name,
      !name.isEmpty, let notebook = try? NotebookLocator.notebook()
    else { return self }
    if kind != "no_such_folder", let folder = NotebookLocator.folder(named: name, in: notebook) {
      return kind == "no_such_note" || name.hasSuffix("/") ? .folder(folder) : self
    }
    if kind == "ambiguous_note" { return self }
    let wanted: String
    if kind == "no_such_note",
      let gone = try? notebook.history.note(exactly: name, among: .deleted),
      (try? notebook.isThere(gone)) == false
    {
      wanted = "it was deleted; 'notes restore \(Visible.word(name))' brings it back"
    } else if let near = NearNames(name, in: notebook).phrase(foldersAlone: kind != "no_such_note")
    {
      wanted = "did you mean \(near)?"
    } else {
      return self
    }
    return Failure(exit, kind, message, hint: wanted, name: name)
  }
}

struct NearNames {
  private let name: String
  private let notebook: Notebook

  init(_ name: String, in notebook: Notebook) {
    self.name = name
    self.notebook = notebook
  }

  /// The names as a phrase; nil where none is near. Deleted notes count where nothing that stands is
  /// near.
  func phrase(foldersAlone: Bool) -> String? {
    let notes = (try? notebook.history.presentNotes().map(\.path)) ?? []
    let isFolder = foldersAlone || name.hasSuffix("/")
    if !isFolder, let titles = titles(of: notes) { return titles }
    if let folders = folders(of: notes) { return folders }
    guard !isFolder, let gone = try? notebook.history.deletedFiles().map(\.path).filter(\.isNote),
      let titles = titles(of: gone)
    else { return nil }
    return titles + ", which was deleted"
  }

  func titles() -> String? { titles(of: (try? notebook.history.presentNotes().map(\.path)) ?? []) }

  private func titles(of notes: [TreePath]) -> String? {
    // Who names a folder too has mistyped either.
    let hasFolder = name.contains("/")
    let titles = notes.map { note in
      hasFolder ? String(note.description.dropLast(note.noteSuffix.count)) : note.noteTitle
    }
    return Self.list(Similarity.titles(near: name, among: titles))
  }

  private func folders(of notes: [TreePath]) -> String? {
    var typed = name
    while typed.count > 1, typed.hasSuffix("/") { typed.removeLast() }
    var folders: Set<String> = []
    for note in notes {
      var folder = note.parent
      while let path = folder, folders.insert(path.description).inserted { folder = path.parent }
    }
    return Self.list(Similarity.titles(near: typed, among: folders.sorted()).map { $0 + "/" })
  }

  private static func list(_ names: [String]) -> String? {
    let near = names.map { "'\(Visible.name($0))'" }
    guard let last = near.last else { return nil }
    return near.count == 1 ? last : near.dropLast().joined(separator: ", ") + " or " + last
  }
}
