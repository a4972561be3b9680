import Git
import Membership
import Notebook
import TestSupport
import Testing

@testable import notes

/// What commands write with --json is what notes-json(5) says.
@Suite struct JSONFormTests {
  private let page: JSONPage

  init() throws { page = try JSONPage() }

  private func expect(
    _ text: some StringProtocol, isLikeCommand name: String, atLeast count: Int = 1,
    _ location: SourceLocation = #_sourceLocation
  ) throws {
    let fields = try #require(page.commands[name], "\(name) is not in notes-json(5)")
    let lines = try JSONValue.lines(text)
    #expect(lines.count >= count, sourceLocation: location)
    for line in lines {
      let found = page.differences(of: line, from: fields, at: name)
      #expect(found.isEmpty, sourceLocation: location)
    }
  }

  /// Checks events, and returns their types.
  @discardableResult
  private func expectEvents(
    _ text: String, of command: String, _ location: SourceLocation = #_sourceLocation
  ) throws -> Set<String> {
    var types: Set<String> = []
    for line in try JSONValue.lines(text) {
      let type = try #require(line["type"], sourceLocation: location)
      types.insert(type)
      let fields = try #require(
        page.events["\(type) (\(command))"] ?? page.events[type],
        "\(type) is not in notes-json(5)", sourceLocation: location)
      let found = page.differences(of: line, from: fields, at: type)
      #expect(found.isEmpty, sourceLocation: location)
    }
    return types
  }

  @Test(arguments: [
    "init", "status", "save", "list", "log", "diff", "blame", "conflicts", "search", "members",
  ]) func `Reports have the fields of the page`(command: String) throws {
    let golden = try readFile(BuiltBinary.sourceFolder + "/Tests/Golden/\(command).json")
    try expect(String(decoding: golden, as: UTF8.self), isLikeCommand: command)
  }

  /// "The field type of each line names its kind."
  @Test func `Each line says what it tells of`() {
    for (name, fields) in page.commands.merging(page.events, uniquingKeysWith: +) {
      #expect(fields.contains { $0.name == "type" }, "\(name)")
    }
  }

  @Test func `Commands have the fields of the page`() throws {
    let shell = try Shell()
    try shell.folder.write("one\n", to: "notes/A.txt")
    func lines(_ arguments: String...) throws -> String {
      let result = try run(
        [BuiltBinary.notes()] + arguments + ["--json"], in: shell.folder["notes"],
        environment: shell.environment)
      #expect(result.isSuccess, "\(result)")
      return result.text
    }
    try expect(
      lines("init", "--name", "Home", "--device-name", "laptop"), isLikeCommand: "init")
    try shell.folder.write("two\n", to: "notes/A.txt")
    try expect(lines("config"), isLikeCommand: "config", atLeast: 5)
    try expect(lines("save"), isLikeCommand: "save")
    try expect(lines("save"), isLikeCommand: "save")
    try expect(lines("list"), isLikeCommand: "list")
    try expect(lines("log"), isLikeCommand: "log", atLeast: 2)
    try expect(lines("show", "A"), isLikeCommand: "show")
    try expect(lines("show", "A@~1"), isLikeCommand: "show")
    try expect(lines("restore", "A@~1"), isLikeCommand: "restore")
    try expect(lines("search", "one"), isLikeCommand: "search")
    try expect(lines("new", "plans/B"), isLikeCommand: "new")
    try expect(lines("mv", "B", "plans/C"), isLikeCommand: "mv")
    try expect(lines("rm", "C"), isLikeCommand: "rm")
    try expect(lines("restore", "--all", "@~1", "--dry-run"), isLikeCommand: "restore")
    try expect(lines("export", shell.folder["out"]), isLikeCommand: "export")
    try expect(lines("import", shell.folder["out"]), isLikeCommand: "import")
    try expect(lines("import", shell.folder["out"], "--dry-run"), isLikeCommand: "import")
    try expect(lines("undo"), isLikeCommand: "undo")
    try expect(lines("redo"), isLikeCommand: "redo")
    try expect(lines("undo", "--dry-run"), isLikeCommand: "undo")
    try expect(lines("log", "--operations"), isLikeCommand: "log --operations", atLeast: 5)
    shell.environment["EDITOR"] = "sh -c 'echo more >>\"$0\"'"
    try expect(lines("edit", "A"), isLikeCommand: "edit")
    try expect(lines("blame", "A"), isLikeCommand: "blame")
    try expect(lines("status"), isLikeCommand: "status")
    try expect(lines("gc"), isLikeCommand: "gc")
    try expect(lines("members"), isLikeCommand: "members")
    try expect(lines("peers", "--wait", "0", "--no-discovery"), isLikeCommand: "peers", atLeast: 0)
    let checked = try JSONValue.lines(
      shell.notes("doctor", "--json", "--no-discovery", "--listen", "127.0.0.1:0").text)
    for line in checked {
      let name = "doctor: " + (line["type"] ?? "")
      let fields = try #require(page.commands[name])
      #expect(page.differences(of: line, from: fields, at: name).isEmpty)
    }
    #expect(checked.count > 2)

    let counted = try shell.notes("status", "--json", "--stats")
    let stats = try #require(try JSONValue.lines(counted.text).last)
    #expect(
      page.differences(of: stats, from: try #require(page.events["stats"]), at: "stats").isEmpty)

    let failed = try shell.notes("show", "nowhere", "--json")
    let error = try #require(try JSONValue.lines(failed.errorText).last)
    let fields = try #require(page.events["error"])
    #expect(page.differences(of: error, from: fields, at: "error").isEmpty)
  }

  @Test func `Settling conflicts has the fields of the page`() throws {
    let fixture = try ReportFixture()
    try fixture.save(
      [("List.txt", "milk\n"), ("Journal.txt", "one\n")], at: 1_700_000_000)
    try fixture.save(
      [("List.txt", "milk\neggs\n"), ("Journal.txt", "ONE\n")], at: 1_700_003_600)
    try fixture.meet(
      "Ben", [("List.txt", "milk\nbread\n"), ("Journal.txt", "eins\n")], at: 1_700_007_200)
    let home = try TemporaryFolder()
    defer { withExtendedLifetime(home) {} }
    let environment = try TestEnvironment.isolated(home: home["home"])
    func lines(_ arguments: String...) throws -> String {
      let result = try run(
        [BuiltBinary.notes()] + arguments + ["--json"], in: fixture.folder.path,
        environment: environment)
      #expect(result.isSuccess, "\(result)")
      return result.text
    }
    try expect(lines("conflicts"), isLikeCommand: "conflicts")
    try expect(lines("log"), isLikeCommand: "log")
    try expect(lines("undo", "List"), isLikeCommand: "undo of a merge")
    try expect(lines("resolve", "Journal", "--keep", "older"), isLikeCommand: "resolve")
  }

  @Test func `Devices that meet tell the events of the page`() throws {
    let here = try Shell()
    let there = try Shell()
    try here.folder.write("milk\n", to: "notes/Shopping.txt")
    try here.initialise()
    func start(_ shell: Shell, in folder: String, _ arguments: String...) throws -> RunningProcess {
      try RunningProcess(
        [BuiltBinary.notes()] + arguments + ["--json", "--no-discovery"],
        in: shell.folder[folder], environment: shell.environment)
    }
    let invite = try start(here, in: "notes", "invite", "--listen", "127.0.0.1:0")
    let line = try invite.line { $0.contains(#""type":"invitation""#) }
    guard case .object(let invitation) = try #require(try JSONValue.lines(line).first),
      case .string(let code) = invitation["code"], case .number(let port) = invitation["port"]
    else {
      Issue.record("no invitation: \(line)")
      return
    }
    let join = try start(
      there, in: ".", "join", code, "joined", "--yes", "--name", "phone", "--at",
      "127.0.0.1:\(Int(port))")
    let joined = try join.wait()
    #expect(joined.isSuccess, "\(joined)")
    #expect(try expectEvents(joined.text, of: "join").isSuperset(of: ["offer", "joined"]))
    let invited = try invite.wait()
    #expect(
      try expectEvents(invited.text, of: "invite").isSuperset(of: ["invitation", "joined"]))

    let role = try here.notes("members", "role", "phone", "admin", "--json")
    try expect(role.text, isLikeCommand: "members: role, removed, renamed")
    try expect(try here.notes("members", "--json").text, isLikeCommand: "members", atLeast: 2)

    // Both change the same line, and one syncs with the other.
    try here.folder.write("milk, eggs\n", to: "notes/Shopping.txt")
    try there.folder.write("oat milk\n", to: "joined/Shopping.txt")
    try here.notes("save")
    let serve = try start(here, in: "notes", "serve", "--listen", "127.0.0.1:0")
    let listening = try serve.line { $0.contains(#""type":"listening""#) }
    guard case .object(let place) = try #require(try JSONValue.lines(listening).first),
      case .number(let other) = place["port"]
    else {
      Issue.record("no port: \(listening)")
      return
    }
    let sync = try start(there, in: "joined", "sync", "--at", "127.0.0.1:\(Int(other))").wait()
    #expect(
      try expectEvents(sync.text, of: "sync")
        .isSuperset(of: ["peer", "received", "finished", "result"]), "\(sync)")
    let served = try serve.terminate()
    #expect(try expectEvents(served.text, of: "serve").contains("peer"))
  }

  /// What is rarely seen is at least written down: each key in the sources is in the page, and each
  /// field of the page is one that a command can write.
  @Test func `The page and the sources name the same fields`() throws {
    // Keys of dictionary literals; those of `switch` statements have a `case` before them.
    let script = #"""
      grep -rhE --include='*.swift' --exclude=NotesCommand.swift '[[ ]"[a-z_0-9]+": ?["!$.A-Za-z(]' "$0" "$0-web" | grep -v 'case "' |
        grep -oE '[[ ]"[a-z_0-9]+": ?["!$.A-Za-z(]' | cut -d '"' -f 2 | sort -u
      """#
    let sources = try run(["sh", "-c", script, BuiltBinary.sourceFolder + "/Sources/notes"])
    let keys = Set(sources.lines)
    let documented = Set(page.allFields.map(\.name))
    #expect(keys.subtracting(documented).isEmpty)
    #expect(documented.subtracting(keys).isEmpty)
  }
}
