public import System

/// The errors in watching a folder.
public enum WatchError: FileFailure, Sendable, Hashable {
  /// A system call failed.
  case system(call: String, path: String, errno: Int32)
  /// The notebook's folder does not exist: unmounted, moved or deleted.
  case folderAway(String)
  /// Another process watches the notebook.
  case watchedAlready(String, process: Int)
  /// The watcher that this process asked has stopped.
  case watcherGone
  /// The watcher refused a request; the text is its reason.
  case watcherRefused(String)
  /// The notebook's thread did not answer in time, or has stopped.
  case notAnswering(String)
}

/// System calls on the watcher's own files.
typealias Disk = FileSystem<WatchError>

extension WatchError: CustomStringConvertible {
  /// The message for people: lower case, no full stop.
  public var description: String {
    switch self {
    case .system(let call, let path, let number):
      "\(call)\(path.isEmpty ? "" : " \(path)"): \(String(errorNumber: number))"
    case .folderAway(let folder): "the folder \(folder) is unavailable"
    case .watchedAlready(let folder, let process):
      "\(folder) is already watched, by process \(process)"
    case .watcherGone: "the watcher of the notebook has stopped"
    case .watcherRefused(let reason): "the watcher refused: \(reason)"
    case .notAnswering(let folder): "the watcher of \(folder) does not answer"
    }
  }
}
