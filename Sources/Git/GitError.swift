public import System

/// The errors of a repository.
public enum GitError: FileFailure, Sendable {
  /// This call of libgit2 failed, with this code and message.
  case library(call: String, code: Int32, message: String)
  /// This library could not be loaded; the reason is the loader's message.
  case libraryMissing(String, reason: String)
  case notARepository(String)
  /// libgit2 does not support the repository: the setting, or libgit2's message.
  case unsupported(String)
  /// The repository has this extension of git's format, which notes does not know. The name is in
  /// lower case.
  case unsupportedExtension(String)
  /// Replacing the repository would lose something, or keep something that must be removed, for
  /// this reason.
  case irreplaceable(String)
  /// Other users can write to the repository: `core.sharedRepository`.
  case sharedRepository
  /// The repository lacks objects of its history, or shows other objects: the reason, and the
  /// remote that has them.
  case incomplete(HistoryGap, remote: String)
  /// A foreign commit contains an entry that every device refuses: the commit, the entry's path,
  /// and the reason.
  case unfit(version: ObjectID, name: TreePath, why: String)
  case foreignOwner(folder: String)
  /// A git configuration file cannot be read, or git could not read it.
  case unreadableConfiguration(String)
  case missing(ObjectID)
  case wrongKind(ObjectID, expected: ObjectKind)
  /// An object's content does not follow git's format.
  case malformed(ObjectID, String)
  /// A reference's file contains neither an ID nor another reference's name.
  case brokenReference(String)
  /// A reference is locked by this file in the repository.
  case locked(String)
  case referenceMoved(String)
  /// More than one object ID begins with this prefix.
  case ambiguousPrefix(String)
  /// A version exceeds a limit of all devices: its tree, the name of the limit, and the limit.
  case tooLarge(tree: ObjectID, what: String, limit: Int)
  /// An object exceeds the limit of all devices: its kind, its size and the limit, in bytes.
  case objectTooLarge(ObjectKind, bytes: Int, limit: Int)
  case system(call: String, path: String, errno: Int32)
}

/// System calls on files that throw this module's error.
typealias Disk = FileSystem<GitError>

extension GitError: CustomStringConvertible {
  /// The message for people: lower case, no full stop.
  public var description: String {
    switch self {
    case .library(let call, let code, let message): "\(call) failed (\(code)): \(message)"
    case .libraryMissing(let name, let reason): "\(name) cannot be loaded: \(reason)"
    case .notARepository(let folder): "there is no git repository in \(folder)"
    case .unsupportedExtension(let name):
      "this repository needs extensions.\(name), which notes cannot work with"
    case .irreplaceable(let what): "the history cannot be made again: \(what)"
    case .sharedRepository:
      "other users may write to this repository (core.sharedRepository), which notes cannot work with"
    case .unsupported(let what): "this repository needs \(what), which notes cannot work with"
    case .incomplete(let gap, _): gap.words
    case .unfit(let version, let name, let why):
      "version \(version.hex.prefix(10)) contains \(name), which other devices refuse: \(why)"
    case .unreadableConfiguration(let path): "git's configuration \(path) cannot be read"
    case .foreignOwner(let folder): "the repository in \(folder) belongs to another user"
    case .missing(let id): "object \(id) is missing"
    case .wrongKind(let id, let expected): "object \(id) is not a \(expected)"
    case .malformed(let id, let what): "object \(id) is malformed: \(what)"
    case .brokenReference(let name): "the file .git/\(name) is damaged"
    case .locked(let path): "git or another program has locked .git/\(path)"
    case .referenceMoved(let name): "another program changed \(name) during this command"
    case .ambiguousPrefix(let prefix): "several versions or texts begin with \(prefix)"
    case .tooLarge(let tree, let what, let limit):
      "a version is too large (tree \(tree.hex.prefix(10))): \(what): the limit is \(limit)"
    case .objectTooLarge(let kind, let bytes, let limit):
      "a \(kind == .blob ? "file" : "\(kind)") of \(bytes) bytes is too large for other devices: the limit is \(limit)"
    case .system(let call, let path, let errno): "\(call) \(path): \(String(errorNumber: errno))"
    }
  }
}

extension HistoryGap {
  fileprivate var words: String {
    let (form, why) =
      switch self {
      case .shallow: ("is a shallow clone", "it lacks the older versions")
      case .partial: ("is a partial clone", "it may lack files of some versions")
      case .alternates:
        ("uses objects of another repository", "the other is missing (objects/info/alternates)")
      case .grafts: ("has grafts", "versions have other parents than they say (.git/info/grafts)")
      case .replacements:
        ("has replaced objects", "git shows other objects instead (refs/replace)")
      }
    return "this repository \(form), which notes cannot work with: \(why)"
  }
}
