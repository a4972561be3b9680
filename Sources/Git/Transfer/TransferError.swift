/// The errors of an exchange with another repository by the git program.
public enum TransferError: Error, Sendable, Equatable {
  /// The git program was not found.
  case programMissing(String)
  /// git made no progress for this many seconds, and was ended.
  case silent(seconds: Int)
  /// git exceeded this limit, and was ended.
  case excessive(String)
  /// The caller ended git.
  case stopped
  /// git failed: its status, and the lines that it wrote.
  case failed(status: Int32, [String])
}

extension TransferError: CustomStringConvertible {
  /// The message for people: lower case, no full stop.
  public var description: String {
    switch self {
    case .programMissing(let name): "the program \(name) is missing"
    case .silent(let seconds): "git made no progress for \(seconds) s"
    case .excessive(let what): "git exceeded a limit: \(what)"
    case .stopped: "interrupted"
    case .failed(let status, let lines): "git failed (\(status)): \(lines.joined(separator: "; "))"
    }
  }
}
