public import Git
public import System

/// The errors of a notebook.
public enum NotebookError: FileFailure, Sendable {
  /// No notebook in this folder or above it.
  case notANotebook(folder: String)
  /// There is already a notebook in this folder.
  case alreadyANotebook(folder: String)
  /// `.git` is not a folder: a work tree or submodule of another repository.
  case linkedWorkTree(folder: String)
  /// The notebook was made by a newer `notes`: the format it says it has.
  case newerFormat(String)
  /// Another command has held the writer lock all the time we waited.
  case busy(folder: String)
  /// Git is in the middle of something that a person has to finish.
  case gitOperation(UnfinishedOperation)
  /// Git could not merge these files, as after `git stash pop`, and a person has to.
  case unmerged([TreePath])
  /// A call on a file or folder failed.
  case file(call: String, path: String, errno: Int32)
  /// Something that is not a plain file stands where a note has to be written.
  case obstructed(path: String)
  /// Git converts the file, so that no version of it is made here: how.
  case converted(TreePath, by: Conversion)
  /// No note answers to this name.
  case noSuchNote(String)
  /// Several notes answer to this name.
  case ambiguousNote(String, candidates: [TreePath])
  /// No version answers to this name.
  case noSuchVersion(String)
  /// `~N` goes further back than there are versions.
  case tooFewVersions(String, count: Int)
  /// There was no version yet at that time: when the first was made, in seconds since 1970.
  case noVersionBy(String, first: Int64)
  /// Several versions answer to this name.
  case ambiguousVersion(String)
  /// The note does not exist in that version.
  case notInVersion(TreePath, ObjectID)
  /// A regular expression that cannot be used, and why.
  case invalidExpression(String, reason: String)
  /// The file holds NUL bytes, so it has no lines.
  case notText(TreePath)
  /// The file has more lines than are looked at: their limit.
  case tooManyLines(TreePath, limit: Int)
  /// Too much would be deleted at once (notes-merge(7), mass deletion).
  case massDeletion(deleted: Int, of: Int)
  /// A title can't be a note's: the title, and what is wrong with it.
  case unfitTitle(String, String)
  /// The note or folder that has the wanted name already, or one that differs from it only by case or
  /// Unicode form.
  case nameTaken(TreePath, by: TreePath, isFolder: Bool)
  /// A symbolic link, a socket, a pipe or a device is in the place of a note, or of a folder of it.
  case notPlain(TreePath, isLink: Bool)
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
  /// A call on a file that failed: `path` names the file, `errno` is the error number it left.
  public static func system(call: String, path: String, errno: Int32) -> NotebookError {
    .file(call: call, path: path, errno: errno)
  }
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

/// Calls on files that throw this module's error.
package typealias Disk = FileSystem<NotebookError>

extension NotebookError: CustomStringConvertible {
  /// The error as people are told: lower case, no full stop.
  public var description: String {
    switch self {
    case .notANotebook("."): "this folder is not in a notebook"
    case .notANotebook(let folder): "\(folder) is not in a notebook"
    case .alreadyANotebook(let folder): "\(folder) is already a notebook"
    case .linkedWorkTree(let folder): "\(folder) belongs to a git repository elsewhere"
    case .newerFormat(let format):
      "the notebook has format \(format), which is newer than this notes understands"
    case .busy(let folder): "another notes command is working in \(folder)"
    case .gitOperation(let operation): "a git \(operation.rawValue) is in progress in this notebook"
    case .unmerged(let paths): "git could not merge \(Self.list(paths))"
    case .file(let call, let path, let errno): "\(call) \(path): \(String(errorNumber: errno))"
    case .obstructed(let path):
      "cannot write note \(path): something else is in its place"
    case .converted(let path, let conversion):
      "no version of \(path) is made here: \(conversion)"
    case .noSuchNote(let name): "there is no note '\(name)'"
    case .ambiguousNote(let name, _): "several notes match '\(name)'"
    case .noSuchVersion(let name): "there is no version '\(name)'"
    case .tooFewVersions(let name, 1): "\(name) is too far back: there is 1 version"
    case .tooFewVersions(let name, let count):
      "\(name) is too far back: there are \(count) versions"
    case .noVersionBy(let name, _): "there was no version at that time: \(name)"
    case .ambiguousVersion(let name): "several versions begin with '\(name)'"
    case .notInVersion(let path, let version):
      "\(path) does not exist in version \(version.hex.prefix(10))"
    case .invalidExpression(let text, let reason):
      "the regular expression '\(text)' is wrong" + (reason.isEmpty ? "" : ": \(reason)")
    case .notText(let path): "\(path) is not text and has no lines"
    case .tooManyLines(let path, let limit): "\(path) has more than \(limit) lines"
    case .massDeletion(let deleted, let total): "this would delete \(deleted) of \(total) notes"
    case .unfitTitle(let title, let why):
      "'\(title.count > 60 ? title.prefix(59) + "…" : title)' cannot be a title: \(why)"
    case .nameTaken(_, let other, let isFolder):
      "there is a \(isFolder ? "folder" : other.titleRange != nil ? "note" : "file") \(other) already"
    case .notPlain(let path, let isLink):
      isLink
        ? "\(path) is a symbolic link, which notes does not follow" : "\(path) is not a plain file"
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
