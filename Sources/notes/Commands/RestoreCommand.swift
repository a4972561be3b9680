internal import ArgumentParser
internal import Git
internal import History
internal import Notebook
internal import WorkTree

struct RestoreCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Bring back a note, a folder or the whole notebook as it was.",
    discussion: """
      Saves the folder first, and makes a new version of what it restores, so nothing is lost. A \
      deleted note comes back the same way, by default with its last text. With --as the old text \
      becomes another note. A folder, or with --all the notebook, returns to its old state: notes \
      added since are deleted.

      Examples:
        notes restore Shopping@~1
        notes restore 'Shopping@2026-11-20' --as 'Shopping before'
        notes restore 'Deleted plan'
        notes restore trips/@2026-11-20
        notes restore --all '@2026-11-20 10:00' --dry-run
      """)

  @Argument(
    help: .named("note@version", "The note or folder and its version."),
    completion: LiveCompletion.restorable)
  var note: String?

  @Option(name: .customLong("as"), help: .named("title", "Restore it as another note."))
  var title: String?

  @Flag(help: "Restore the whole notebook, by default to the last version.") var all = false

  @OptionGroup var trial: DryRunOption
  @OptionGroup var deletions: DeletionOption
  @OptionGroup var options: CommonOptions

  func validate() throws {
    if note == nil, !all { throw ValidationError("Missing expected argument '<note@version>'.") }
    if all, title != nil { throw ValidationError("--as goes with a note, not with --all.") }
  }

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    if all {
      let name = note.map { $0.hasPrefix("@") ? String($0.dropFirst()) : $0 }
      return try restore(folder: nil, named: name, in: notebook)
    }
    let (item, version) = try itemAndVersion(note ?? "", in: notebook)
    guard item.isFolder else { return try restore(item.path, named: version, in: notebook) }
    guard title == nil else { throw Failure.usage("--as goes with a note, not with a folder") }
    try restore(folder: item.path, named: version, in: notebook)
  }

  /// The item and the version of `NOTE@VERSION`. A note with an `@` in its name has priority.
  private func itemAndVersion(
    _ text: String, in notebook: Notebook
  ) throws -> (item: Item, version: String?) {
    guard let at = text.lastIndex(of: "@"), at != text.startIndex
    else { return (try NotebookLocator.item(text, in: notebook, among: .former), nil) }
    let name = String(text[..<at])
    // If the name is a note's own, no note with an @ in its name is searched.
    let isPlain =
      try notebook.history.note(spelled: name) != nil && notebook.history.note(spelled: text) == nil
    // A name that is not found is searched among former notes; that search reports the error.
    if !isPlain, let item = try? NotebookLocator.item(text, in: notebook) { return (item, nil) }
    let item = try NotebookLocator.item(name, in: notebook, among: .former)
    return (item, String(text[text.index(after: at)...]))
  }

  /// - Parameter name: the version; nil for the last one of a deleted note.
  private func restore(_ path: TreePath, named name: String?, in notebook: Notebook) throws {
    let version: Commit
    if let name {
      version = try notebook.history.version(named: name, of: path)
    } else if try !notebook.isThere(path), let last = try notebook.history.lastVersion(with: path) {
      version = last
    } else if try bringBack(path, in: notebook) {
      return
    } else {
      throw Failure.usage(
        "say which version of \(Visible.name(path.noteTitle)) to restore",
        hint: "write NOTE@VERSION; 'notes log \(Visible.word(path.noteTitle))' shows the versions")
    }
    let target = try title.map { title in
      let folder =
        title.contains("/") ? NotebookLocator.currentFolder(in: notebook) : path.parent ?? ""
      return try notebook.path(titled: title, in: folder, suffix: path.noteSuffix)
    }
    let shown = target ?? path
    let (what, past) = (Visible.name(shown), Self.past(version))
    var made: ObjectID?
    var sentence = "\(what) is \(past), already."
    if trial.isOn {
      if try notebook.history.differs(shown, from: path, in: version) {
        sentence = "This would restore \(what) \(past)."
      }
    } else {
      made = try DeletionOption.foundBefore {
        try notebook.restore(path, from: version, as: target)
      }
      if let made { sentence = "Restored \(what) \(past): version \(Console.output.paint(made))" }
    }
    options.tell(
      [
        "type": "restored", "path": shown, "from": version.id, "version": made,
        "dry_run": trial.isOn,
      ], sentence)
  }

  /// Restores a note that a power cut damaged; returns false if it is not damaged.
  private func bringBack(_ path: TreePath, in notebook: Notebook) throws -> Bool {
    guard title == nil, let tip = try notebook.state().tip,
      try notebook.status().skipped.contains(where: { $0.path == path && $0.reason.isPowerLoss })
    else { return false }
    var sentence = "This would restore \(Visible.name(path)) as last saved."
    var version: ObjectID?
    if !trial.isOn, let done = try notebook.restoreDamagedFiles([path]) {
      version = done.version
      sentence = done.files.sentence(broughtBackIn: done.version)
    }
    options.tell(
      ["type": "restored", "path": path, "from": tip, "version": version, "dry_run": trial.isOn],
      sentence)
    return true
  }

  private static func past(_ version: Commit) -> String {
    let when = TimeText.relative(version.author.time, now: TimeText.now)
    return "as it was in \(version.id.short), \(when)"
  }

  private func restore(folder: TreePath?, named name: String?, in notebook: Notebook) throws {
    let version = try folderVersion(of: folder, named: name, in: notebook)
    let done: FolderRestoration
    do {
      done = try deletions.guarded {
        try notebook.restore(
          folder: folder, from: version, label: name ?? version.id.short, trial: trial.isOn,
          allowsMassDeletion: $0)
      }
    } catch HistoryError.notInVersion(let path, let version) {
      let isThere = try Self.isThere(folder: path, in: notebook)
      throw Failure(
        .failed, "no_such_folder",
        "there is no folder '\(Visible.name(path))' in version \(version.short)",
        hint: "'notes log' shows the versions, and what they changed",
        name: isThere ? nil : path.description)
    }
    let past = Self.past(version)
    options.write([
      [
        "type": "restored", "path": folder, "from": version.id, "changes": done.changes,
        "version": done.version, "dry_run": trial.isOn, "skipped": done.excluded,
      ]
    ]) { terminal in
      let what = Self.shown(folder)
      let excluded = done.excluded.text(on: terminal)
      if done.changes.isEmpty {
        return what.prefix(1).uppercased() + what.dropFirst()
          + " is \(past), already\(excluded.isEmpty ? "" : ", except what no version may have").\n"
          + excluded
      }
      let made = done.version.map { ": version " + terminal.paint($0) } ?? ""
      return (trial.isOn ? "This would restore " : "Restored ") + "\(what) \(past)\(made)\n"
        + done.changes.text(on: terminal) + excluded
    }
  }

  private static func shown(_ folder: TreePath?) -> String {
    folder.map { Visible.name($0) + "/" } ?? "the notebook"
  }

  /// The named version; without a name, the last version, or for a deleted folder the last one that
  /// had the folder.
  private func folderVersion(
    of folder: TreePath?, named name: String?, in notebook: Notebook
  ) throws -> Commit {
    if let name { return try notebook.history.pastVersion(named: name) }
    if let folder {
      if try !Self.isThere(folder: folder, in: notebook) {
        let gone = try notebook.history.deletedFiles().filter { $0.path.isInside(folder) }
        // An unsaved deletion is the latest.
        let last = gone.max { ($0.time ?? .max) < ($1.time ?? .max) }
        if let last, let version = try notebook.history.lastVersion(with: last.path) {
          return version
        }
      }
    } else if let tip = try notebook.state().tip {
      return try notebook.repository.commit(tip)
    }
    throw Failure.usage(
      "say which version of \(Self.shown(folder)) to restore",
      hint: "write \(folder == nil ? "" : "FOLDER/")@VERSION; 'notes log' shows the versions")
  }

  private static func isThere(folder: TreePath, in notebook: Notebook) throws -> Bool {
    try notebook.history.files().contains { $0.path.isInside(folder) }
  }
}
