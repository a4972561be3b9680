public import Git
public import WorkTree

/// The errors of a notebook, in addition to those of its folder and its history.
public enum NotebookError: Error, Sendable {
  /// There is no notebook in this folder or above it.
  case notANotebook(folder: String)
  /// There is already a notebook in this folder.
  case alreadyANotebook(folder: String)
  /// `.git` is not a folder: a work tree or submodule of another repository.
  case linkedWorkTree(folder: String)
  /// Another command held the writer lock for the whole waiting time.
  case busy(folder: String)
  /// A git operation is in progress that a person must finish.
  case gitOperation(UnfinishedOperation)
  /// git could not merge these files, as after `git stash pop`; a person must.
  case unmerged([TreePath])
  /// git converts the file in this way, so notes does not version it.
  case converted(TreePath, by: Conversion)
  /// Too much would be deleted at once (notes-merge(7), mass deletion).
  case massDeletion(deleted: Int, of: Int)
  /// A title is not allowed for a note: the title, and the reason.
  case unfitTitle(String, String)
  /// A note or folder already has the wanted name, or one that differs from it only by case or
  /// Unicode form.
  case nameTaken(TreePath, by: TreePath, isFolder: Bool)
  /// A folder can't be moved into itself.
  case intoItself(TreePath)
  /// A version would write too much into the folder: its size and the free space, in bytes.
  case largeVersion(bytes: Int, free: Int)
  /// A merge would exceed a limit of all devices: the name of the limit, and its value.
  case mergeTooLarge(String, limit: Int)
  /// A note's file in the folder exceeds the limit of all devices, so no version can keep the text to
  /// be replaced: its size in bytes.
  case fileTooLarge(TreePath, bytes: Int)
  /// All devices would refuse the path of a file, for this reason.
  case unfitPath(TreePath, String)
  /// A head descends from a version that was pruned here and that another device still has.
  case wasPruned(ObjectID)
  /// One side has versions from before a forgetting; the other side has this version in another
  /// form.
  case wasForgotten(ObjectID)
  /// Each of the two histories obeys a forgetting that the other does not.
  case forgotOtherwise
  /// Only this many operations can be undone.
  case nothingToUndo(available: Int)
  /// Only this many undos can be redone.
  case nothingToRedo(available: Int)
  /// No operation of this device made such a version.
  case noSuchOperation(String)
  /// Later edits of the same lines of these notes prevent the undo or redo.
  case undoConflict([TreePath])
}

extension NotebookError {
  /// Whether nothing is saved until a person has finished a git operation.
  public var waitsForGit: Bool {
    switch self {
    case .gitOperation, .unmerged: true
    default: false
    }
  }
}

extension NotebookError: CustomStringConvertible {
  /// The message for people: lower case, no full stop.
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
      "notes makes no version of \(path): \(conversion)"
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
      "version \(id.hex.prefix(10)) there is from before something was forgotten"
    case .forgotOtherwise:
      "the two devices have forgotten different things at the same time"
    case .nothingToUndo(0): "there is nothing to undo"
    case .nothingToUndo(1): "only 1 operation can be undone"
    case .nothingToUndo(let count): "only \(count) operations can be undone"
    case .nothingToRedo(0): "there is nothing to redo"
    case .nothingToRedo(1): "only 1 undo can be redone"
    case .nothingToRedo(let count): "only \(count) undos can be redone"
    case .noSuchOperation(let name): "no operation that can be undone made version \(name)"
    case .undoConflict(let paths): "later edits changed the same lines of \(Self.list(paths))"
    }
  }

  private static func list(_ paths: [TreePath]) -> String {
    let more = paths.count > 3 ? ["\(paths.count - 3) more"] : []
    let names = paths.prefix(3).map(\.description) + more
    guard let last = names.last, names.count > 1 else { return names.first ?? "" }
    return names.dropLast().joined(separator: ", ") + " and " + last
  }
}
