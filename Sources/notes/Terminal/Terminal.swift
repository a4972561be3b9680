internal import Git
internal import Glibc

/// What is known about the place that output goes to.
struct Terminal: Sendable, Equatable {
  /// Whether somebody looks at it: a terminal, not a file or a pipe.
  var isInteractive: Bool
  /// Columns, or nil where lines may be as long as they like.
  var width: Int?
  var usesColour: Bool

  /// NO_COLOR forbids (no-color.org), CLICOLOR_FORCE demands, and between the two a terminal that
  /// is not dumb has colour.
  static func wantsColour(isInteractive: Bool, environment: Environment) -> Bool {
    if let forbidden = environment["NO_COLOR"], !forbidden.isEmpty { return false }
    if let forced = environment["CLICOLOR_FORCE"], !forced.isEmpty, forced != "0" { return true }
    guard isInteractive, let kind = environment["TERM"] else { return false }
    return !kind.isEmpty && kind != "dumb"
  }

  /// A title, cut to the room that a line has beside so many columns; never to less than ten.
  func fitting(_ title: String, beside columns: Int) -> String {
    width.map { Width.cut(title, to: max(10, $0 - columns)) } ?? title
  }

  mutating func narrow(by columns: Int) { width = width.map { max(1, $0 - columns) } }

  /// `text` in that style where colour may be used, else as it is.
  func paint(_ text: String, _ style: Style?) -> String {
    guard let style, usesColour, !text.isEmpty else { return text }
    return "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m"
  }
}

extension Terminal {
  /// The terminal behind a file descriptor, by `isatty(3)`, the window's size and the environment.
  init(descriptor: Int32, environment: Environment = .process) {
    isInteractive = isatty(descriptor) == 1
    if isInteractive {
      // A window that does not tell its size is taken to be the customary 80 columns wide.
      width = Self.wantedWidth(environment) ?? Self.windowWidth(descriptor) ?? 80
    }
    usesColour = Self.wantsColour(isInteractive: isInteractive, environment: environment)
  }

  /// COLUMNS is the user's wish, as everywhere (POSIX, Environment Variables).
  private static func wantedWidth(_ environment: Environment) -> Int? {
    environment["COLUMNS"].flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
  }

  private static func windowWidth(_ descriptor: Int32) -> Int? {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }

  /// A version's ID, as all output shows it.
  func paint(_ version: ObjectID) -> String { paint(version.short, .yellow) }
}

/// The few styles that output uses, as their SGR parameters (ECMA-48).
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
