/// The errors of an exchange with another repository by the git program.
public enum TransferError: Error, Sendable, Equatable {
  /// There is no such program.
  case programMissing(String)
  /// It made no progress for so long, and was ended.
  case silent(seconds: Int)
  /// It would have taken more than it may, and was ended: what.
  case excessive(String)
  /// It was ended from here.
  case stopped
  /// It failed: its status, and the lines that it wrote.
  case failed(status: Int32, [String])
}

extension TransferError: CustomStringConvertible {
  /// The error as people are told: lower case, no full stop.
  public var description: String {
    switch self {
    case .programMissing(let name): "the program \(name) is missing"
    case .silent(let seconds): "git made no progress for \(seconds) s"
    case .excessive(let what): "git would have taken too much: \(what)"
    case .stopped: "interrupted"
    case .failed(let status, let lines): "git failed (\(status)): \(lines.joined(separator: "; "))"
    }
  }
}
