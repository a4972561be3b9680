import Glibc
import TestSupport
import Testing

@testable import notes

/// notes-peers(1), --watch: what a person sees, on terminals of two widths, while a device that is
/// connected opens a note and leaves.
@Suite(.serialized) struct PeersScreenTests {
  /// A device of the story.
  private final class Device {
    let shell: Shell
    private var watcher: RunningProcess?

    init() throws { shell = try Shell() }

    /// Starts to watch.
    func watch() throws {
      let watcher = try RunningProcess(
        [
          BuiltBinary.notes(), "watch", "--json", "--no-discovery", "--listen", "127.0.0.1:0",
        ], in: shell.folder["notes"], environment: shell.environment)
      self.watcher = watcher
      _ = try watcher.line { $0.contains("listening") }
    }

    func stop() throws {
      let watcher = try #require(watcher)
      watcher.send(SIGTERM)
      _ = try watcher.wait(within: 80)
      self.watcher = nil
    }
  }

  private func join(_ name: String, to host: Device) throws -> Device {
    let device = try Device()
    // The watcher holds the invitation open, at its own port.
    let invite = try RunningProcess(
      [BuiltBinary.notes(), "invite", "--json"], in: host.shell.folder["notes"],
      environment: host.shell.environment)
    let line = try invite.line { $0.contains(#""invitation""#) }
    let code = try #require(JSONValue.lines(line)[0]["code"])
    let place = try #require(line.firstRange(of: #""port":"#))
    let port = line[place.upperBound...].prefix(while: \.isNumber)
    let joined = try device.shell.notes(
      "join", code, device.shell.folder["notes"], "--yes", "--name", name, "--no-discovery",
      "--at", "127.0.0.1:\(port)")
    try #require(joined.isSuccess, "\(joined)")
    _ = try invite.wait(within: 80)
    return device
  }

  @Test func `Devices come, edit and leave`() throws {
    let laptop = try Device()
    try laptop.shell.folder.write("milk\n", to: "notes/Shopping list.txt")
    try laptop.shell.initialise()
    try laptop.watch()
    let phone = try join("phone", to: laptop)
    let tablet = try join("tablet", to: laptop)
    try phone.watch()
    let screens = try [80, 120].map { columns in
      try laptop.shell.screen(
        [BuiltBinary.notes(), "peers", "--watch"], columns: columns, rows: 6)
    }
    var shown = screens.map { _ in "" }
    func show(_ title: String, phone wanted: [String]) throws {
      for (number, screen) in screens.enumerated() {
        let text = try screen.wait(for: title, within: 180) { text in
          let row = text.split(separator: "\n").first { $0.hasPrefix("phone") } ?? ""
          return wanted.allSatisfy { row.contains($0) }
        }
        shown[number] += "--- \(title)\n" + Self.steady(text)
      }
    }
    try show("connected", phone: ["here", "in sync"])
    try phone.shell.folder.write("", to: "notes/.Shopping list.txt.swp")
    try show("editing", phone: ["here", "edits Shopping list"])
    #expect(unlink(phone.shell.folder["notes/.Shopping list.txt.swp"]) == 0)
    try show("closed", phone: ["here", "in sync"])
    try phone.stop()
    try show("gone", phone: ["away", "in sync"])
    try laptop.shell.folder.write("milk\neggs\n", to: "notes/Shopping list.txt")
    try show("behind", phone: ["away", "lacks 1 version"])
    for (text, columns) in zip(shown, [80, 120]) {
      try Golden.expect(text, matches: "peers-watch-\(columns).txt")
    }
    try laptop.stop()
    withExtendedLifetime(tablet) {}
  }

  /// Ports are the system's choice, of five digits.
  private static func steady(_ screen: String) -> String {
    var text = ""
    var rest = screen[...]
    while let place = rest.firstRange(of: "127.0.0.1:") {
      text += rest[..<place.upperBound]
      rest = rest[place.upperBound...]
      let digits = rest.prefix(while: \.isNumber)
      text += String(repeating: "#", count: digits.count)
      rest = rest[digits.endIndex...]
    }
    // Nor is how long a busy machine took of any interest.
    return (text + rest).split(separator: "\n", omittingEmptySubsequences: false).map { line in
      line.firstRange(of: "seen ").map { line[..<$0.upperBound] + "…" } ?? line
    }.joined(separator: "\n")
  }
}
