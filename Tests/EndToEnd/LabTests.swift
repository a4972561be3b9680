import TestSupport
import Testing

/// The network that the other tests take for granted.
@Suite struct LabTests {
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
    #expect(try sleeper.wait(within: 80).status == .signalled(9))
  }
}

extension ProcessResult {
  func expectSuccess(at location: SourceLocation = #_sourceLocation) {
    #expect(isSuccess, "\(self)", sourceLocation: location)
  }
}
