internal import Git
internal import Notebook

extension Failure {
  /// A name that a note or folder cannot get.
  static func naming(_ error: NotebookError) -> Failure {
    switch error {
    case .unfitTitle(let title, let why):
      return Failure(
        .usage, "unfit_title", "'\(Visible.name(shortened(title)))' cannot be a title: \(why)",
        hint: "choose another title; one with slashes names the folders that the note goes into")
    case .nameTaken(let path, let other, let isFolder):
      let kind = isFolder ? "folder" : other.isNote ? "note" : "file"
      return Failure(
        .failed, "name_taken", "there is a \(kind) \(Visible.name(other)) already",
        hint: hint(for: path, takenBy: other, isFolder: isFolder))
    case .intoItself(let folder):
      return Failure(
        .failed, "into_itself", "the folder \(Visible.name(folder)) cannot be moved into itself",
        hint: "choose a folder outside of it")
    default:
      return Failure(.failed, "naming_failed", Visible.name(error.description), hint: examine)
    }
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

  /// Something that cannot be taken back or done again.
  static func undoing(_ error: NotebookError) -> Failure {
    let list = "'notes log --operations' shows what was done here"
    switch error {
    case .nothingToUndo(let available):
      return Failure(
        .failed, "nothing_to_undo",
        available == 0
          ? "there is nothing to undo"
          : "only \(Counted.things(available, "operation")) can be undone", hint: list)
    case .nothingToRedo(let available):
      return Failure(
        .failed, "nothing_to_redo",
        available == 0
          ? "there is nothing to redo"
          : "only \(Counted.things(available, "undo")) can be taken back",
        hint: "'notes redo' takes back 'notes undo'; " + list)
    case .noSuchOperation(let name):
      return Failure(
        .failed, "no_such_operation",
        "no operation that could be undone led to version \(Visible.name(name))", hint: list)
    case .undoConflict(let paths):
      let shown = paths.prefix(3).map { Visible.name($0) }
      let more = paths.count > 3 ? ["\(paths.count - 3) more"] : []
      return Failure(
        .failed, "undo_conflict",
        "the same lines of \(Counted.list(shown + more)) were edited since",
        hint: "undo what came later too, or bring back single notes by 'notes restore NOTE@VERSION'"
      )
    default: return Failure(.failed, "undo_failed", Visible.name(error.description), hint: examine)
    }
  }

  private static func shortened(_ title: String) -> String {
    title.count > 60 ? title.prefix(59) + "…" : title
  }
}

extension TreePath {
  fileprivate func isInside(_ folder: TreePath) -> Bool {
    bytes.starts(with: folder.bytes + [UInt8(ascii: "/")])
  }
}
