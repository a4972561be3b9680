import Glibc
import TestSupport
import Testing

@testable import notes

/// notes-invite(1), --count and --name: several people at once.
@Suite(.timeLimit(.minutes(5))) struct InviteSeveralTests {
  private let laptop: Shell

  init() throws {
    laptop = try Shell()
    try laptop.folder.write("one\n", to: "notes/A.txt")
    try laptop.initialise()
  }

  /// Opens invitations, by default without a watcher; and the code, port and person of each.
  private func invite(
    byWatcher: Bool = false, count: Int, _ words: String...
  ) throws -> (process: RunningProcess, all: [(code: String, port: String, person: String)]) {
    let alone = byWatcher ? [] : ["--listen", "127.0.0.1:0", "--no-discovery"]
    let process = try RunningProcess(
      [BuiltBinary.notes(), "invite", "--json"] + alone + words, in: laptop.folder["notes"],
      environment: laptop.environment)
    let all = try (0..<count).map { _ in
      let line = try process.line { $0.contains(#""type":"invitation""#) }
      return try (
        Shell.field("code", of: line), Shell.field("port", of: line),
        Shell.field("person", of: line)
      )
    }
    return (process, all)
  }

  private func members(at shell: Shell) throws -> [String] {
    try shell.notes("members", "--json").lines.map { line in
      try "\(Shell.field("person_name", of: line)): \(Shell.field("device_name", of: line))"
    }.sorted()
  }

  @Test(
    "A name is that of the person, whose device keeps its own; the command ends with the last",
    arguments: [false, true])
  func named(byWatcher: Bool) throws {
    let watcher = byWatcher ? try laptop.listening("watch").process : nil
    let (invite, all) = try invite(
      byWatcher: byWatcher, count: 2, "--name", "anna", "--name", "ben", "--role", "reader")
    #expect(all.map(\.person) == ["anna", "ben"])
    #expect(Set(all.map(\.port)).count == 1 && Set(all.map(\.code)).count == 2)
    let list = try laptop.notes("invitations").text
    #expect(list.contains("anna") && list.contains("ben"), "\(list)")
    let (phone, tablet) = (try Shell(), try Shell())
    let joined = try phone.join(all[1].code, all[1].port, as: "phone")
    try #require(joined.isSuccess, "\(joined)")
    #expect(joined.text.contains("\n  for ben\n"), "\(joined)")
    let first = try invite.line { $0.contains(#""type":"joined""#) }
    #expect(first.contains(#""name":"ben""#) && first.contains(#""role":"reader""#), "\(first)")
    // The other code is open still.
    #expect(try laptop.notes("invitations", "--json").text.contains(#""state":"available""#))
    try #require(try tablet.join(all[0].code, all[0].port, as: "phone").isSuccess)
    let ended = try invite.wait()
    #expect(ended.isSuccess, "\(ended)")
    #expect(try members(at: laptop) == ["anna: phone", "ben: phone", "laptop: laptop"])
    #expect(try laptop.notes("members", "role", "anna", "admin", "--yes").isSuccess)
    watcher?.send(SIGTERM)
    try watcher?.wait()
  }

  @Test
  func `A number of people gets as many codes, and a code that nobody used fails the command`()
    throws
  {
    let (invite, all) = try invite(count: 3, "--count", "3", "--for", "5m")
    #expect(all.allSatisfy { $0.person == "null" })
    let phone = try Shell()
    try #require(try phone.join(all[0].code, all[0].port, as: "phone").isSuccess)
    for one in all[1...] {
      try #require(try laptop.notes("invitations", "cancel", "\(one.code.prefix(2))").isSuccess)
    }
    let ended = try invite.wait()
    #expect(ended.status == .exited(1))
    #expect(
      ended.errorText.contains(
        "2 of 3 invitations were not used: the invitation was cancelled"), "\(ended)")
    #expect(try members(at: laptop) == ["laptop: laptop", "phone: phone"])
  }

  @Test func `Ctrl-C cancels all of them`() throws {
    let (invite, _) = try invite(count: 2, "--count", "2")
    invite.send(SIGINT)
    #expect(try invite.wait().status == .exited(130))
    let states = try laptop.notes("invitations", "--json").lines
    #expect(states.count == 2 && states.allSatisfy { $0.contains(#""state":"cancelled""#) })
  }

  @Test func `People read a line for each code`() throws {
    let process = try laptop.start(
      "invite", "--name", "anna", "--name", "ben", "--listen", "127.0.0.1:0", "--no-discovery")
    _ = try process.line { $0 == "On each of the other devices, run one of these:" }
    for name in ["anna", "ben"] {
      let line = try process.line { $0.contains("notes join") }
      #expect(line.hasSuffix("  for \(name)"), "\(line)")
    }
    _ = try process.line { $0.hasPrefix("Each code lets one device join as writer.") }
    process.send(SIGINT)
    try process.wait()
  }

  @Test func `Several of this person's devices can be invited at once`() throws {
    let (invite, all) = try invite(count: 2, "--mine", "--count", "2")
    for (one, name) in zip(all, ["phone", "tablet"]) {
      try #require(try Shell().join(one.code, one.port, as: name).isSuccess)
    }
    #expect(try invite.wait().isSuccess)
    #expect(try members(at: laptop) == ["laptop: laptop", "laptop: phone", "laptop: tablet"])
  }

  @Test func `Each gets a link of its own at a hub, which names the person for any admin`() throws {
    let hub = laptop.folder["hub.git"]
    try #require(try run(["git", "init", "--quiet", "--bare", hub]).isSuccess)
    try #require(try laptop.notes("remote", "add", "home", hub).isSuccess)
    let made = try laptop.notes(
      "invite", "--hub", "home", "--name", "anna", "--name", "ben", "--json")
    let links = try made.lines.filter { $0.contains(#""type":"link""#) }.map {
      try (link: Shell.field("link", of: $0), person: Shell.field("person", of: $0))
    }
    try #require(links.map(\.person) == ["anna", "ben"], "\(made)")
    let phone = try Shell()
    let asked = try phone.notes(
      "join", links[0].link, phone.folder["notes"], "--yes", "--device-name", "phone", in: ".")
    try #require(asked.isSuccess, "\(asked)")
    _ = try laptop.notes("sync", "--hub")
    #expect(try members(at: laptop) == ["anna: phone", "laptop: laptop"])
    let text = try laptop.notes("invite", "--hub", "home", "--count", "2").text
    #expect(text.contains("Send each of these links to one person"), "\(text)")
    #expect(text.ranges(of: "notes://join/").count == 2, "\(text)")
  }

  // notes-invite(1), --hub: "If there are several, it prints each link as soon as the hub has the invitation."
  @Test(arguments: [false, true])
  func `Ctrl-C while the second link is made leaves the first, which works`(json: Bool) throws {
    let hub = laptop.folder["hub.git"]
    try #require(try run(["git", "init", "--quiet", "--bare", "-b", "main", hub]).isSuccess)
    try #require(try laptop.notes("remote", "add", "home", hub).isSuccess)
    // The second invitation does not arrive at the hub.
    let (bin, begun) = (laptop.folder["bin"], laptop.folder["begun"])
    let path = laptop.environment["PATH"] ?? ""
    let script = """
      #!/bin/sh
      case "$*" in *refs/invitations/*/offer*)
        test ! -e '\(begun)' || exec tail -f /dev/null --pid=$PPID
        touch '\(begun)' ;;
      esac
      PATH='\(path)' exec git "$@"

      """
    try makeFolder(bin)
    try writeFile(bin + "/git", Array(script.utf8))
    chmod(bin + "/git", 0o755)
    laptop.environment["PATH"] = bin + ":" + path
    let process = try laptop.start(
      words: ["invite", "--hub", "home", "--count", "3"] + (json ? ["--json"] : []))
    let line = try process.line { $0.contains("notes://join/") }
    let link = json ? try Shell.field("link", of: line) : line
    process.send(SIGINT)
    let ended = try process.wait()
    #expect(ended.status == .exited(130), "\(ended)")
    #expect(ended.text.ranges(of: "notes://join/").count == 1, "\(ended)")
    #expect(json || ended.text.contains("'notes invitations cancel ID' cancels a link"), "\(ended)")
    #expect(try laptop.notes("invitations").lines.count == 1)
    laptop.environment["PATH"] = path
    let phone = try Shell()
    let asked = try phone.notes("join", link, "../phone", "--yes", "--device-name", "phone")
    try #require(asked.isSuccess, "\(asked)")
    #expect(try laptop.notes("sync", "--hub").text.contains("phone is now a member"))
  }

  @Test func `What does not go together, and a name that a member has, is refused`() throws {
    let several = "rom 1 to 10 people can be invited at once"
    let both = "--count and --name exclude each other: each --name is an invitation"
    let mine = "--name and --mine exclude each other: --mine invites no other person"
    let refusals: [(words: [String], message: String)] = [
      (["--count", "0"], several), (["--count", "11"], several),
      (["--count", "2", "--name", "anna"], both), (["--mine", "--name", "anna"], mine),
      (["--name", "anna", "--name", "Anna"], "two --name options have the same name"),
      (["--name", "a/b"], "--name: "),
      (["--count", "2", "--file", "f"], "--file invites one person"),
      (
        ["--count", "2", "--device", "x", "--via", "."],
        "--device goes with neither --count nor --name"
      ),
    ]
    for (words, message) in refusals {
      let refused = try run(
        [BuiltBinary.notes(), "invite"] + words, in: laptop.folder["notes"],
        environment: laptop.environment)
      #expect(refused.status == .exited(64) && refused.errorText.contains(message), "\(refused)")
    }
    let taken = try laptop.notes("invite", "--name", "Laptop", "--json")
    #expect(taken.status == .exited(1) && taken.errorText.contains(#""kind":"name_taken""#))
  }
}
