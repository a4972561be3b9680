import Glibc
import TestSupport
import Testing

@testable import notes

/// `notes web`, as a terminal sees it: notes-web(1). Tests/WebTests has what it serves.
@Suite(.serialized) struct WebCommandTests {
  private let shell: Shell

  init() throws {
    shell = try Shell()
    try shell.folder.write("milk\n", to: "notes/Shopping.txt")
    try shell.initialise()
  }

  private func start(_ arguments: String...) throws -> RunningProcess {
    try RunningProcess(
      [BuiltBinary.notes(), "web"] + arguments, in: shell.folder["notes"],
      environment: shell.environment)
  }

  private func port(of web: RunningProcess) throws -> String {
    let link = try #require(try JSONValue.lines(web.line(within: 120)).first?["link"])
    return String(link.dropFirst("http://127.0.0.1:".count).prefix { $0 != "/" })
  }

  @Test(arguments: [(SIGINT, Int32(130)), (SIGTERM, Int32(0))])
  func `It tells its link, and ends when it is told to`(signal: Int32, status: Int32) throws {
    let web = try start("--no-open", "--json")
    let line = try web.line(within: 120)
    let value = try #require(try JSONValue.lines(line).first)
    let page = try JSONPage()
    #expect(
      page.differences(of: value, from: try #require(page.commands["web"]), at: "web").isEmpty)
    #expect(value["link"]?.hasPrefix("http://127.0.0.1:") == true)
    web.send(signal)
    #expect(try web.wait(within: 120).status == .exited(status))
  }

  @Test(arguments: ["", "-colour"])
  func `It says how to open the page, and how to end it`(suffix: String) throws {
    if !suffix.isEmpty { shell.environment["CLICOLOR_FORCE"] = "1" }
    let web = try start("--no-open")
    var lines: [String] = []
    while lines.last?.hasSuffix("Ctrl-C ends it.") != true {
      let line = try web.line(within: 120)
      lines.append(line.replacing(#/127.0.0.1:.*/#, with: "127.0.0.1:PORT/open/TOKEN"))
    }
    try Golden.expect(lines.joined(separator: "\n") + "\n", matches: "web\(suffix).txt")
    web.send(SIGINT)
    #expect(try web.wait(within: 120).status == .exited(130))
  }

  // notes-web(1), FILES.
  @Test func `The browser is opened with a file of the user's own`() throws {
    let fifo = shell.folder["opened"]
    try #require(mkfifo(fifo, 0o600) == 0)
    let script = "#!/bin/sh\n{ stat -c %a \"$1\"; echo \"$1\"; cat \"$1\"; } >'\(fifo)'\n"
    try shell.folder.write(script, to: "bin/xdg-open")
    try #require(chmod(shell.folder["bin/xdg-open"], 0o755) == 0)
    shell.environment["PATH"] = shell.folder["bin"] + ":" + (shell.environment["PATH"] ?? "")
    let web = try start()
    let link = try web.line(within: 120) { $0.hasPrefix("  http://") }.dropFirst(2)
    let opened = try run(["cat", fifo], within: 120).lines
    #expect(opened.first == "600" && opened[1].hasSuffix("/notes/.git/notes/web-link.html"))
    #expect(opened.contains { $0.contains("url=\(link)\"") })
    web.send(SIGINT)
    #expect(try web.wait(within: 120).status == .exited(130))
    #expect(access(opened[1], F_OK) != 0)
  }

  @Test func `A port that is taken is said`() throws {
    let first = try start("--no-open", "--json")
    let port = try port(of: first)
    let result = try shell.notes("web", "--no-open", "--port", port)
    #expect(result.status == .exited(1) && result.errorText.contains("'notes web --port N'"))
    // Without a port that is asked for, another one does.
    let second = try start("--no-open", "--json")
    #expect(try self.port(of: second) != port)
  }

  @Test func `Without its program it says what is missing`() throws {
    try makeFolder(shell.folder["alone"])
    let copy = shell.folder["alone/notes"]
    try #require(try run(["cp", BuiltBinary.notes(), copy]).isSuccess)
    let result = try run(
      [copy, "web", "--json"], in: shell.folder["notes"], environment: shell.environment)
    #expect(result.status == .exited(1))
    #expect(result.errorText.contains(#""kind":"web_missing""#))
    #expect(result.errorText.contains("/alone/notes-web cannot be started: "))
  }

  @Test func `A port that is none is refused`() throws {
    let result = try shell.notes("web", "--port", "0")
    #expect(result.status == .exited(64))
    #expect(result.errorText.contains("--port takes a number from 1 to 65535"))
  }

  // CONTRIBUTING.md: "`notes` does not link it."
  @Test func `The command itself carries no server`() throws {
    func holds(_ program: String) throws -> Bool {
      try run(["grep", "-qa", "NIOPosix", program]).isSuccess
    }
    let notes = try BuiltBinary.notes()
    #expect(try !holds(notes) && run(["test", "-x", notes + "-web"]).isSuccess)
  }
}
