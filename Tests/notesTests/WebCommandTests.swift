import Glibc
import Membership
import State
import System
import TestSupport
import Testing

@testable import notes

/// `notes web`, as a terminal sees it: notes-web(1). Tests/WebTests has what it serves.
@Suite(.serialized) struct WebCommandTests {
  let shell: Shell

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
    while lines.last?.hasSuffix("Press Ctrl-C to stop.") != true {
      let line = try web.line(within: 120)
      lines.append(line.replacing(#/127.0.0.1:.*/#, with: "127.0.0.1:PORT/open/TOKEN"))
    }
    try Golden.expect(lines.joined(separator: "\n") + "\n", matches: "web\(suffix).txt")
    web.send(SIGINT)
    #expect(try web.wait(within: 120).status == .exited(130))
  }

  // notes-web(1), "All notebooks".
  @Test func `With --all it serves the notebooks of the device, and guests by notebook`() throws {
    try shell.folder.write("x\n", to: "work/Plan.txt")
    let made = try shell.notes("init", shell.folder["work"], "--name", "Work")
    try #require(made.isSuccess, "\(made)")
    let web = try RunningProcess(
      [BuiltBinary.notes(), "web", "--all", "--no-open", "--json"], in: shell.folder.path,
      environment: shell.environment)
    let value = try #require(try JSONValue.lines(web.line(within: 120)).first)
    let page = try JSONPage()
    #expect(
      page.differences(of: value, from: try #require(page.commands["web"]), at: "web").isEmpty)
    let link = try #require(value["link"])
    let jar = shell.folder["jar"]
    let opened = try run(["curl", "-sS", "-c", jar, link]).text
    let root = try #require(opened.firstMatch(of: #/url=(\/[a-z0-9]+)\//#)).1
    let origin = String(link.prefix { $0 != "/" } + "//" + link.split(separator: "/")[1])
    let list = try run(["curl", "-sS", "-b", jar, origin + root + "/"]).text
    #expect(list.contains(">Work</span>") && list.contains(shell.folder["notes"]), "\(list)")
    let invited = try shell.notes("web", "guests", "invite", "--json")
    #expect(try JSONValue.lines(invited.text).first?["link"]?.hasPrefix(origin + "/guest/") == true)
    web.send(SIGINT)
    #expect(try web.wait(within: 120).status == .exited(130))
  }

  // "also where there is none yet", "A notebook that is made, joined or cloned meanwhile is served".
  @Test func `With --all, what is made, cloned and deleted meanwhile comes and goes`() throws {
    try #require(
      try run(["rm", "-r", shell.folder["notes"], shell.folder["home/.local"]]).isSuccess)
    let web = try RunningProcess(
      [BuiltBinary.notes(), "web", "--all", "--no-open", "--json"], in: shell.folder.path,
      environment: shell.environment)
    let value = try #require(try JSONValue.lines(web.line(within: 120)).first)
    let list = try Pages(link: try #require(value["link"]), jar: shell.folder["jar"])
    #expect(try list.get("/").contains("No notebook yet"))
    func shows(_ names: [String]) throws -> Bool {
      let end = Instant.now + 120
      func shown() throws -> [String] {
        try list.get("/").matches(of: #/<span class="row-title" dir="auto">(\w+)</#).map {
          String($0.1)
        }
      }
      while try shown() != names, Instant.now < end {}
      return try shown() == names
    }
    try makeFolder(shell.folder["work"])
    let made = try run(
      [BuiltBinary.notes(), "init", "--name", "Work"], in: shell.folder["work"],
      environment: shell.environment)
    try #require(made.isSuccess, "\(made)")
    #expect(try shows(["Work"]))
    // A guest of it can be invited at once.
    let invited = try run(
      [BuiltBinary.notes(), "web", "guests", "invite", "--json"], in: shell.folder["work"],
      environment: shell.environment)
    let link = try #require(try JSONValue.lines(invited.text).first?["link"])
    #expect(try run(["curl", "-sS", link]).text.contains(#">Work</b>"#))
    // A bundle of another device's notebook.
    let other = try Shell()
    try other.folder.write("tea\n", to: "notes/Tea.txt")
    try other.initialise()
    let bundle = shell.folder["other.bundle"]
    try #require(try other.notes("bundle", "create", bundle).isSuccess)
    let cloned = try run(
      [BuiltBinary.notes(), "clone", bundle, shell.folder["theirs"]], in: shell.folder.path,
      environment: shell.environment)
    try #require(cloned.isSuccess, "\(cloned)")
    let name = try #require(
      try list.get("/").matches(of: #/<span class="row-title" dir="auto">(\w+)</#).last
    ).1
    #expect(try shows(["Work", String(name)]) && name != "Work")
    try #require(try run(["rm", "-r", shell.folder["work"]]).isSuccess)
    #expect(try shows([String(name)]))
    web.send(SIGINT)
    #expect(try web.wait(within: 120).status == .exited(130))
  }

  // notes-web(1), "Devices": an invitation is held "until that ends".
  @Test func `An invitation of a page whose program was killed is over, and another can be opened`()
    throws
  {
    for round in 0..<2 {
      let web = try start("--no-open", "--json")
      let value = try #require(try JSONValue.lines(web.line(within: 120)).first)
      let pages = try Pages(link: try #require(value["link"]), jar: shell.folder["jar\(round)"])
      func states() throws -> [String?] {
        try JSONValue.lines(shell.notes("invitations", "--json").text).map { $0["state"] }
      }
      #expect(try !states().contains("available"))
      #expect(try pages.get("/devices").contains("No open invitations."))
      let page = try pages.post("/devices/invite", "role=writer")
      #expect(page.contains("notes join "), "\(page)")
      #expect(try states().contains("available"))
      #expect(try pages.get("/devices").contains("/devices/invitation/"))
      web.send(SIGKILL)
      _ = try web.wait(within: 120)
      #expect(try states() == Array(repeating: "cancelled", count: round + 1))
    }
  }

  /// The pages of `notes web`, as curl gets them with the cookie that the link gave it.
  private struct Pages {
    private let address: String
    private let origin: String
    private let jar: String

    init(link: String, jar: String) throws {
      self.jar = jar
      let opened = try run(["curl", "-sS", "-c", jar, link]).text
      let root = try #require(opened.firstMatch(of: #/url=(\/[a-z0-9]+)\//#)).1
      origin = "http://" + link.split(separator: "/")[1]
      address = origin + root
    }

    func get(_ path: String) throws -> String {
      try run(["curl", "-sS", "-b", jar, address + path]).text
    }

    func post(_ path: String, _ form: String) throws -> String {
      try run([
        "curl", "-sSL", "-b", jar, "-H", "Origin: " + origin, "--data", form, address + path,
      ])
      .text
    }
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

  // notes-web(1), "Guests".
  @Test func `Guests are invited, listed, changed and sent away`() throws {
    let early = try shell.notes("web", "guests", "invite", "--json")
    #expect(early.status == .exited(1))
    #expect(early.errorText.contains(#""kind":"web_not_running""#))
    #expect(early.errorText.contains("'notes web' is not running, so the link would not work"))
    let none = try shell.notes("web", "guests").text
    #expect(none == "No guests. To invite one, run 'notes web guests invite'.\n")
    let web = try start("--no-open", "--json")
    let port = try port(of: web)
    let page = try JSONPage()
    func lines(_ arguments: String..., like command: String = "web guests") throws -> [JSONValue] {
      let result = try run(
        [BuiltBinary.notes(), "web", "guests", "--json"] + arguments, in: shell.folder["notes"],
        environment: shell.environment)
      #expect(result.isSuccess, "\(result)")
      let values = try JSONValue.lines(result.text)
      for value in values {
        #expect(
          page.differences(of: value, from: try #require(page.commands[command]), at: command)
            .isEmpty)
      }
      return values
    }
    let made = try #require(try lines("invite", "Grandma").first)
    let link = try #require(made["link"])
    #expect(link.hasPrefix("http://127.0.0.1:\(port)/guest/"))
    #expect(made["role"] == "writer" && made["state"] == "invited")
    let text = try shell.notes("web", "guests", "invite", "--reader").text
    #expect(text.hasPrefix("A guest can join at\n\n  http://127.0.0.1:\(port)/guest/"))
    #expect(text.hasSuffix("\n\nThe link works once, within a day.\n"))
    let taken = try shell.notes("web", "guests", "invite", "grandma", "--json")
    #expect(taken.errorText.contains(#""kind":"name_taken""#))
    #expect(taken.errorText.contains("a guest is already called 'Grandma'"))
    let bad = try shell.notes("web", "guests", "invite", "a\u{202E}b", "--json")
    #expect(bad.status == .exited(64) && bad.errorText.contains(#""kind":"bad_name""#))

    let opened = try run(
      [
        "curl", "-sS", "-H", "Origin: http://127.0.0.1:\(port)", "--data", "name=", link, "-D", "-",
      ])
    #expect(opened.text.contains("et-Cookie: notes="), "\(opened)")
    #expect(try lines().map { $0["name"] } == ["Grandma", nil])
    let role = try lines("role", "grandma", "reader", like: "web guests: role, removed")
    #expect(role.first?["role"] == "reader" && role.first?["name"] == "Grandma")
    let admin = try shell.notes("web", "guests", "role", "Grandma", "admin")
    #expect(admin.status == .exited(64))
    #expect(admin.errorText.contains("a guest cannot be 'admin'"))
    let removed = try lines("remove", "Grandma", like: "web guests: role, removed")
    #expect(removed.first?["type"] == "removed")
    let gone = try shell.notes("web", "guests", "remove", "Grandma", "--json")
    #expect(gone.errorText.contains(#""kind":"no_such_guest""#))
    #expect(gone.errorText.contains("no guest is called 'Grandma'"))
    #expect(gone.errorText.contains("'notes web guests' lists them"))
    for number in 2...64 { _ = try lines("invite", "Guest \(number)") }
    let full = try shell.notes("web", "guests", "invite", "--json")
    #expect(full.errorText.contains(#""kind":"too_many_guests""#))
    #expect(full.errorText.contains("there are 64 guests and open links, the maximum"))
    #expect(full.errorText.contains("remove one first: 'notes web guests remove NAME'"))
    try #require(chmod(shell.folder["notes/.git/notes/guests"], 0o666) == 0)
    let open = try shell.notes("web", "guests", "--json")
    #expect(open.status == .exited(1))
    #expect(open.errorText.contains(#""kind":"open_to_others""#))
    #expect(open.errorText.contains("/guests, so no guest has access"))
    #expect(
      open.errorText.contains(
        "check the guests in that file, then run 'chmod 600 FILE'"))
    web.send(SIGINT)
    #expect(try web.wait(within: 120).status == .exited(130))
  }

  @Test(arguments: ["", "-colour"]) func `Guests and links are listed`(suffix: String) throws {
    if !suffix.isEmpty { shell.environment["CLICOLOR_FORCE"] = "1" }
    let book = GuestBook(stateFolder: StateFolder(shell.folder["notes/.git/notes"]))
    let now = Int64(time(nil))
    let token = try book.invite("Grandma", as: .writer, now: now - 7_000).token
    _ = try book.accept(token, name: "", now: now - 7_000)
    _ = try book.invite("Grandpa", as: .reader, now: now - 50_000)
    _ = try book.invite(nil, as: .writer, now: now - 50_000)
    let list = try shell.notes("web", "guests").text
    let dates = #/20\d\d-\d\d-\d\d \d\d:\d\d/#
    try Golden.expect(list.replacing(dates, with: "DATE"), matches: "web-guests\(suffix).txt")
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
