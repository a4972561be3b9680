internal import ArgumentParser
internal import Git
internal import History
internal import Notebook
internal import WorkTree

struct RestoreCommand: PlainCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Bring back a note, a folder or the whole notebook as it was.",
    discussion: """
      What the folder holds is saved first and what is restored is a new version, so nothing is \
      lost. A deleted note comes back the same way; its last text does without a version. With \
      --as the old text becomes a note of its own. A folder, or with --all the notebook, becomes \
      what it was: notes that came since go.

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

  @Flag(help: "Restore the whole notebook; without a version the last one.")
  var all = false

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
      try restore(nil, named: name, in: notebook)
      return
    }
    let (item, version) = try Self.itemAndVersion(note ?? "", in: notebook)
    switch item {
    case .folder(let folder):
      guard title == nil else { throw Failure.usage("--as goes with a note, not with a folder") }
      try restore(folder, named: version, in: notebook)
    case .note(let path):
      try NoteRestoration(title: title, isTrial: trial.isOn, json: options.json)
        .run(path, version: version, in: notebook)
    }
  }

  static func run(on words: ArraySlice<String>) throws -> Bool {
    guard let text = words.first, words.count == 1 else { return false }
    let notebook = try NotebookLocator.notebook()
    guard case (.note(let path), let version) = try itemAndVersion(text, in: notebook) else {
      return false
    }
    try NoteRestoration().run(path, version: version, in: notebook)
    return true
  }

  /// The note or folder and the version that `NOTE@VERSION` names. A note whose name holds an `@`
  /// is found first.
  private static func itemAndVersion(
    _ text: String, in notebook: Notebook
  ) throws -> (item: Item, version: String?) {
    if let at = text.lastIndex(of: "@"), at != text.startIndex {
      let name = String(text[..<at])
      // Where the name is a note's own, looking for one with an @ is no use.
      let isPlain =
        try notebook.history.note(spelled: name) != nil
        && notebook.history.note(spelled: text) == nil
      if !isPlain, let item = try? NotebookLocator.item(text, in: notebook) { return (item, nil) }
      return (
        try NotebookLocator.item(name, in: notebook, among: .former),
        String(text[text.index(after: at)...])
      )
    }
    return (try NotebookLocator.item(text, in: notebook, among: .former), nil)
  }

  // MARK: A folder, or all

  private func restore(_ folder: TreePath?, named name: String?, in notebook: Notebook) throws {
    let version: Commit
    if let name {
      version = try notebook.history.pastVersion(named: name)
    } else if folder == nil, let tip = try notebook.state().tip {
      version = try notebook.repository.commit(tip)
    } else if let folder, let last = try Self.lastVersion(ofDeleted: folder, in: notebook) {
      version = last
    } else {
      let shown = folder.map { Visible.name($0) + "/" } ?? "the notebook"
      throw Failure.usage(
        "say which version of \(shown) to restore",
        hint: "write \(folder == nil ? "" : "FOLDER/")@VERSION; 'notes log' shows the versions")
    }
    let done: FolderRestoration
    do {
      done = try deletions.guarded {
        try notebook.restore(
          folder: folder, from: version, label: name ?? version.id.short, trial: trial.isOn,
          allowsMassDeletion: $0)
      }
    } catch NotebookError.notInVersion(let path, let version) {
      let isThere = try notebook.holds(folder: path)
      throw Failure(
        .failed, "no_such_folder",
        "there is no folder '\(Visible.name(path))' in version \(version.short)",
        hint: "'notes log' shows the versions, and what they changed",
        name: isThere ? nil : path.description)
    }
    let what = folder.map { Visible.name($0) + "/" } ?? "the notebook"
    let when = TimeText.relative(version.author.time, now: TimeText.now)
    let past = "as it was in \(version.id.short), \(when)"
    var text = "\(what.capitalisedFirst) is \(past), already.\n"
    if !done.changes.isEmpty {
      let made = done.version.map { ": version " + Console.output.paint($0) } ?? ""
      text = (trial.isOn ? "This would restore " : "Restored ") + "\(what) \(past)\(made)\n"
      text += done.changes.text(on: Console.output)
    }
    options.write(
      lines: [
        [
          "type": "restored", "path": folder, "from": version.id, "changes": done.changes,
          "version": done.version, "dry_run": trial.isOn,
        ]
      ], text: text)
  }

  /// The last version that a folder was in of which nothing is left; nil of one that is there.
  private static func lastVersion(
    ofDeleted folder: TreePath, in notebook: Notebook
  ) throws -> Commit? {
    if try notebook.holds(folder: folder) { return nil }
    let gone = try notebook.history.deletedFiles().filter { $0.path.isInside(folder) }
    // What is not saved yet was deleted last.
    let last = gone.max { ($0.time ?? .max) < ($1.time ?? .max) }
    return try last.flatMap { try notebook.history.lastVersion(with: $0.path) }
  }
}

extension Notebook {
  fileprivate func holds(folder: TreePath) throws -> Bool {
    try history.files().contains { $0.path.isInside(folder) }
  }
}

extension String {
  fileprivate var capitalisedFirst: String { prefix(1).uppercased() + dropFirst() }
}
