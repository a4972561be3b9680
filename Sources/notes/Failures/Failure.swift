internal import ArgumentParser
internal import Channel
internal import Exchange
internal import Glibc
internal import History
internal import Merge
internal import System
internal import WorkTree

enum Exit: Int32, Error, Sendable {
  case done = 0
  case failed = 1
  case notANotebook = 2
  case conflictsToResolve = 3
  case noPeerReached = 4
  case refusedByPeer = 5
  case usage = 64
  case interrupted = 130

  func end() throws { if self != .done { throw self } }
}

/// The exit code for an error, the error's name for programs, and the remedy.
struct ErrorMeaning {
  let exit: Exit
  let kind: String
  let hint: String?

  private init(_ exit: Exit, _ kind: String, _ hint: String?) {
    (self.exit, self.kind, self.hint) = (exit, kind, hint)
  }

  static let interrupted = Self(.interrupted, "interrupted", nil)

  static func notANotebook(_ kind: String, _ hint: String) -> Self {
    Self(.notANotebook, kind, hint)
  }

  static func failed(_ kind: String, _ hint: String) -> Self { Self(.failed, kind, hint) }

  static func misused(_ kind: String, _ hint: String) -> Self { Self(.usage, kind, hint) }

  static func unreached(_ kind: String, _ hint: String) -> Self { Self(.noPeerReached, kind, hint) }

  static func refused(_ kind: String, _ hint: String) -> Self { Self(.refusedByPeer, kind, hint) }
}

protocol ExplainedError: Error, CustomStringConvertible {
  var meaning: ErrorMeaning { get }
}

/// The reason why a command failed. Messages and hints are in lower case without a full stop.
struct Failure: Error, Equatable, Sendable {
  let exit: Exit
  let kind: String
  var message: String
  var hint: String?
  /// The name that was not found, if that is the error.
  var name: String?

  init(_ exit: Exit, _ kind: String, _ message: String, hint: String? = nil, name: String? = nil) {
    self.exit = exit
    self.kind = kind
    self.message = message
    self.hint = hint
    self.name = name
  }

  func text(on terminal: Terminal) -> String {
    // The text is coloured after it is broken into lines: colours have no width.
    func line(_ word: String, _ style: Style, _ text: String) -> String {
      let whole = terminal.wrapped("notes: \(word): \(text)\n")
      return "notes: " + terminal.paint(word + ":", style)
        + whole.dropFirst("notes: \(word):".count)
    }
    return line("error", .boldRed, message) + (hint.map { line("hint", .cyan, $0) } ?? "")
  }

  var json: JSON {
    ["type": "error", "code": Int(exit.rawValue), "kind": kind, "message": message, "hint": hint]
  }

  /// Prints the failure on standard error, at the end.
  func report(json asJSON: Bool) {
    Output.standard.flush()
    if asJSON { return Output.errors.event(json) }
    Output.errors.write(text(on: Console.errors))
    Output.errors.flush()
  }

  // MARK: Failures of several commands

  static let interrupted = Failure(.interrupted, "interrupted", "interrupted")

  static func usage(_ message: String, hint: String? = nil) -> Failure {
    Failure(.usage, "usage", message, hint: hint)
  }

  /// - Parameter hint: the hint if no remedy is known for that error.
  static func system(
    _ what: String, errno code: Int32, kind: String = "system_failed", hint: String = examine
  ) -> Failure {
    Failure(.failed, kind, "\(what): \(String(errorNumber: code))", hint: remedy(code) ?? hint)
  }

  static func outputLost(errno code: Int32) -> Failure {
    .system(
      "the output cannot be written", errno: code, kind: "output_lost",
      hint: "check where the output goes")
  }

  /// - Parameters:
  ///   - ends: why the unused invitations of a command ended.
  ///   - count: how many it had opened.
  static func invitations(ended ends: [InvitationEnd], of count: Int, after seconds: Double)
    -> Failure
  {
    let first = [.exhausted, .expired].first(where: ends.contains)
    var failure = invitation(ended: first, after: seconds)
    if count > 1 {
      failure.message =
        "\(Phrase.number(ends.count)) of \(count) invitations were not used: \(failure.message)"
    }
    return failure
  }

