import Git
import Glibc
import Notebook
import TestSupport
import Testing

@testable import Exchange

/// notes-hub(7), "What is run": "notes waits for a slow server while data moves", on each kind
/// of server; SlowHubTests looks closer at one of them.
@Suite("Slow servers of each kind", .timeLimit(.minutes(10)))
struct SlowServersTests {
  private static let patience = 3.0

  @Test(
    "a server that trickles is waited for, and one that stops is not",
    arguments: [GitServer.Kind.ssh, .https])
  func each(kind: GitServer.Kind) throws {
    let server = try GitServer(kind)
    let wire = try SlowWire(to: server.port)
    defer { wire.close() }
    let address = try server.makeRepository("home.git")
    let far = Hub(
      name: "far",
      url: address.replacing(":\(server.port)/", with: ":\(wire.port)/"))
    let ada = try Device(founding: "Ada")
    let bob = try Device("Bob", certifiedBy: ada)
    // What a user who is let in has in their own configuration.
    let program = ada.folder["git"]
    var script = "#!/bin/sh\nunset GIT_SSL_CAINFO\n"
    for (name, value) in try server.client() {
      let alias = name == "GIT_SSH_COMMAND" ? " -o HostKeyAlias=[127.0.0.1]:\(server.port)" : ""
      script += "export \(name)=\"\(value)\(alias)\"\n"
    }
    try writeFile(program, Array((script + "exec git \"$@\"\n").utf8))
    chmod(program, 0o755)
    func visit(_ device: Device) throws -> [String] {
      let outcome = try device.visit(far) {
        ($0.program.name, $0.program.patience) = (program, Self.patience)
      }.outcome
      return outcome.failures.map { "\($0.error)" }
    }
    try ada.write("one\n", to: "A.txt")
    #expect(try visit(ada) == [])
    #expect(try visit(bob) == [])
    var random = SplitMix64(seed: 7)
    let text = String(
      (0..<30_000).map { _ in
        Character(Unicode.Scalar(UInt8.random(in: 33...126, using: &random)))
      })
    try ada.write(text, to: "B.txt")
    wire.set(.init(bytes: 1_024, every: 0.1))
    let began = Moment.now
    #expect(try visit(ada) == [])
    #expect(try visit(bob) == [])
    #expect(Moment.now - began > Self.patience)
    #expect(try bob.text("B.txt") == text)
    // It stops at once, and is back.
    wire.set(.init(most: 0))
    try bob.write("by bob\n", to: "C.txt")
    #expect(try visit(bob) == ["the hub did not answer for 3 s"])
    wire.set(.init())
    #expect(try visit(bob) == [])
    #expect(try visit(ada) == [])
    #expect(try ada.text("C.txt") == "by bob\n")
  }
}
