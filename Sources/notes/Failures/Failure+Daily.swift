internal import Git
internal import History
internal import Notebook

extension Failure {
  /// A title that a note or folder cannot have.
  static func unfit(title: String, _ why: String) -> Failure {
    Failure(
      .usage, "unfit_title", "'\(Visible.name(shortened(title)))' cannot be a title: \(why)",
      hint: "choose another title; one with slashes names the folders that the note goes into")
  }

  /// A path that another file stands in the way of.
  static func taken(_ path: TreePath, by other: TreePath, isFolder: Bool) -> Failure {
    let kind = isFolder ? "folder" : other.isNote ? "note" : "file"
    return Failure(
      .failed, "name_taken", "there is a \(kind) \(Visible.name(other)) already",
      hint: hint(for: path, takenBy: other, isFolder: isFolder))
  }

  private static func hint(for path: TreePath, takenBy other: TreePath, isFolder: Bool) -> String {
    if other == path, !isFolder {
      return "choose another title; 'notes edit \(Visible.word(path.noteTitle))' changes that one"
    }
    if other == path || path.isInside(other) { return "choose another title" }
    if other.noteTitle == path.noteTitle {
      return "choose another title, or write the suffix too: \(Visible.word(path.description))"
    }
    return "names that differ only by case or accents would be one on other systems; "
      + "choose another title"
  }

  /// The way to what can be taken back.
  static let operations = "'notes log --operations' shows what was done here"

  /// - Parameter available: how many operations could be undone.
  static func nothingToUndo(available: Int) -> Failure {
    Failure(
      .failed, "nothing_to_undo",
      available == 0
        ? "there is nothing to undo"
        : "only \(Counted.things(available, "operation")) can be undone", hint: operations)
  }

  /// - Parameter available: how many undos could be taken back.
  static func nothingToRedo(available: Int) -> Failure {
    Failure(
      .failed, "nothing_to_redo",
      available == 0
        ? "there is nothing to redo"
        : "only \(Counted.things(available, "undo")) can be taken back",
      hint: "'notes redo' takes back 'notes undo'; " + operations)
  }

  /// What was to be undone was edited since.
  static func undoConflict(_ paths: [TreePath]) -> Failure {
    let shown = paths.prefix(3).map { Visible.name($0) }
    let more = paths.count > 3 ? ["\(paths.count - 3) more"] : []
    return Failure(
      .failed, "undo_conflict",
      "the same lines of \(Counted.list(shown + more)) were edited since",
      hint: "undo what came later too, or bring back single notes by 'notes restore NOTE@VERSION'")
  }

  private static func shortened(_ title: String) -> String {
    title.count > 60 ? title.prefix(59) + "…" : title
  }
}

extension TreePath {
  /// Whether it lies below a folder.
  func isInside(_ folder: TreePath) -> Bool {
    bytes.starts(with: folder.bytes + [UInt8(ascii: "/")])
  }
}
