internal import Glibc

/// A terminal of its own, driven by keys and read as a person sees it: a tmux server that nobody is
/// attached to.
public final class TmuxScreen {
  /// What was waited for did not show; the screen as it was instead.
  public struct NotShown: Error, CustomStringConvertible {
    public let wanted: String
    public let screen: String
    public var description: String { "\(wanted) did not show up on:\n\(screen)" }
  }

  private let socket: String
  private let environment: [String: String]

  /// Starts a command in a terminal of that size, in the folder `home`, which must be there.
  public init(
    _ command: [String], home: String, in folder: String, environment: [String: String],
    columns: Int = 80, rows: Int = 24
  ) throws {
    socket = home + "/tmux-\(UInt32.random(in: .min ... .max))"
    var environment = environment
    environment["TERM"] = "xterm-256color"
    self.environment = environment
    let started = try run(
      tmux(
        [
          "-f", "/dev/null", "new-session", "-d", "-x", "\(columns)", "-y", "\(rows)", "-c", folder,
          ";", "set-option", "-g", "remain-on-exit", "on", ";", "set-option", "-g", "status", "off",
          ";", "set-option", "-sg", "escape-time", "0",
          ";", "set-option", "-g", "window-size", "manual",
          ";", "respawn-pane", "-k", "-c", folder,
        ] + command), in: folder, environment: environment)
    guard started.isSuccess else { throw NotShown(wanted: "a terminal", screen: "\(started)") }
  }

  deinit { _ = try? run(tmux(["kill-server"]), environment: environment) }

  private func tmux(_ arguments: [String]) -> [String] { ["tmux", "-u", "-S", socket] + arguments }

  @discardableResult
  private func tell(_ arguments: String...) throws -> String {
    let result = try run(tmux(arguments), environment: environment)
    guard result.isSuccess else { throw NotShown(wanted: "\(arguments)", screen: "\(result)") }
    return result.text
  }

  /// Presses keys by tmux's names: `Enter`, `Escape`, `Up`, `C-c`; a single character is itself.
  public func press(_ keys: String...) throws {
    for key in keys { try tell("send-keys", key) }
  }

  /// Types a text.
  public func type(_ text: String) throws { try tell("send-keys", "-l", "--", text) }

  /// Gives the window another size.
  public func resize(columns: Int, rows: Int) throws {
    try tell("resize-window", "-x", "\(columns)", "-y", "\(rows)")
  }

  /// The rows, without the spaces at their ends.
  public var text: String { get throws { try tell("capture-pane", "-p") } }

  /// One of tmux's variables of the pane, such as `alternate_on` or `pane_pid`.
  public func value(of variable: String) throws -> String {
    String(try tell("display-message", "-p", "#{\(variable)}").prefix { !$0.isNewline })
  }

  /// Waits until the screen shows a text, and returns the screen.
  @discardableResult
  public func wait(for wanted: String, within seconds: Double = 80) throws -> String {
    try wait(for: wanted, within: seconds) { $0.contains(wanted) }
  }

  /// Waits until the screen is as wanted, and returns it.
  @discardableResult
  public func wait(
    for wanted: String, within seconds: Double = 80, until isRight: (String) throws -> Bool
  ) throws -> String {
    let end = Moment.now + seconds
    while true {
      let screen = try text
      if try isRight(screen) { return screen }
      guard Moment.now < end else { throw NotShown(wanted: wanted, screen: screen) }
      // A screen tells nobody that it has changed: it is looked at again.
      poll(nil, 0, 20)
    }
  }
}
