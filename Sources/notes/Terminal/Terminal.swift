internal import Git
internal import Glibc

struct Terminal: Sendable, Equatable {
  var isInteractive: Bool
  /// The number of columns; nil if lines may have any length.
  var width: Int?
  var usesColour: Bool

  /// Whether to use colour. NO_COLOR turns it off (no-color.org), CLICOLOR_FORCE turns it on. Without both, a
  /// terminal has colour unless it is dumb.
  static func wantsColour(isInteractive: Bool, environment: Environment) -> Bool {
    if let forbidden = environment["NO_COLOR"], !forbidden.isEmpty { return false }
    if let forced = environment["CLICOLOR_FORCE"], !forced.isEmpty, forced != "0" { return true }
    guard isInteractive, let kind = environment["TERM"] else { return false }
    return !kind.isEmpty && kind != "dumb"
  }

  /// A title, cut to the space that a line has beside `columns` columns; never below ten.
  func fitting(_ title: String, beside columns: Int) -> String {
    width.map { Width.cut(title, to: max(10, $0 - columns)) } ?? title
  }

  mutating func narrow(by columns: Int) { width = width.map { max(1, $0 - columns) } }

  func paint(_ text: String, _ style: Style?) -> String {
    guard let style, usesColour, !text.isEmpty else { return text }
    return "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m"
  }
}

extension Terminal {
  init(descriptor: Int32, environment: Environment = .process) {
    isInteractive = isatty(descriptor) == 1
    if isInteractive {
      // A user may set the width with COLUMNS, as for other programs (POSIX, Environment Variables).
      let wanted = environment["COLUMNS"].flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
      // If a window does not report its size, the usual 80 columns are assumed.
      width = wanted ?? Self.windowSize(descriptor)?.columns ?? 80
    }
    usesColour = Self.wantsColour(isInteractive: isInteractive, environment: environment)
  }

  static func windowSize(_ descriptor: Int32) -> Screen.Size? {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Screen.Size(columns: Int(size.ws_col), rows: Int(size.ws_row))
  }

  func paint(_ version: ObjectID) -> String { paint(version.short, .yellow) }
}

/// The few styles of the output, as their SGR parameters (ECMA-48).
enum Style: String, Sendable {
  case bold = "1"
  case dim = "2"
  case red = "31"
  case green = "32"
  case yellow = "33"
  case blue = "34"
  case cyan = "36"
  case reverse = "7"
  case boldRed = "1;31"
  case boldYellow = "1;33"
}

enum Console {
  static let output = Terminal(descriptor: STDOUT_FILENO)
  static let errors = Terminal(descriptor: STDERR_FILENO)

  static var canAsk: Bool { isatty(STDIN_FILENO) == 1 && errors.isInteractive }

  /// Asks on standard error and reads one line; nil at the end of the input, and after Ctrl-C.
  static func ask(_ question: String) -> String? {
    Output.standard.flush()
    Output.errors.write(question)
    Output.errors.flush()
    return line()
  }

  /// The next line of standard input; nil at its end, and after Ctrl-C. The standard library's `readLine` never returns
  /// after a signal: getline(3) then says EINTR at each call.
  static func line() -> String? {
    var bytes: [UInt8] = []
    var byte: UInt8 = 0
    while true {
      switch read(STDIN_FILENO, &byte, 1) {
      case 1 where byte == UInt8(ascii: "\n"):
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
      case 1: bytes.append(byte)
      case 0: return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
      default: if errno != EINTR || Interruption.hasCome { return nil }
      }
    }
  }

  /// Asks for a secret, without showing it while it is typed; nil at the end of the input.
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

  /// Waits until a line is entered; the end of the input (Ctrl-D) interrupts the command.
  static func waitForEnter(_ request: String) throws(Failure) {
    guard ask(request + " ") != nil else {
      Output.errors.line()
      throw .interrupted
    }
  }

  /// Asks a yes/no question. Enter means `expected`, or if that is nil, asks again; the end of the input means no.
  ///
  /// - Throws: `Failure.interrupted` after Ctrl-C.
  static func confirm(
    _ question: String, byDefault expected: Bool? = true
  ) throws(Failure) -> Bool {
    let choices = expected.map { $0 ? " [Y/n] " : " [y/N] " } ?? " [y/n] "
    while true {
      guard let answer = ask(question + choices) else {
        Output.errors.line()
        if Interruption.hasCome { throw .interrupted }
        return false
      }
      switch answer.lowercased().filter({ !$0.isWhitespace }) {
      case "y", "yes": return true
      case "n", "no": return false
      case "":
        if let expected { return expected }
        fallthrough
      default: Output.errors.line("please answer y or n")
      }
    }
  }

  /// Asks before an irreversible action such as removing Bob. Without a terminal, `--yes` is
  /// required.
  static func demandConsent(
    to action: String, _ question: String, otherwise outcome: String
  ) throws(Failure) {
    guard canAsk
    else {
      throw .usage(
        "there is no terminal to confirm \(action)", hint: "add --yes to confirm")
    }
    guard try confirm(question, byDefault: false)
    else { throw Failure(.failed, "declined", outcome, hint: "answer y, or add --yes") }
  }
}
