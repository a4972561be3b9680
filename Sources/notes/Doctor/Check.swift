internal import Channel
internal import Discovery
internal import History
internal import Notebook

struct CheckContext {
  let notebook: Notebook
  let dataFolder: String
  /// What finds devices; nil where it is not to be used.
  var discovery: (any Discovery)?
  var listen: Address = Address(host: "*", port: 0)
  var now: Int64 = TimeText.now

  var ownDevice: String { notebook.identity.device.deviceID }
}

struct Check: Sendable {
  let name: String
  let title: String
  /// What to do about a problem that brings no remedy of its own.
  let remedy: String
  let run: @Sendable (CheckContext) throws -> [Finding]

  /// All of them, in the order in which they are told.
  static let all: [Check] = [
    deviceKey, history, interruption, agreement, membership, clock, discovery, multicast, port,
    fileSystem, watches, names, size,
  ]

  func findings(in context: CheckContext) -> [Finding] {
    do {
      return try run(context)
    } catch {
      let failure = Failure(describing: error)
      return .problem(failure.message, remedy: failure.hint ?? remedy)
    }
  }
}

struct Finding: Equatable {
  enum Level: String {
    case good = "ok"
    /// It works, and could be safer.
    case advice
    case problem
  }

  var level: Level
  /// The fact, in lower case without a full stop.
  var message: String
  var remedy: String?
}

extension [Finding] {
  static func good(_ message: String) -> [Finding] { [Finding(level: .good, message: message)] }

  static func advice(_ message: String, remedy: String) -> [Finding] {
    [Finding(level: .advice, message: message, remedy: remedy)]
  }

  static func problem(_ message: String, remedy: String) -> [Finding] {
    [Finding(level: .problem, message: message, remedy: remedy)]
  }
}