  static func invitation(ended end: InvitationEnd?, after seconds: Double) -> Failure {
    switch end {
    case .exhausted:
      Failure(
        .refusedByPeer, "wrong_code", "three wrong codes closed the invitation",
        hint: "'notes invite' opens another")
    case .expired:
      Failure(
        .failed, "expired", "no device joined in \(TimeText.duration(Int(seconds)))",
        hint: "'notes invite' opens another invitation")
    case .used, .withdrawn, nil:
      Failure(
        .failed, "cancelled", "the invitation was cancelled",
        hint: "'notes invite' opens a new one")
    }
  }

  static func firstSync(failed cause: Failure, in folder: String) -> Failure {
    Failure(
      cause.exit, "first_sync_failed",
      "this device is now a member, but the first sync failed: \(cause.message)",
      hint: "run 'notes sync' in \(Visible.name(folder))")
  }

  static func firstSyncInterrupted(in folder: String) -> Failure {
    Failure(
      .interrupted, "interrupted", "interrupted; this device is already a member",
      hint: "'notes -C \(Visible.word(folder)) sync' continues")
  }

  // MARK: Errors of the modules and of the argument parser

  init(describing error: any Error) {
    switch error {
    case let failure as Failure: self = failure
    case ChannelError.cancelled, SyncError.stopped: self = .interrupted
    case let error as any ExplainedError:
      let meaning = error.meaning
      self.init(meaning.exit, meaning.kind, Visible.name(error.description), hint: meaning.hint)
      switch error {
      case WorkTreeError.noSuchNote(let name), HistoryError.ambiguousNote(let name, _):
        self.name = name
      default: break
      }
    case let error as MergeError:
      self.init(
        .failed, "merge_failed", Visible.name("the merge failed: \(error)"), hint: Self.examine)
    case let error as SystemCallError:
      let place = error.path.isEmpty ? "" : " " + Visible.name(error.path)
      self = .system(error.call + place, errno: error.errno)
    case _ where NotesCommand.exitCode(for: error) == .validationFailure:
      self.init(parsing: NotesCommand.message(for: error))
    default: self.init(.failed, "internal", Visible.name("\(error)"), hint: Self.examine)
    }
  }

  /// An error in the command line, with the argument parser's message.
  private init(parsing message: String) {
    var (words, hint) = (message, String?.none)
    if let suggestion = words.firstRange(of: ". Did you mean") {
      // The rest of the parser's message does not help.
      hint = "did you mean" + words[suggestion.upperBound...].prefix { !$0.isNewline }
      words = String(words[..<suggestion.lowerBound])
    }
    if let choices = words.firstRange(of: ". Please provide one of ") {
      hint = "it is one of " + words[choices.upperBound...]
      words = String(words[..<choices.lowerBound])
    }
    // The parser's sentences are changed to the form of notes: lower case, one line, no full stop.
    words = words.split(whereSeparator: \.isNewline).joined(separator: "; ")
    if words.hasSuffix(".") { words.removeLast() }
    if hint?.hasSuffix(".") == true { hint?.removeLast() }
    self = .usage(Visible.name(words.prefix(1).lowercased() + words.dropFirst()), hint: hint)
  }

  func withUsage(of arguments: [String]) -> Failure {
    guard exit == .usage, hint == nil else { return self }
    var failure = self
    guard let place = arguments.firstIndex(where: { Commands.type(named: $0) != nil }) else {
      failure.hint = "'notes help --all' lists the commands"
      return failure
    }
    var command = arguments[place]
    let verbs = Commands.type(named: command)?.configuration.subcommands ?? []
    let names = verbs.map { $0._commandName }
    let words = arguments[(place + 1)...]
    if let verb = words.first(where: { names.contains($0) }) {
      command += " " + verb
    } else if !names.isEmpty, let word = words.first, !word.hasPrefix("-") {
      return .usage(
        "there is no 'notes \(command) \(Visible.name(word))'",
        hint: Self.guess(word, among: names) ?? "it is one of \(names.joined(separator: ", "))")
    }
    failure.hint = "'notes \(command) --help' shows how to use it"
    return failure
  }
}
