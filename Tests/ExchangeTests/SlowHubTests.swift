import Git
import Glibc
import History
import Notebook
import System
import TestSupport
import Testing

@testable import Exchange

/// notes-hub(7), "What is run": "notes waits for a slow server while data moves", and one
/// where nothing does is not.
@Suite("Hubs that are slow, or stop", .timeLimit(.minutes(5)))
struct SlowHubTests {
  let server: GitServer
  let wire: SlowWire
  let ada: Device
  let bob: Device
  /// The hub without the wire, and behind it.
  let near: Hub
  let far: Hub
  // How long is waited while nothing moves, in seconds: long for who is slow and not for who stands.
  private static let (patience, brief) = (4.0, 1.0)

  init() throws {
    server = try GitServer(.daemon)
    wire = try SlowWire(to: server.port)
    near = Hub(name: "near", url: try server.makeRepository("home.git"))
    far = Hub(name: "far", url: "git://127.0.0.1:\(wire.port)/home.git")
    ada = try Device(founding: "Ada")
    bob = try Device("Bob", certifiedBy: ada)
    try ada.write("one\n", to: "A.txt")
    for device in [ada, bob] { try visit(device, near) }
  }

  @discardableResult
  private func visit(_ device: Device, _ hub: Hub) throws -> [Event] {
    let (outcome, events) = try device.visit(hub) { $0.program.patience = Self.patience }
    #expect(outcome.failures.map { "\($0.error)" } == [])
    return events
  }

  /// Text that no packing makes shorter than half.
  private func text(bytes: Int) -> String {
    var random = SplitMix64(seed: 7)
    return String(
      (0..<bytes).map { _ in Character(Unicode.Scalar(UInt8.random(in: 33...126, using: &random))) }
    )
  }

  private func git(_ words: String...) throws {
    let path = server.repositories + "/home.git"
    try #require(try TestSupport.run(["git", "-C", path] + words).isSuccess)
  }

  /// Whether something of a visit is left: a process that works for the notebook, or a folder of it.
  private func leftovers(of device: Device) throws -> [String] {
    let incoming = device.notes + "/.git/notes/incoming"
    let folders = try TestSupport.run(["find", incoming, "-mindepth", "1", "-maxdepth", "1"]).lines
    // A process that is ending has no environment any more.
    let processes = try TestSupport.run(
      ["grep", "-lsF", "GIT_DIR=" + incoming, "-r", "/proc", "--include=environ"])
    return folders + processes.lines
  }

  // "with progress on a terminal"
  @Test("a server that trickles is waited for, and how far it is is told")
  func trickles() throws {
    defer { wire.close() }
    // git says nothing while these come.
    for number in 0..<90 { try git("update-ref", "refs/heads/side-\(number)", "main") }
    wire.set(.init(bytes: 64, every: 0.1))
    var began = Instant.now
    try visit(bob, far)
    #expect(Instant.now - began > Self.patience)
    for number in 0..<90 { try git("update-ref", "-d", "refs/heads/side-\(number)") }
    try ada.write(text(bytes: 600_000), to: "B.txt")
    try visit(ada, near)
    wire.set(.init(bytes: 8_192, every: 0.1))
    began = Instant.now
    let events = try visit(bob, far)
    #expect(Instant.now - began > Self.patience)
    #expect(try bob.text("B.txt") == ada.text("B.txt"))
    let counts = events.compactMap { event in
      if case .progress(let progress) = event { progress.receivedBytes } else { nil }
    }.filter { $0 > 0 }
    #expect(Set(counts).count > 2 && counts == counts.sorted(), "\(counts)")
    #expect(try leftovers(of: bob) == [])
  }

  @Test("a push over a slow wire is waited for, and so is a server that works at what it got")
  func slowPush() throws {
    let (begun, go) = (server.folder["begun"], server.folder["go"])
    let hook = server.repositories + "/home.git/hooks/pre-receive"
    try #require(try TestSupport.run(["mkfifo", go]).isSuccess)
    try writeFile(hook, Array("#!/bin/sh\ntouch '\(begun)'\nread -r line <'\(go)'\n".utf8))
    chmod(hook, 0o755)
    // git-receive-pack(1) says that it lives, which git does not pass on.
    try git("config", "receive.keepAlive", "1")
    try ada.write(text(bytes: 160_000), to: "B.txt")
    wire.set(.init(bytes: 4_096, every: 0.1))
    defer { wire.close() }
    let began = Instant.now
    let box = ada.context.startVisit(far) { $0.program.patience = Self.patience }
    let deadline = Instant.now + 80
    while access(begun, F_OK) != 0, Instant.now < deadline { sched_yield() }
    // It thinks for longer than anybody waits for who is silent.
    #expect(box.take(until: .now + Self.patience * 1.5) == nil)
    #expect(Instant.now - began > Self.patience * 1.5)
    try writeFile(go, Array("go\n".utf8))
    let outcome = try #require(box.take(until: .now + 80)).get()
    #expect(outcome.failures.map { "\($0.error)" } == [])
    unlink(hook)
    try visit(bob, near)
    #expect(try bob.text("B.txt") == ada.text("B.txt"))
    #expect(try leftovers(of: ada) == [])
  }

  /// Where a wire stops.
  enum Stop: String, CaseIterable {
    case atOnce, inReferences, inPack, inPush

    var most: Int {
      switch self {
      case .atOnce: 0
      case .inReferences: 200
      case .inPack: 8_000
      case .inPush: 12_000
      }
    }
  }

  /// Writes what a visit brings there, and lets the wire stop on its way.
  private func stand(still stop: Stop) throws {
    if stop == .inPack {
      try bob.write(text(bytes: 40_000), to: "B.txt")
      try visit(bob, near)
    }
    try ada.write(text(bytes: 50_000), to: "C.txt")
    wire.set(.init(most: stop.most))
  }

  // "is ended; the visit fails, and what was saved goes there at the next one"
  @Test(
    "a server that stops is given up; what was saved stays, and goes there later",
    arguments: Stop.allCases)
  func stops(stop: Stop) throws {
    defer { wire.close() }
    try stand(still: stop)
    let error = try ada.failure(at: far) { $0.program.patience = Self.brief }
    #expect(error == .silent(seconds: 1))
    #expect(error.map { "\($0)" } == "the hub did not answer for 1 s")
    #expect(wire.stands(within: 1))
    let saved = try #require(try ada.notebook().state().tip)
    #expect(
      try ada.notebook().repository.entry(
        at: "C.txt", in: ada.notebook().repository.commit(saved).tree) != nil)
    #expect(try leftovers(of: ada) == [])
    wire.set(.init())
    try visit(ada, far)
    try visit(bob, near)
    #expect(try bob.text("C.txt") == ada.text("C.txt"))
    #expect(try bob.tip() == ada.tip())
  }

  @Test(
    "a visit that waits for a server ends at once when it is cancelled", arguments: Stop.allCases)
  func cancelled(stop: Stop) throws {
    defer { wire.close() }
    try stand(still: stop)
    let token = try CancellationToken()
    let box = ada.context.startVisit(far, until: token)
    #expect(wire.stands())
    let began = Instant.now
    token.cancel()
    #expect {
      _ = try #require(box.take(until: .now + 40)).get()
    } throws: {
      if case SyncError.stopped = $0 { true } else { false }
    }
    // Well before anybody would be given up.
    #expect(Instant.now - began < 20)
    #expect(try leftovers(of: ada) == [])
    wire.set(.init())
    try visit(ada, far)
    try visit(bob, near)
    #expect(try bob.text("C.txt") == ada.text("C.txt"))
  }
}
