import Glibc
import TestSupport
import Testing

/// Hubs that let a user read, and not write: notes-hub(7), "Roles".
@Suite(.timeLimit(.minutes(5))) struct ReadOnlyHubTests {
  private let ada: Shell
  private let bob: Shell

  init() throws {
    ada = try Shell()
    bob = try Shell()
    try ada.folder.write("one\n", to: "notes/A.txt")
    try ada.initialise()
  }

  private func link() throws -> String {
    let result = try ada.notes("invite", "--hub", "home")
    return try #require(result.lines.first { $0.hasPrefix("notes://join/") }, "\(result)")
  }

  /// What a guest and a member are told once the server takes no pushes.
  private func expectRefusals(of link: String, on server: GitServer, saying words: String) throws {
    bob.environment.merge(try server.client()) { $1 }
    let asked = try bob.notes("join", link, "../desk", "--yes")
    #expect(asked.status == .exited(5), "\(asked)")
    #expect(
      asked.errorText.hasPrefix("notes: error: the hub lets this device read, but not write: "),
      "\(asked)")
    #expect(asked.errorText.contains(words), "\(asked)")
    #expect(asked.errorText.contains("ask laptop who can let you write there"), "\(asked)")
    #expect(access(bob.folder["desk"], F_OK) != 0)

    try ada.folder.write("two\n", to: "notes/B.txt")
    let synced = try ada.notes("sync", "--hub")
    #expect(synced.status == .exited(5), "\(synced)")
    let told = synced.text + synced.errorText
    #expect(told.contains("the hub lets this device read, but not write: "), "\(told)")
    let hint =
      "ask the hub's owner for write access, or check key or password; your changes wait here"
    #expect(told.contains("hint: \(hint)\n"), "\(told)")
    let json = try ada.notes("sync", "--hub", "--json")
    #expect(json.errorText.contains(#""kind":"hub_read_only""#), "\(json)")
  }

  @Test(.enabled(if: geteuid() == 0), arguments: [false, true])
  func `A folder on a disk that cannot be written`(areObjectsWritable: Bool) throws {
    let hub = ada.folder["hub.git"]
    try #require(try run(["git", "init", "-q", "--bare", "-b", "main", hub]).isSuccess)
    try #require(try ada.notes("remote", "add", "home", hub).isSuccess)
    let link = try link()
    // The kind of refusal differs: of the objects, and of the references.
    let place = areObjectsWritable ? hub + "/refs" : hub
    try #require(try run(["mount", "--bind", place, place]).isSuccess)
    defer { _ = try? run(["umount", "--lazy", place]) }
    try #require(try run(["mount", "-o", "remount,ro,bind", place]).isSuccess)
    let asked = try bob.notes("join", link, "../desk", "--yes")
    #expect(asked.status == .exited(5), "\(asked)")
    #expect(asked.errorText.contains("ask laptop who can let you write there"), "\(asked)")
    try ada.folder.write("two\n", to: "notes/B.txt")
    let synced = try ada.notes("sync", "--hub", "--json")
    #expect(try errorKind(of: synced) == "hub_read_only", "\(synced)")
  }

  @Test func `A daemon that takes no pushes`() throws {
    let server = try GitServer(.daemon)
    try ada.add(hub: "home", at: server.makeRepository("home.git"), on: server)
    let config = server.repositories + "/home.git/config"
    let link = try link()
    try #require(
      try run(["git", "config", "--file", config, "daemon.receivepack", "false"]).isSuccess)
    try expectRefusals(of: link, on: server, saying: "access denied or repository not exported")
  }

  @Test(arguments: [
    "ERROR: Permission to ada/notes.git denied to bob.",
    "ERROR: The key you are authenticating with has been marked as read only.",
    "remote: You are not allowed to push code to this project.",
    "Gitea: User permission denied for writing.",
    "FATAL: W any notes bob DENIED by fallthru",
  ])
  func `A host whose ssh refuses to write`(words: String) throws {
    let server = try GitServer(.ssh)
    try ada.add(hub: "home", at: server.makeRepository("home.git"), on: server)
    let key = try server.folder.text("user.pub")
    let link = try link()
    let command = server.folder["command"]
    let script = """
      #!/bin/sh
      case "$SSH_ORIGINAL_COMMAND" in
        *receive-pack*) echo '\(words)' >&2; exit 1 ;;
      esac
      exec sh -c "$SSH_ORIGINAL_COMMAND"

      """
    try writeFile(command, Array(script.utf8))
    try #require(chmod(command, 0o755) == 0)
    try server.folder.write("command=\"\(command)\" \(key)", to: "authorized")
    let told = words.hasPrefix("remote: ") ? String(words.dropFirst(8)) : words
    try expectRefusals(
      of: link, on: server, saying: told.last == "." ? String(told.dropLast()) : told)
  }

  @Test(arguments: [GitServer.Readers.everybody, .nobodyWrites])
  func `A web server that lets everybody read`(readers: GitServer.Readers) throws {
    let server = try GitServer(.https)
    try ada.add(hub: "home", at: server.makeRepository("home.git"), on: server)
    let link = try link()
    try server.process?.terminate()
    let open = try server.restarted(readers: readers)
    // Nobody has a password.
    let file = server.folder["without"]
    try writeFile(file, Array("[http]\n\tsslCAInfo = \(server.folder["server.crt"])\n".utf8))
    for shell in [ada, bob] { shell.environment["GIT_CONFIG_GLOBAL"] = file }
    let asked = try bob.notes("join", link, "../desk", "--yes")
    #expect(asked.status == .exited(5), "\(asked)")
    #expect(asked.errorText.contains("the hub lets this device read, but not write: "), "\(asked)")
    #expect(asked.errorText.contains("ask laptop who can let you write there"), "\(asked)")
    try ada.folder.write("two\n", to: "notes/B.txt")
    let synced = try ada.notes("sync", "--hub", "--json")
    #expect(try errorKind(of: synced) == "hub_read_only", "\(synced)")
    try open.process?.terminate()
  }
}
