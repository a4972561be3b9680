import Glibc
import TestSupport
import Testing

/// What cannot be done is said in one line with a hint and the exit code of notes(1), within seconds,
/// and changes nothing.
@Suite struct EndToEndFailureTests {
  let lab: Lab
  let alice: Device
  let bob: Device

  init() throws {
    lab = try Lab(hosts: 2)
    alice = try Device("alice", on: lab.hosts[0])
    bob = try Device("bob", on: lab.hosts[1])
    try alice.write("Note.txt", ["One", ""])
    try alice.succeed(
      ["init", alice.folder, "--name", "Home", "--device-name", "alice"], in: alice.host.home)
  }

  @Test func nobodyIsThere() throws {
    try expectFailure(.exited(4), ["sync"])
    try pair(alice, bob)
    try expectFailure(.exited(4), ["sync"])
    try expectFailure(.exited(4), ["sync", "--at", "\(bob.host.address):9"])
    // Its cable is pulled: packets go nowhere, and nothing says so.
    try lab.setConnected(bob.host, false)
    try expectFailure(.exited(4), ["sync", "--at", "\(bob.host.address):4000"])
  }

  @Test func discoveryIsMissing() throws {
    try pair(alice, bob)
    try alice.host.stop(.avahi)
    let noDaemon = try expectFailure(.exited(4), ["sync"])
    #expect(noDaemon.errorText.contains("Avahi"))
    #expect(noDaemon.errorText.contains("--at"))
    try alice.host.stop(.bus)
    let noBus = try expectFailure(.exited(4), ["sync"])
    #expect(noBus.errorText.contains("--at"))
  }

  @Test func aPeerThatSaysNothingIsGivenUp() throws {
    let script = """
      import socket
      s = socket.create_server(("", 4000)); print("listening", flush=True)
      connections = []
      while True: connections.append(s.accept())
      """
    let server = try bob.host.start(["python3", "-c", script])
    _ = try server.line()
    try expectFailure(.exited(4), ["sync", "--at", "\(bob.host.address):4000"])
  }

  @Test func notANotebook() throws {
    for arguments in [["sync"], ["serve"], ["invite"], ["status"]] {
      let result = try bob.notes(arguments, in: bob.host.home)
      #expect(result.status == .exited(2), "\(result)")
      expectOneError(result)
    }
  }

  @Test func aPortInUse() throws {
    let service = try alice.start(["serve", "--listen", "0.0.0.0:4711", "--json"])
    _ = try service.line()
    try expectFailure(.exited(1), ["serve", "--listen", "0.0.0.0:4711"])
    try service.terminate()
  }

  @Test func codesThatOpenNothing() throws {
    for code in ["nonsense", "42-KQ7T", "42-KQ7T-9XWPM4-1"] {
      let result = try bob.notes(["join", code, bob.folder, "--yes"], in: bob.host.home)
      #expect(result.status == .exited(64), "\(result)")
    }
    let nobody = try bob.notes(
      ["join", "42-KQ7T-9XWPM4", bob.folder, "--yes"], in: bob.host.home)
    #expect(nobody.status == .exited(4), "\(nobody)")
    expectOneError(nobody)
    #expect(try run(["find", bob.folder]).lines.isEmpty)
  }

  @Test func aDeclinedInvitationLeavesNothing() throws {
    let invite = try alice.start(["invite", "--json"])
    let invitation: Invitation = try decode(try invite.line { $0.contains(#""invitation""#) })
    let command = "'\(bob.binary)' join \(invitation.code) '\(bob.folder)'"
    let declined = try bob.host.run(
      ["script", "-qec", command, "/dev/null"], input: Array("n\n".utf8))
    #expect(!declined.isSuccess, "\(declined)")
    #expect(declined.text.contains("Home"), "what is joined is shown before the question")
    #expect(declined.text.contains("alice"))
    #expect(try run(["find", bob.folder]).lines.isEmpty)
    _ = try invite.line { $0.contains(#""declined""#) }
  }

  @Test("Whenever it is interrupted or killed, the next sync needs no repair") func interruptions()
    throws
  {
    var random = SplitMix64.reported()
    try pair(alice, bob)
    let service = try alice.start(["serve", "--json"])
    _ = try service.line()
    for round in 0..<12 {
      try alice.write("Alice \(round % 4).txt", ["round \(round)", "\(random.next())", ""])
      try bob.write("Bob \(round % 4).txt", ["round \(round)", "\(random.next())", ""])
      let sync = try bob.start(["sync"])
      let patience = Int32.random(in: 0...120, using: &random)
      // Not a wait for anything: the moment of the interruption is what is varied.
      poll(nil, 0, patience)
      sync.send(round.isMultiple(of: 2) ? SIGINT : SIGKILL)
      let end = try sync.wait()
      #expect(
        [.exited(0), .exited(130), .signalled(SIGINT), .signalled(SIGKILL)].contains(end.status),
        "after \(patience) ms: \(end)")
    }
    try bob.succeed(["sync"])
    try expectEqual(alice, bob)
    for device in [alice, bob] { try device.checkGit() }
    try service.terminate()
  }

  /// Runs `notes` in alice's notebook, which has to fail as described and to leave it as it is.
  @discardableResult
  private func expectFailure(
    _ status: TestSupport.ExitStatus, _ arguments: [String],
    at location: SourceLocation = #_sourceLocation
  ) throws -> ProcessResult {
    let before = try listing(alice.folder)
    let start = Moment.now
    let result = try alice.notes(arguments)
    #expect(result.status == status, "\(result)", sourceLocation: location)
    #expect(Moment.now - start < 30, sourceLocation: location)
    expectOneError(result, at: location)
    #expect(try listing(alice.folder) == before, sourceLocation: location)
    return result
  }

  private func expectOneError(
    _ result: ProcessResult, at location: SourceLocation = #_sourceLocation
  ) {
    let lines = result.errorText.split(separator: "\n")
    let errors = lines.filter { $0.hasPrefix("notes: error: ") }
    #expect(errors.count == 1, "\(result)", sourceLocation: location)
    #expect(
      lines.contains { $0.hasPrefix("notes: hint: ") }, "\(result)", sourceLocation: location)
  }

  /// The files and what they hold, but for the empty lock files that a command may make.
  private func listing(_ folder: String) throws -> String {
    try run(
      [
        "sh", "-c",
        "find . -path ./.git/notes/cache -prune -o -type f -size +0 -exec md5sum {} + | sort -k2",
      ], in: folder
    ).text
  }
}
