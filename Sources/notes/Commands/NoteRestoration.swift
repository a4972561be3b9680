internal import Git
internal import History
internal import Notebook

/// `notes restore` of one note.
struct NoteRestoration {
  /// `--as`: the title of a new note to restore it as.
  var title: String?
  /// `--dry-run`.
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
        "which version of \(Visible.name(path.noteTitle)) to restore is missing",
        hint: "write NOTE@VERSION; 'notes log \(Visible.word(path.noteTitle))' shows the versions")
    }
    let target = try title.map { try Self.target(titled: $0, beside: path, in: notebook) }
    let shown = target ?? path
    let when = TimeText.relative(version.author.time, now: TimeText.now)
    let past = "as it was in \(version.id.short), \(when)"
    if isTrial {
      let isDifferent = try notebook.history.differs(shown, from: path, in: version)
      if json { return report(shown, version, nil) }
      Output.standard.line(
        isDifferent
          ? "This would restore \(Visible.name(shown)) \(past)."
          : "\(Visible.name(shown)) is \(past), already.")
      return
    }
    let made = try DeletionOption.foundBefore {
      try notebook.restore(path, from: version, as: target)
    }
    if json { return report(shown, version, made) }
    if let made {
      Output.standard.line(
        "Restored \(Visible.name(shown)) \(past): version "
          + Console.output.paint(made.short, .yellow))
    } else {
      Output.standard.line("\(Visible.name(shown)) is \(past), already.")
    }
  }

  private func report(_ path: TreePath, _ version: Commit, _ made: ObjectID?) {
    Output.standard.event([
      "type": .string("restored"), "path": .path(path), "from": .id(version.id),
      "version": made.map(JSON.id) ?? .null, "dry_run": .bool(isTrial),
    ])
  }

  /// The path of a new note of that title, in the same folder where the title names none, with the
  /// same suffix.
  private static func target(
    titled title: String, beside path: TreePath, in notebook: Notebook
  ) throws -> TreePath {
    let folder = title.contains("/") ? Place.currentFolder(in: notebook) : path.parent ?? ""
    return try notebook.path(titled: title, in: folder, suffix: path.noteSuffix)
  }
}
