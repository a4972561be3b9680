public import Git
public import WorkTree

/// The errors of a notebook, beside those of its folder and its history.
public enum NotebookError: Error, Sendable {
  /// No notebook in this folder or above it.
  case notANotebook(folder: String)
  /// There is already a notebook in this folder.
  case alreadyANotebook(folder: String)
  /// `.git` is not a folder: a work tree or submodule of another repository.
  case linkedWorkTree(folder: String)
  /// Another command has held the writer lock all the time we waited.
  case busy(folder: String)
  /// Git is in the middle of something that a person has to finish.
  case gitOperation(UnfinishedOperation)
  /// Git could not merge these files, as after `git stash pop`, and a person has to.
  case unmerged([TreePath])
  /// Git converts the file, so that no version of it is made here: how.
  case converted(TreePath, by: Conversion)
  /// Too much would be deleted at once (notes-merge(7), mass deletion).
  case massDeletion(deleted: Int, of: Int)
  /// A title can't be a note's: the title, and what is wrong with it.
  case unfitTitle(String, String)
  /// The note or folder that has the wanted name already, or one that differs from it only by case or
  /// Unicode form.
  case nameTaken(TreePath, by: TreePath, isFolder: Bool)
  /// A folder can't be moved into itself.
  case intoItself(TreePath)
  /// So much would come into the folder, and so much is free, in bytes.
  case largeVersion(bytes: Int, free: Int)
  /// A merge would be larger than devices take: the thing that there is too much of, and the limit.
  case mergeTooLarge(String, limit: Int)
  /// A note's file in the folder is larger than devices take, so that no version can keep what is to be
  /// replaced: its size in bytes.
  case fileTooLarge(TreePath, bytes: Int)
  /// A file would have a path that no device takes: why.
  case unfitPath(TreePath, String)
  /// A head descends from a version that was cut off here, which somebody still has.
  case wasPruned(ObjectID)
  /// Versions are from before something was forgotten, on one side: one that both have in another form.
  case wasForgotten(ObjectID)
  /// The other history obeys a forgetting that this notebook does not, and this one another.
  case forgotOtherwise
  /// So many operations can't be taken back: how many could.
  case nothingToUndo(available: Int)
  /// So many undos cannot be taken back: how many could.
  case nothingToRedo(available: Int)
  /// No operation of this device led to such a version.
  case noSuchOperation(String)
  /// Later edits of the same lines of these notes are in the way of taking something back.
  case undoConflict([TreePath])
}

extension NotebookError {
  /// Whether a person has to finish what git began before anything is saved.
  public var waitsForGit: Bool {
    switch self {
    case .gitOperation, .unmerged: true
    default: false
    }
  }
}

extension NotebookError: CustomStringConvertible {
  /// The error as people are told: lower case, no full stop.
  public var description: String {
    switch self {
    case .notANotebook("."): "this folder is not in a notebook"
    case .notANotebook(let folder): "\(folder) is not in a notebook"
    case .alreadyANotebook(let folder): "\(folder) is already a notebook"
    case .linkedWorkTree(let folder): "\(folder) belongs to a git repository elsewhere"
    case .busy(let folder): "another notes command is working in \(folder)"
    case .gitOperation(let operation): "a git \(operation.rawValue) is in progress in this notebook"
    case .unmerged(let paths): "git could not merge \(Self.list(paths))"
    case .converted(let path, let conversion):
      "no version of \(path) is made here: \(conversion)"
    case .massDeletion(let deleted, let total): "this would delete \(deleted) of \(total) notes"
    case .unfitTitle(let title, let why):
      "'\(title.count > 60 ? title.prefix(59) + "…" : title)' cannot be a title: \(why)"
    case .nameTaken(_, let other, let isFolder):
      "there is a \(isFolder ? "folder" : other.titleRange != nil ? "note" : "file") \(other) already"
    case .intoItself(let folder): "the folder \(folder) cannot be moved into itself"
    case .largeVersion(let bytes, let free):
      "this would write \(bytes) bytes into the folder; \(free) bytes are free"
    case .mergeTooLarge(let what, let limit):
      "the merged version would exceed a limit of all devices: \(what) (limit \(limit))"
    case .fileTooLarge(let path, let bytes):
      "\(path) has \(bytes) bytes, more than a version can keep"
    case .unfitPath(let path, let why): "no device would accept \(path): \(why)"
    case .wasPruned(let id):
      "the other device still has version \(id.hex.prefix(10)), which this one removed as too large"
    case .wasForgotten(let id):
      "version \(id.hex.prefix(10)) is there in the form it had before something was forgotten"
    case .forgotOtherwise:
      "something was forgotten there and something else here, at the same time"
    case .nothingToUndo(0): "there is nothing to undo"
    case .nothingToUndo(1): "only 1 operation can be undone"
    case .nothingToUndo(let count): "only \(count) operations can be undone"
    case .nothingToRedo(0): "there is nothing to redo"
    case .nothingToRedo(1): "only 1 undo can be redone"
    case .nothingToRedo(let count): "only \(count) undos can be redone"
    case .noSuchOperation(let name): "no operation that can be undone made version \(name)"
    case .undoConflict(let paths): "the same lines of \(Self.list(paths)) were edited since"
    }
  }

  private static func list(_ paths: [TreePath]) -> String {
    let more = paths.count > 3 ? ["\(paths.count - 3) more"] : []
    let names = paths.prefix(3).map(\.description) + more
    guard let last = names.last, names.count > 1 else { return names.first ?? "" }
    return names.dropLast().joined(separator: ", ") + " and " + last
  }
}
