public import Git
public import System

/// The errors of the folder and its files.
public enum WorkTreeError: FileFailure, Sendable {
  /// A newer `notes` made the notebook, in this format.
  case newerFormat(String)
  /// A call on a file or folder failed.
  case file(call: String, path: String, errno: Int32)
  /// Something that is not a plain file is in the place of a note.
  case obstructed(path: String)
  /// No note has this name.
  case noSuchNote(String)
  /// A symbolic link, a socket, a pipe or a device is in the place of a note, or of a folder of it.
  case notPlain(TreePath, isLink: Bool)
}

extension WorkTreeError {
  /// A failed system call on a file: `path` names the file, `errno` is the error number.
  public static func system(call: String, path: String, errno: Int32) -> WorkTreeError {
    .file(call: call, path: path, errno: errno)
  }
}

/// System calls on files that throw this module's error.
package typealias Disk = FileSystem<WorkTreeError>

extension WorkTreeError: CustomStringConvertible {
  /// The message for people: lower case, no full stop.
  public var description: String {
    switch self {
    case .newerFormat(let format):
      "the notebook has format \(format), which needs a newer version of notes"
    case .file(let call, let path, let errno): "\(call) \(path): \(String(errorNumber: errno))"
    case .obstructed(let path):
      "cannot write note \(path): something else is in its place"
    case .noSuchNote(let name): "there is no note '\(name)'"
    case .notPlain(let path, let isLink):
      isLink
        ? "\(path) is a symbolic link, which notes does not follow" : "\(path) is not a plain file"
    }
  }
}
