import Channel
import Glibc
import History
import Notebook
import TestSupport
import Testing

@testable import Membership
@testable import notes

/// notes-doctor(1): the home folder, ports, Avahi, the page and the clock of the machine.
@Suite struct DoctorMachineTests {
  let shell: Shell

  init() throws { shell = try Shell.withTwoVersions() }

  // notes-doctor(1): "Without HOME, the command says which checks it cannot make."
  @Test func `Without a home folder it checks all else`() throws {
    for name in ["HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"] { shell.environment[name] = nil }
    let result = try shell.notes("doctor", "--no-discovery")
    #expect(result.status == .exited(1) && result.errorText.isEmpty, "\(result)")
    #expect(
      result.text.contains(
        "problem  device key   there is no home folder: HOME is not set"))
    #expect(result.text.contains("ok       history      2 versions, all intact"))
    #expect(result.text.contains("→ set HOME, or XDG_DATA_HOME, to an absolute path"))
  }

  @Test func `A port in use, and Avahi away, are told with what to do`() throws {
    let listener = try Listener(at: Address(host: "127.0.0.1", port: 0))
    shell.environment["DBUS_SYSTEM_BUS_ADDRESS"] = "unix:path=\(shell.folder["no-bus"])"
    let result = try shell.notes("doctor", "--listen", "127.0.0.1:\(listener.port)")
    #expect(result.status == .exited(1))
    #expect(result.text.contains("another program already listens at 127.0.0.1:\(listener.port)"))
    #expect(result.text.contains("--at HOST:PORT"))
    #expect(result.text.hasSuffix("\n2 problems found.\n"))
  }

  // notes-doctor(1): "at which address the page is, or would be with --lan".
  @Test func `Where the page is, and a port that is taken, are told`() throws {
    func told() throws -> String {
      let lines = try shell.notes("doctor", "--no-discovery", "--json").lines
      return try #require(lines.first { $0.contains(#""check":"page""#) })
    }
    #expect(try told().contains("not served now; "))
    let web = try RunningProcess(
      [BuiltBinary.notes(), "web", "--no-open", "--json"], in: shell.folder["notes"],
      environment: shell.environment)
    let link = try web.line(within: 120)
    let origin = try #require(link.firstMatch(of: #/http:\/\/127\.0\.0\.1:\d+/#)?.output)
    #expect(try told().contains("served at \(origin); 0 guests"))
    web.send(SIGINT)
    _ = try web.wait(within: 120)
    let identity = try Notebook.open(at: shell.folder["notes"]).identity
    let port = ServedPage.port(notebookID: identity.id, deviceID: identity.device.deviceID)
    let other = try? Listener(at: Address(host: "127.0.0.1", port: UInt16(port)))
    let taken = try told()
    #expect(taken.contains("another program listens at the page's own port \(port)"))
    withExtendedLifetime(other) {}
    // Its program is found beside notes alone.
    let program = try BuiltBinary.notes()
    try #require(
      try run(["sh", "-c", "mkdir alone; cp '\(program)' alone/notes"], in: shell.folder.path)
        .isSuccess)
    let alone = try run(
      [shell.folder["alone/notes"], "doctor", "--no-discovery"], in: shell.folder["notes"],
      environment: shell.environment)
    #expect(alone.isSuccess && alone.text.contains("alone/notes-web is missing"), "\(alone)")
  }

  @Test(arguments: [0, 1_600_000_000, 5_000_000_000])
  func `A clock that cannot be right is told`(now: Int64) throws {
    let notebook = try Notebook.open(at: shell.folder["notes"])
    let context = CheckContext(
      notebook: notebook, knownDataFolder: shell.folder["home/.local/share/notes"], discovery: nil,
      now: now)
    #expect(Check.clock.findings(in: context).map(\.level) == [.problem])
  }
}
