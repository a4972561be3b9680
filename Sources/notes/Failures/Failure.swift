internal import ArgumentParser
internal import Glibc
internal import System

/// How a command ends, as scripts see it.
enum Exit: Int32, Error, Sendable {
  case done = 0
  case failed = 1
  case notANotebook = 2
  case conflictsToResolve = 3
  case noPeerReached = 4
  case refusedByPeer = 5
  case usage = 64
  case interrupted = 130

  func end() throws {
    if self != .done { throw self }
  }
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

  func text(on terminal: Terminal) -> String {
    var text = "notes: " + terminal.paint("error:", .boldRed) + " \(message)\n"
    if let hint { text += "notes: " + terminal.paint("hint:", .cyan) + " \(hint)\n" }
    return text
  }

  var json: JSON {
    [
      "type": "error", "code": Int(exit.rawValue), "kind": kind, "message": message, "hint": hint,
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
  static func usage(_ message: String, hint: String? = nil) -> Failure {
    Failure(.usage, "usage", message, hint: hint)
  }

  static func outputLost(errno code: Int32) -> Failure {
    Failure(
      .failed, "output_lost", "the output cannot be written: \(String(errorNumber: code))",
      hint: remedy(code) ?? "check where the output goes")
  }

  static func system(_ call: String, errno code: Int32) -> Failure {
    Failure(
      .failed, "system_failed", "\(call): \(String(errorNumber: code))", hint: remedyOrExamine(code)
    )
  }

  /// Ended by Ctrl-C or a request to terminate.
  static let interrupted = Failure(.interrupted, "interrupted", "interrupted")
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
