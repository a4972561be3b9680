import TestSupport
import Testing

/// What all other tests stand on.
@Suite struct TestSupportTests {
  @Test func muchIsReadWhileMuchIsWritten() throws {
    let bytes = [UInt8](repeating: UInt8(ascii: "x"), count: 3_000_000)
    let result = try run(["sh", "-c", "tee /dev/stderr"], input: bytes)
    #expect(result.output == bytes && result.errors == bytes)
    #expect(result.status == .exited(0))
  }

  @Test func aProcessThatDoesNotEndIsKilledWithItsChildren() throws {
    let folder = try TemporaryFolder()
    let start = Moment.now
    #expect(throws: ProcessTimeout.self) {
      try run(["sh", "-c", "sleep 100 & echo $! >child; wait"], in: folder.path, within: 0.5)
    }
    #expect(Moment.now - start < 20)
    let child = try folder.text("child").filter(\.isNumber)
    let gone = EventLog<Void>()
    startThread {
      // A killed child may stay a zombie for a while: what counts is that it runs no more.
      while let state = try? readFile("/proc/\(child)/stat"), !state.contains(UInt8(ascii: "Z")) {}
      gone.append(())
    }
    #expect(gone.next() != nil)
  }

  @Test func statusAndFolderAndEnvironmentAreThoseAskedFor() throws {
    let folder = try TemporaryFolder()
    let result = try run(
      ["sh", "-c", "pwd; echo $GREETING$HOME; exit 7"], in: folder.path,
      environment: ["GREETING": "hello", "PATH": "/usr/bin:/bin"])
    #expect(result.status == .exited(7))
    #expect(result.lines == [folder.path, "hello"])
    let killed = try run(["sh", "-c", "kill -9 $$"])
    #expect(killed.status == .signalled(9))
  }

  @Test func hostsReachEachOtherAndNothingElse() throws {
    let lab = try Lab(hosts: 3, discovery: false)
    let script = """
      import socket
      s = socket.create_server(("", 4000)); print("listening", flush=True)
      print(s.accept()[1][0], flush=True)
      """
    let server = try lab.hosts[2].start(["python3", "-c", script])
    _ = try server.line()
    let client = "import socket; socket.create_connection(('\(lab.hosts[2].address)', 4000))"
    try lab.hosts[0].run(["python3", "-c", client]).expectSuccess()
    #expect(try server.line() == lab.hosts[0].address)
    let routes = try lab.hosts[0].run(["ip", "route", "show", "default"])
    #expect(routes.text == "")
  }

  @Test("What runs on a host ends with the laboratory") func nothingIsLeft() throws {
    var lab: Lab? = try Lab(hosts: 1, discovery: false)
    let sleeper = try #require(try lab?.hosts[0].start(["sleep", "1000"]))
    lab = nil
    #expect(try sleeper.wait(within: 20).status == .signalled(9))
  }

  @Test func equalSeedsGiveEqualNumbers() {
    var one = SplitMix64(seed: 1234567)
    // The reference values of the algorithm for this seed.
    #expect(one.next() == 6_457_827_717_110_365_317)
    #expect(one.next() == 3_203_168_211_198_807_973)
  }
}

extension ProcessResult {
  func expectSuccess(at location: SourceLocation = #_sourceLocation) {
    #expect(isSuccess, "\(self)", sourceLocation: location)
  }
}
