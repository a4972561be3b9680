internal import Git
internal import History
internal import Notebook

struct NoteRestoration {
  /// `--as`: the title of a new note to restore it as.
  var title: String?
  var isTrial = false
  var json = false

  /// Restores the note and reports it.
  ///
  /// - Parameter name: which version; nil for the last one of a note that is gone.
  func run(_ path: TreePath, version name: String?, in notebook: Notebook) throws {
    let version: Commit
    if let name {
      version = try notebook.history.version(named: name, of: path)
    } else if try !notebook.isThere(path), let last = try notebook.history.lastVersion(with: path) {
      version = last
    } else {
      throw Failure.usage(
        "say which version of \(Visible.name(path.noteTitle)) to restore",
        hint: "write NOTE@VERSION; 'notes log \(Visible.word(path.noteTitle))' shows the versions")
    }
    let target = try title.map { try Self.target(titled: $0, beside: path, in: notebook) }
    let shown = target ?? path
    let when = TimeText.relative(version.author.time, now: TimeText.now)
    let past = "as it was in \(version.id.short), \(when)"
    let what = Visible.name(shown)
    var made: ObjectID?
    var sentence = "\(what) is \(past), already."
    if isTrial {
      if try notebook.history.differs(shown, from: path, in: version) {
        sentence = "This would restore \(what) \(past)."
      }
    } else {
      made = try DeletionOption.foundBefore {
        try notebook.restore(path, from: version, as: target)
      }
      if let made { sentence = "Restored \(what) \(past): version \(Console.output.paint(made))" }
    }
    CommonOptions.write(
      json: json,
      lines: [
        [
          "type": "restored", "path": shown, "from": version.id, "version": made,
          "dry_run": isTrial,
        ]
      ], text: sentence + "\n")
  }

  /// The path of a new note of that title, in the same folder where the title names none, with the
  /// same suffix.
  private static func target(
    titled title: String, beside path: TreePath, in notebook: Notebook
  ) throws -> TreePath {
    let folder =
      title.contains("/") ? NotebookLocator.currentFolder(in: notebook) : path.parent ?? ""
    return try notebook.path(titled: title, in: folder, suffix: path.noteSuffix)
  }
}
