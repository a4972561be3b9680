internal import Glibc

/// The environment variables a command looks at.
struct Environment: Sendable {
  private let fixed: [String: String]?

  /// This process's environment, read when asked so that nothing is copied at start-up.
  static let process = Environment(fixed: nil)

  /// An environment of exactly these variables, or this process's.
  init(fixed: [String: String]?) { self.fixed = fixed }

  /// The value of a variable, or nil when it is not set.
  subscript(name: String) -> String? {
    if let fixed { return fixed[name] }
    return getenv(name).map { String(cString: $0) }
  }
}
