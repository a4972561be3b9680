public import Git

/// The errors in finding notes and versions in the history.
public enum HistoryError: Error, Sendable {
  /// Several notes match this name.
  case ambiguousNote(String, candidates: [TreePath])
  /// No version matches this name.
  case noSuchVersion(String)
  /// `~N` goes back further than the first version.
  case tooFewVersions(String, count: Int)
  /// There was no version at that time. The first was made at `first`, in seconds since 1970.
  case noVersionBy(String, first: Int64)
  /// Several versions match this name.
  case ambiguousVersion(String)
  /// The note does not exist in that version.
  case notInVersion(TreePath, ObjectID)
  /// A regular expression is invalid, for this reason.
  case invalidExpression(String, reason: String)
  /// The file has NUL bytes, so it has no lines.
  case notText(TreePath)
  /// The file has more lines than this limit.
  case tooManyLines(TreePath, limit: Int)
}

extension HistoryError: CustomStringConvertible {
  /// The message for people: lower case, no full stop.
  public var description: String {
    switch self {
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
    }
  }
}
