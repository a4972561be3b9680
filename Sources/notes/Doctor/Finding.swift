struct Finding: Equatable {
  enum Level: String {
    case good = "ok"
    /// It works, and could be safer.
    case advice
    /// Something does not work, or will not.
    case problem
  }

  var level: Level
  /// The fact, in lower case without a full stop.
  var message: String
  var remedy: String?

  static func good(_ message: String) -> Finding { Finding(level: .good, message: message) }

  static func advice(_ message: String, remedy: String) -> Finding {
    Finding(level: .advice, message: message, remedy: remedy)
  }

  static func problem(_ message: String, remedy: String) -> Finding {
    Finding(level: .problem, message: message, remedy: remedy)
  }

  /// An error that says what to do, or else what is the remedy.
  static func problem(_ error: any Error, remedy: String) -> Finding {
    let failure = Failure(describing: error)
    return .problem(failure.message, remedy: failure.hint ?? remedy)
  }
}

extension [Finding] {
  static func good(_ message: String) -> [Finding] { [.good(message)] }

  static func advice(_ message: String, remedy: String) -> [Finding] {
    [.advice(message, remedy: remedy)]
  }

  static func problem(_ message: String, remedy: String) -> [Finding] {
    [.problem(message, remedy: remedy)]
  }
}
