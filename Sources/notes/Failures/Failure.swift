internal import ArgumentParser
internal import Glibc

/// How a command ends, as scripts see it.
enum Exit: Int32, Sendable {
  case done = 0
  case failed = 1
  case notANotebook = 2
  case conflictsToResolve = 3
  case noPeerReached = 4
  case refusedByPeer = 5
  case usage = 64
  case interrupted = 130
}

/// Why a command could not do what it was asked, as its user is told.
///
/// Messages and hints are in lower case without a full stop. The kind names the fact for programs.
struct Failure: Error, Equatable, Sendable {
  let exit: Exit
  let kind: String
  let message: String
  let hint: String?
  /// The name that nothing answers to, where that is what went wrong.
  let name: String?

  init(
    _ exit: Exit, _ kind: String, _ message: String, hint: String? = nil, name: String? = nil
  ) {
    self.exit = exit
    self.kind = kind
    self.message = message
    self.hint = hint
    self.name = name
  }

  /// The lines for people.
  func text(on terminal: Terminal) -> String {
    var text = "notes: " + terminal.paint("error:", .boldRed) + " \(message)\n"
    if let hint { text += "notes: " + terminal.paint("hint:", .cyan) + " \(hint)\n" }
    return text
  }

  /// The line for programs.
  var json: JSON {
    [
      "type": .string("error"), "code": .int(Int(exit.rawValue)), "kind": .string(kind),
      "message": .string(message), "hint": .optional(hint),
    ]
  }

  /// Prints the failure on standard error, last of all: for people, or for programs.
  func report(json asJSON: Bool) {
    Output.standard.flush()
    if asJSON {
      Output.errors.event(json)
    } else {
      Output.errors.write(text(on: Console.errors))
      Output.errors.flush()
    }
  }
}

extension Failure {
  /// A mistake in the command line.
  static func usage(_ message: String, hint: String? = nil) -> Failure {
    Failure(.usage, "usage", message, hint: hint)
  }

  /// Standard output cannot be written.
  static func outputLost(errno code: Int32) -> Failure {
    Failure(
      .failed, "output_lost", "the output cannot be written: \(reason(code))",
      hint: remedy(code) ?? "check where the output goes")
  }

  /// A call of the system failed.
  static func system(_ call: String, errno code: Int32) -> Failure {
    Failure(
      .failed, "system_failed", "\(call): \(reason(code))", hint: remedy(code) ?? examine)
  }

  /// Ended by Ctrl-C or a request to terminate.
  static let interrupted = Failure(.interrupted, "interrupted", "interrupted")

  /// The system's words for an error number, in lower case as messages are.
  static func reason(_ code: Int32) -> String {
    var buffer = [CChar](repeating: 0, count: 256)
    guard strerror_r(code, &buffer, buffer.count) == 0 else { return "error \(code)" }
    let text = String(
      decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return text.prefix(1).lowercased() + text.dropFirst()
  }
}

extension Failure {
  /// A mistake in the command line that says no more, with the way to the command's help.
  func withUsage(of arguments: [String]) -> Failure {
    guard exit == .usage, hint == nil else { return self }
    var command = ""
    if let place = arguments.firstIndex(where: { Commands.type(named: $0) != nil }) {
      command = " " + arguments[place]
      let verbs = Commands.type(named: arguments[place])?.configuration.subcommands ?? []
      let names = verbs.map { $0._commandName }
      let words = arguments[(place + 1)...]
      let verb = words.first { names.contains($0) }
      if !names.isEmpty, verb == nil, let word = words.first, !word.hasPrefix("-") {
        return .usage(
          "there is no 'notes\(command) \(Visible.name(word))'",
          hint: Self.guess(word, among: names) ?? "it is one of \(names.joined(separator: ", "))")
      }
      command += verb.map { " " + $0 } ?? ""
    }
    return Failure(
      exit, kind, message,
      hint: command.isEmpty
        ? "'notes help' lists the commands" : "'notes\(command) --help' shows how to use it")
  }
}
