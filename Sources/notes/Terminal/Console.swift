internal import Glibc

/// The two ends of the process that a person may look at.
enum Console {
  static let output = Terminal(descriptor: STDOUT_FILENO)
  static let errors = Terminal(descriptor: STDERR_FILENO)

  /// Whether questions can be asked: somebody types and somebody reads.
  static var canAsk: Bool { isatty(STDIN_FILENO) == 1 && errors.isInteractive }

  /// Asks on standard error and reads one line; nil at the end of the input.
  static func ask(_ question: String) -> String? {
    Output.standard.flush()
    Output.errors.write(question)
    Output.errors.flush()
    return readLine(strippingNewline: true)
  }

  /// Asks for something that is not shown while it is typed; nil at the end of the input.
  static func askSecret(_ question: String) -> String? {
    var shown = termios()
    guard tcgetattr(STDIN_FILENO, &shown) == 0 else { return ask(question) }
    var hidden = shown
    hidden.c_lflag &= ~tcflag_t(ECHO)
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden)
    defer {
      tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown)
      Output.errors.line()
      Output.errors.flush()
    }
    return ask(question)
  }

  /// Asks a question that Enter answers with yes, or with no where that is the safer answer. The
  /// end of the input means no.
  static func confirm(_ question: String, byDefault expected: Bool = true) -> Bool {
    while true {
      guard let answer = ask(question + (expected ? " [Y/n] " : " [y/N] ")) else {
        Output.errors.line()
        return false
      }
      switch answer.lowercased().filter({ !$0.isWhitespace }) {
      case "": return expected
      case "y", "yes": return true
      case "n", "no": return false
      default: Output.errors.line("please answer y or n")
      }
    }
  }

  /// Asks before an irreversible action such as "removing Bob". Without a terminal it takes `--yes`.
  ///
  /// - Parameter outcome: what is said where it is declined.
  static func demandConsent(
    to action: String, _ question: String, otherwise outcome: String
  ) throws(Failure) {
    guard canAsk else {
      throw .usage("\(action) has to be confirmed", hint: "--yes goes on without asking")
    }
    guard confirm(question, byDefault: false) else {
      throw Failure(.failed, "declined", outcome, hint: "answer y to go on, or give --yes")
    }
  }
}
