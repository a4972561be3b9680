internal import ArgumentParser
internal import Git
internal import History
internal import Notebook

struct UndoCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "undo", abstract: "Undo the last operation, or an automatic merge.",
    discussion: """
      Makes a new version that undoes the last operation on this device: a save, an edit, a \
      rename, a deletion, a restore, a resolution or a sync. N undoes the last N. undo first saves \
      unsaved changes; that save is then the last operation. With a version from \
      'notes log --operations', it undoes the operation that made that version, and keeps later ones. \
      'notes redo' redoes it.

      With a note in which notes merged edits of the same lines, undo puts these edits between \
      markers instead, in a new version.

      Examples:
        notes undo
        notes undo 3 --dry-run
        notes undo 4b82c1d0aa
        notes undo Shopping
      """)

  @Argument(
    help: .named("what", "How many, a version, or a merged note."),
    completion: LiveCompletion.undoable)
  var subject: String?

  @OptionGroup var trial: DryRunOption
  @OptionGroup var deletions: DeletionOption
  @OptionGroup var options: CommonOptions

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    guard let choice = try choice(in: notebook) else {
      try takeBackMerge(of: NotebookLocator.noteOnly(subject ?? "", in: notebook), in: notebook)
      return
    }
    let done = try deletions.guarded {
      try notebook.undo(choice, trial: trial.isOn, allowsMassDeletion: $0)
    }
    let report = ReversalReport(reversal: done, isUndo: true, isTrial: trial.isOn)
    options.write([report.json]) { report.text(on: $0, now: TimeText.now) }
  }

  /// The operations to undo; nil if the argument is a note.
  private func choice(in notebook: Notebook) throws -> OperationChoice? {
    guard let subject else { return .last(1) }
    if subject.utf8.count <= 3, let count = Int(subject) {
      guard count > 0 else {
        throw Failure.usage("the number of operations to undo must be 1 or more")
      }
      return .last(count)
    }
    let isHexadecimal = subject.utf8.count >= 4 && subject.allSatisfy(\.isHexDigit)
    guard isHexadecimal else { return nil }
    let isKnown = try notebook.history.operations().contains {
      $0.after.hex.hasPrefix(subject.lowercased())
    }
    if isKnown { return .version(subject) }
    // A word that names no note counts as a version; looking up the version reports the error.
    return (try? NotebookLocator.note(subject, in: notebook)) == nil ? .version(subject) : nil
  }

  private func takeBackMerge(of path: TreePath, in notebook: Notebook) throws {
    guard !trial.isOn else { throw Failure.usage("--dry-run does not go with a note") }
    guard let version = try notebook.takeBackMerge(of: path) else {
      throw Failure(
        .failed, "nothing_to_undo",
        "the last change of \(Visible.name(path)) is not a merge of two edits of the same lines",
        hint:
          "to undo the last operation, run 'notes undo'; to bring back an older version, find it with "
          + "'notes log \(Visible.word(path.noteTitle))' and run 'notes restore'")
    }
    options.tell(
      ["type": "undone", "path": path, "version": version],
      "\(Visible.name(path)) now contains both edits between markers: version "
        + Console.output.paint(version))
  }
}

struct RedoCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "redo", abstract: "Redo what you last undid.",
    discussion: """
      Redoes the last undo, as a new version; N redoes the last N. Later edits stay. The command \
      first saves the changes in the folder.

      Examples:
        notes redo
        notes redo 2 --dry-run
      """)

  @Argument(help: .named("n", "How many undos.")) var count = 1

  @OptionGroup var trial: DryRunOption
  @OptionGroup var deletions: DeletionOption
  @OptionGroup var options: CommonOptions

  func validate() throws {
    guard count > 0 else { throw ValidationError("The number of undos to redo must be 1 or more.") }
  }

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    let done = try deletions.guarded {
      try notebook.redo(count, trial: trial.isOn, allowsMassDeletion: $0)
    }
    let report = ReversalReport(reversal: done, isUndo: false, isTrial: trial.isOn)
    options.write([report.json]) { report.text(on: $0, now: TimeText.now) }
  }
}
