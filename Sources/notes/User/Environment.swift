internal import Glibc

struct Environment: Sendable {
  private let fixed: [String: String]?

  /// This process's environment, read when asked so that nothing is copied at start-up.
  static let process = Environment(fixed: nil)

  /// An environment of exactly these variables, or this process's.
  init(fixed: [String: String]?) { self.fixed = fixed }

  subscript(name: String) -> String? {
    if let fixed { return fixed[name] }
    return getenv(name).map { String(cString: $0) }
  }
}
