import Glibc
import Notebook
import TestSupport
import Testing

@testable import notes

/// notes-remote(1) and notes-sync(1) with hubs on real servers: sshd, git-daemon, and
/// git-http-backend behind TLS; and in a folder. See HubKindsTests for what is tested where.
@Suite(.timeLimit(.minutes(20))) struct HubServerTests {
  private let ada: Shell
  private let bob: Shell

  init() throws {
    ada = try Shell()
    bob = try Shell()
    try ada.folder.write("one\n", to: "notes/A.txt")
    try ada.initialise()
    try bob.join(ada, as: "bob")
  }

  /// Adds a hub to both, whose users are let in.
  private func add(_ name: String, on server: GitServer) throws {
    let address = try server.makeRepository("\(name).git")
    for shell in [ada, bob] { try shell.add(hub: name, at: address, on: server) }
  }

  @Test(arguments: GitServer.Kind.allCases)
  func `Devices that meet on a server end on one version`(kind: GitServer.Kind) throws {
    let server = try GitServer(kind)
    try add("home", on: server)
    #expect(try meet(ada).text.contains("home: sent 1 version; in sync"))
    try bob.folder.write("two\n", to: "notes/B.txt")
    #expect(try meet(bob).text.contains("home: sent 1 version; in sync"))
    #expect(try meet(ada).text.contains("home: received 1 version; in sync"))
    #expect(try meet(ada).text.contains("home: nothing new; in sync"))
    #expect(try ada.folder.text("notes/B.txt") == "two\n")
    let shown = try ada.notes("remote", "show", "home")
    #expect(shown.text.contains("has all versions"), "\(shown)")
  }

  // notes-hub(7), "What is run": "in version 0 of git's protocol"
  @Test(arguments: GitServer.Kind.allCases)
  func `A visit without news asks once`(kind: GitServer.Kind) throws {
    let server = try GitServer(kind)
    try add("home", on: server)
    try meet(ada)
    let trace = ada.folder["trace"]
    ada.environment["GIT_TRACE_PACKET"] = trace
    #expect(try meet(ada).text.contains("nothing new"))
    let lines = String(decoding: try readFile(trace), as: UTF8.self).split(separator: "\n")
    #expect(lines.contains { $0.contains("< ") && $0.hasSuffix(" refs/heads/main") })
    #expect(!lines.contains { $0.contains("version 2") || $0.contains("version=2") })
    // What it says is that it wants nothing.
    let said = lines.filter { $0.contains("fetch> ") && !$0.contains("git-upload-pack") }
    #expect(said.allSatisfy { $0.hasSuffix("fetch> 0000") }, "\(said)")
  }

  // It parses all the certificates of the system when it is loaded.
  @Test func `A line that goes to a hub, and a visit without news, need no libgit2`() throws {
    let hub = ada.folder["hub.git"]
    try #require(try run(["git", "init", "-q", "--bare", "-b", "main", hub]).isSuccess)
    try #require(try ada.notes("remote", "add", "stick", hub).isSuccess)
    for text in ["one more\n", "and more\n"] {
      try ada.folder.write(text, to: "notes/A.txt")
      try meet(ada)
    }
    let trace = ada.folder["trace"]
    try makeFolder(trace)
    ada.environment.merge(["LD_DEBUG": "libs", "LD_DEBUG_OUTPUT": trace + "/x"]) { $1 }
    try meet(ada)
    try ada.folder.write("and more again\n", to: "notes/A.txt")
    #expect(try meet(ada).text.contains("sent 1 version"))
    let loaded = try run(["grep", "-rhoE", "(libgit2|libz)[.]so", trace]).lines
    #expect(loaded.contains("libz.so") && !loaded.contains("libgit2.so"))
  }

  @Test(arguments: GitServer.Kind.served)
  func `A server that is away, and back again, loses nothing`(kind: GitServer.Kind) throws {
    let server = try GitServer(kind)
    try add("home", on: server)
    try meet(ada)
    try server.process?.terminate()
    try ada.folder.write("written meanwhile\n", to: "notes/B.txt")
    let away = try ada.notes("sync", "--hub", "--json")
    #expect(away.status == .exited(4), "\(away)")
    #expect(try errorKind(of: away) == "hub_unreachable")
    let again = try server.restarted()
    try meet(ada)
    try meet(bob)
    #expect(try bob.folder.text("notes/B.txt") == "written meanwhile\n")
    #expect(again.process?.isRunning == true)
  }

  @Test func `Nobody is asked, and strangers are refused`() throws {
    let server = try GitServer(.ssh)
    try add("home", on: server)
    ada.environment.merge(try server.client(key: "stranger")) { $1 }
    #expect(try errorKind(of: ada.notes("sync", "--hub", "--json")) == "hub_access")
    // A server with another key.
    let other = try GitServer(.ssh)
    ada.environment.merge(try server.client(knowing: other)) { $1 }
    let changed = try ada.notes("sync", "--hub", "--json")
    #expect(try errorKind(of: changed) == "hub_unproved" && changed.status == .exited(5))
    ada.environment.merge(try server.client()) { $1 }
    try meet(ada)
  }

  @Test func `A wrong password and a wrong certificate are refused`() throws {
    let server = try GitServer(.https)
    try add("home", on: server)
    ada.environment.merge(try server.client(password: "wrong")) { $1 }
    #expect(try errorKind(of: ada.notes("sync", "--hub", "--json")) == "hub_access")
    let other = try GitServer(.https)
    ada.environment.merge(try server.client(knowing: other)) { $1 }
    #expect(try errorKind(of: ada.notes("sync", "--hub", "--json")) == "hub_unproved")
    // Nothing in the environment: git would ask for a name.
    ada.environment["GIT_CONFIG_GLOBAL"] = "/dev/null"
    ada.environment["GIT_SSL_CAINFO"] = server.folder["server.crt"]
    #expect(try errorKind(of: ada.notes("sync", "--hub", "--json")) == "hub_access")
    ada.environment["GIT_SSL_CAINFO"] = nil
    ada.environment.merge(try server.client()) { $1 }
    try meet(ada)
  }

  @Test func `Hubs are added, listed, shown and removed`() throws {
    #expect(try ada.notes("remote").text == "No hubs: 'notes remote add NAME URL' adds one.\n")
    let none = try ada.notes("sync", "--hub")
    #expect(none.status == .exited(64) && none.errorText.contains("the notebook has no hub"))
    let both = try ada.notes("sync", "--hub", "--no-hub")
    #expect(both.errorText.contains("--hub and --no-hub exclude each other"), "\(both)")
    let pace = try ada.notes("config", "hub-interval", "5")
    #expect(pace.errorText.contains("'5' is not a number of seconds from 10 to 86400"), "\(pace)")
    #expect(try ada.notes("remote", "add", "-f", "x").status == .exited(64))
    #expect(try ada.notes("remote", "add", "a b", "/srv/a.git").status == .exited(64))
    let secret = try ada.notes("remote", "add", "home", "https://ada:secret@git.example.org/x")
    #expect(secret.status == .exited(64) && !secret.errorText.contains("secret@"))
    let open = try ada.notes("remote", "add", "open", "git://git.example.org/x.git")
    #expect(open.isSuccess && open.errorText.contains("neither encrypted nor authenticated"))
    #expect(try ada.notes("remote", "add", "stick", "../hub.git").isSuccess)
    let listed = try ada.notes("remote", "list", "--json").lines
    #expect(listed.count == 2)
    #expect(try Shell.field("url", of: listed[1]) == ada.folder["notes"] + "/../hub.git")
    // "Only an admin's device does; adding the hub again without it takes that back."
    let refused = try bob.notes("remote", "add", "stick", "/srv/a.git", "--accept-unsigned")
    #expect(refused.errorText.contains("only an admin of the notebook may do this"), "\(refused)")
    #expect(try bob.notes("remote").text.hasPrefix("No hubs"))
    let accepting = try ada.notes("remote", "add", "stick", "../hub.git", "--accept-unsigned")
    #expect(accepting.text.contains("unsigned versions there are accepted"), "\(accepting)")
    #expect(
      try ada.notes("remote", "show", "stick").text.contains("unsigned versions are accepted"))
    #expect(try ada.notes("remote", "add", "stick", "../hub.git").isSuccess)
    let hubs = try ada.notes("remote", "list", "--json").text
    #expect(!hubs.contains(#""accepts_unsigned":true"#), "\(hubs)")
    #expect(try ada.notes("remote", "remove", "open").isSuccess)
    #expect(try ada.notes("remote", "show", "open").status == .exited(1))
    #expect(try ada.notes("sync", "--no-hub", "--wait", "0").status == .exited(4))
    // notes-pull(1), notes-push(1): "Hubs are visited by notes-sync(1) alone."
    for command in ["pull", "push"] {
      let other = try ada.notes(command, "stick")
      #expect(other.status == .exited(64) && other.errorText.contains("'notes sync stick'"))
      #expect(other.errorText.contains("'stick' is a hub; only 'notes sync' visits hubs"))
    }
    let missing = try ada.notes("sync", "stick", "--json")
    #expect(try errorKind(of: missing) == "hub_missing", "\(missing)")
  }

  // notes-security(7), VERSIONS
  @Test func `What no member has signed is refused and told, and taken where that is meant`() throws
  {
    let (hub, clone) = (ada.folder["hub.git"], ada.folder["clone"])
    func git(_ words: String...) throws {
      try #require(try run(["git"] + words).isSuccess, "\(words)")
    }
    try git("init", "-q", "--bare", "-b", "main", hub)
    try #require(try ada.notes("remote", "add", "stick", hub).isSuccess)
    try meet(ada)
    try git("clone", "-q", hub, clone)
    try git(
      "-C", clone, "-c", "user.name=Pat", "-c", "user.email=pat@example.org", "commit", "-q",
      "--allow-empty", "-m", "by pat")
    try git("-C", clone, "push", "-q")
    let refused = try ada.notes("sync", "--hub")
    #expect(refused.status == .exited(1), "\(refused)")
    let words = "in the name of Pat is refused: no member has signed it"
    #expect((refused.text + refused.errorText).contains(words), "\(refused)")
    #expect(try ada.notes("status").text.contains("--allow-unsigned"))
    #expect(try ada.notes("sync", "--hub", "--allow-unsigned").isSuccess)
    #expect(try !ada.notes("status").text.contains("--allow-unsigned"))
    let log = try ada.notes("log", "--all")
    #expect(log.text.contains("Pat, unsigned, "), "\(log)")
    let lines = try ada.notes("log", "--all", "--json").lines
    #expect(try Shell.field("signature", of: lines[0]) == "verified")
    #expect(try Shell.field("signature", of: lines[1]) == "unsigned")
  }

  // notes-hub(7), "A refused version": "The first command keeps the version in a branch of the notebook. The second
  // sets the hub's branch to the notebook's, if the hub still has that version."
  @Test(arguments: GitServer.Kind.allCases)
  func `A refused version is set aside by the shown command`(kind: GitServer.Kind) throws {
    let server = try GitServer(kind)
    try add("home", on: server)
    try meet(ada)
    try meet(bob)
    let (address, clone) = (server.address(of: "home.git"), ada.folder["clone"])
    let environment = ada.environment.merging(try server.client()) { $1 }
    func git(_ words: String...) throws -> String {
      let result = try run(["git"] + words, environment: environment)
      try #require(result.isSuccess, "\(result)")
      return result.text
    }
    func commit(_ name: String) throws -> String {
      try ada.folder.write("\(name)\n", to: "clone/\(name).txt")
      _ = try git("-C", clone, "add", ".")
      _ = try git(
        "-C", clone, "-c", "user.name=Pat", "-c", "user.email=pat@example.org", "commit", "-q",
        "-m",
        name)
      _ = try git("-C", clone, "push", "-q")
      return String(try git("-C", clone, "rev-parse", "HEAD").dropLast())
    }
    _ = try git("clone", "-q", address, clone)
    let first = try commit("X")
    try bob.folder.write("bob's\n", to: "notes/B.txt")
    let refused = try bob.notes("sync", "--hub")
    #expect(refused.errorText.contains("'notes sync home --allow-unsigned'"), "\(refused)")
    let hint = #/'(git fetch --no-tags --refmap= home main:refused-\w+ && git push [^']+)'/#
    func command(_ told: String) throws -> String {
      String(try #require(told.firstMatch(of: hint), "\(told)").1)
    }
    let old = try command(refused.errorText)
    #expect(try command(bob.notes("status").text) == old && old.contains(":\(first) home main"))
    // It does nothing to a version that it does not name.
    let second = try commit("Y")
    let late = try run(
      ["sh", "-c", old], in: bob.folder["notes"], environment: bob.environment)
    #expect(!late.isSuccess && late.errorText.contains("stale info"), "\(late)")
    #expect(try git("ls-remote", address, "refs/heads/main").hasPrefix(second))

    // No device would accept a reader's versions from the hub.
    try #require(try ada.notes("members", "role", "bob", "reader").isSuccess)
    let reader = try bob.notes("sync", "--hub").errorText
    #expect(reader.contains("--allow-unsigned") && !reader.contains("git push"), "\(reader)")
    try #require(try ada.notes("members", "role", "bob", "writer").isSuccess)

    let shown = try command(bob.notes("sync", "--hub").errorText)
    let done = try run(
      ["sh", "-c", shown], in: bob.folder["notes"], environment: bob.environment)
    #expect(done.isSuccess, "\(done)")
    let kept = "refused-\(second.prefix(10))"
    #expect(
      try run(["git", "rev-parse", kept], in: bob.folder["notes"]).text.hasPrefix(second))
    #expect(try meet(bob).text.contains("in sync"))
    #expect(try !bob.notes("status").text.contains("--allow-unsigned"))
    #expect(try meet(ada).text.contains("home: received 1 version; in sync"))
    #expect(try ada.folder.text("notes/B.txt") == "bob's\n")
    #expect(access(ada.folder["notes/X.txt"], F_OK) != 0)
  }

  // notes-remote(1): "If the address is a folder that does not exist now, the command says so."
  @Test func `A folder that is not there is told`() throws {
    let folder = ada.folder["stick.git"]
    let added = try ada.notes("remote", "add", "stick", folder)
    #expect(
      added.isSuccess
        && added.errorText == """
          notes: warning: there is no folder \(folder) now
          notes: hint: 'git init --bare \(folder)' makes it; or connect its disk

          """
    )
    try #require(try run(["git", "init", "-q", "--bare", folder]).isSuccess)
    #expect(try ada.notes("remote", "add", "stick", folder).errorText.isEmpty)
  }

  // notes-invite(1): "The command says so if the hub's address may not lead others to the hub, like a folder or a host
  // that only some machines know."
  @Test(arguments: [
    ("git@git.example.org:ada/notes.git", 0), ("https://git.example.org/ada/notes.git", 0),
    ("ssh://git@git.example.org:2222/notes.git", 0), ("git://host/notes.git", 0),
    ("/srv/notes.git", 1), ("nas:notes.git", 2), ("ada@nas:notes.git", 2),
    ("ssh://nas:22/notes.git", 2), ("https://nas/notes.git", 1), ("ada@git.example.org:n.git", 1),
  ])
  func `An address for its owner is known`(address: String, count: Int) {
    #expect(Hub(name: "home", url: address).limits.count == count)
  }

  // notes-merge(7), "Labels": "No label says whether a device has signed a version that names it".
  // notes-conflicts(1): "stands behind the name of who wrote a text where nothing proves it"
  @Test(arguments: [false, true])
  func `The sides of a conflict say who is not proved`(namesDevice: Bool) throws {
    let (hub, clone) = (ada.folder["hub.git"], ada.folder["clone"])
    func git(_ words: String...) throws -> ProcessResult {
      let result = try run(["git"] + words)
      try #require(result.isSuccess, "\(result)")
      return result
    }
    _ = try git("init", "-q", "--bare", "-b", "main", hub)
    try #require(try ada.notes("remote", "add", "stick", hub).isSuccess)
    try meet(ada)
    _ = try git("clone", "-q", hub, clone)
    let device = try git("-C", clone, "log", "-1", "--format=%ae").lines[0]
    try ada.folder.write("pat's\n", to: "clone/A.txt")
    _ = try git(
      "-C", clone, "-c", "user.name=Pat", "-c",
      "user.email=\(namesDevice ? device : "pat@example.org")", "commit", "-q", "-a", "-m", "by pat"
    )
    _ = try git("-C", clone, "push", "-q")
    try ada.folder.write("ada's\n", to: "notes/A.txt")
    let sync = try ada.notes("sync", "--hub", "--allow-unsigned")
    #expect(sync.status == .exited(3), "\(sync)")
    let text = try ada.folder.text("notes/A.txt")
    #expect(text.contains(namesDevice ? " Pat · " : " Pat (unsigned) · "), "\(text)")
    for command in ["conflicts", "status"] {
      let told = try ada.notes(command)
      #expect(told.text.ranges(of: "(unsigned)").count == 1, "\(told)")
      #expect(told.text.contains("Pat (unsigned)"), "\(told)")
    }
    let line = try ada.notes("conflicts", "--json").text
    #expect(line.contains(#""signature":"unsigned""#) && line.contains(#""signature":"verified""#))
    #expect(try ada.notes("resolve", "A", "--keep", "Pat").isSuccess)
    #expect(try ada.folder.text("notes/A.txt") == "pat's\n")
  }
}
