import Channel
import Discovery
import Git
import History
import Membership
import Notebook
import Synchronization
import TestSupport
import Testing
import WorkTree

@testable import Exchange

/// What `notes sync` does, over real TLS on loopback; only discovery is within the process.
@Suite("A run finds the devices that are there", .timeLimit(.minutes(20)))
struct SyncRunTests {
  let network = InMemoryNetwork()
  let ada: Device
  let bob: Device

  init() throws {
    ada = try Device(founding: "Ada")
    bob = try Device("Bob", certifiedBy: ada)
    try ada.write("from Ada\n", to: "ada.txt")
    try bob.write("from Bob\n", to: "bob.txt")
  }

  private static let loopback = Address(host: "127.0.0.1", port: 0)

  private func run(_ device: Device, window: Double = 20) -> SyncRun {
    var run = SyncRun(context: device.context)
    run.discovery = InMemoryDiscovery(deviceID: device.key.deviceID, network: network)
    run.listen = Self.loopback
    run.window = window
    return run
  }

  /// A run on a thread of its own.
  private func start(
    _ run: SyncRun, cancellation: CancellationToken? = nil,
    onEvent: @escaping @Sendable (Event) -> Void = { _ in }
  ) throws -> BlockingQueue<Result<SyncOutcome, any Error>> {
    let box = BlockingQueue<Result<SyncOutcome, any Error>>()
    try Exchange.startThread {
      box.put(Result { try run.run(cancellation: cancellation, onEvent: onEvent) })
    }
    return box
  }

  private func outcome(_ box: BlockingQueue<Result<SyncOutcome, any Error>>) throws -> SyncOutcome {
    try #require(box.take(until: .now + 60)).get()
  }

  @Test("two that both run find each other, and end on one tip before the window is over")
  func both() throws {
    let began = Instant.now
    let there = try start(run(bob))
    let here = try run(ada).run()
    let other = try outcome(there)
    #expect(Instant.now < began + 15)
    #expect(try ada.tip() == bob.tip())
    #expect(here.tip == other.tip)
    #expect(here.sessions.map(\.peer.name) == ["Bob"])
    #expect(other.sessions.map(\.peer.name) == ["Ada"])
    #expect(here.sessions.allSatisfy(\.isInSync) && other.sessions.allSatisfy(\.isInSync))
    #expect(here.failures.isEmpty && other.failures.isEmpty)
    #expect(here.absent.isEmpty && other.absent.isEmpty)
    #expect(try ada.text("bob.txt") == "from Bob\n")
  }

  @Test("a session that begins while the run saves shows what was saved, and saves nothing itself")
  func beginsMeanwhile() throws {
    let keeper = DirectKeeper(ada.context)
    let notebook = try ada.context.notebook()
    let shown = BlockingQueue<NotebookState?>()
    var stepsBegun = 0
    try keeper.save(notebook) {
      stepsBegun += 1
      try? Exchange.startThread { shown.put(try? keeper.currentState().state) }
      // It waits for the save.
      #expect(shown.take(until: .now + 0.05) == nil)
    } progress: { _, _ in
    }
    let state = try #require(shown.take(until: .now + 20) ?? nil)
    let tip = try ada.tip()
    #expect(stepsBegun == 1 && state.heads == [tip])
    #expect(try ada.text("ada.txt") == "from Ada\n")
  }

  @Test("a look at a large folder, which takes long, serves a merge for longer")
  func freshLooks() throws {
    let start = Instant(seconds: 100)
    #expect(FolderLook(start: start, end: start + 0.01).freshUntil == start + 0.01 + 1)
    #expect(FolderLook(start: start, end: start + 2).freshUntil == start + 2 + 8)
    #expect(FolderLook(start: .now, end: .now).isFresh)
    let past = Instant.now + -60
    #expect(!FolderLook(start: past, end: past + 1).isFresh)
  }

  // notes-protocol(7), "pack": "the size of the objects together, before compression".
  @Test("both sides are told how many bytes have come and gone, of how many")
  func progressInBytes() throws {
    let text = (0..<5_000).map { "line \($0)\n" }.joined()
    try bob.write(text, to: "long.txt")
    let (sent, received) = (EventLog<TransferProgress>(), EventLog<TransferProgress>())
    let saved = EventLog<WorkAmount>()
    let there = try start(run(bob)) { event in
      if case .progress(let progress) = event { sent.append(progress) }
      if case .saving(_, let total) = event { saved.append(total) }
    }
    _ = try run(ada).run { event in
      if case .progress(let progress) = event { received.append(progress) }
    }
    _ = try outcome(there)
    let all = try #require(sent.all.map(\.contentToSend).max())
    #expect(all > text.utf8.count)
    #expect(sent.all.map(\.sentContent).max() == all)
    #expect(received.all.map(\.contentToReceive).max() == all)
    #expect(received.all.map(\.receivedContent).max() == all)
    #expect(saved.all.first?.files == 2)
    #expect((saved.all.first?.bytes ?? 0) > text.utf8.count)
  }

  // notes-protocol(7), "Sessions that go on": "the connection by the side
  // with the smaller device ID (as text) stays".
  @Test("three that all run at once end on one tip, however their connections cross")
  func three() throws {
    let cleo = try Device("Cleo", certifiedBy: ada)
    for round in 0..<6 {
      for device in [ada, bob, cleo] {
        try device.write("\(device.name) \(round)\n", to: "\(device.name)-\(round).txt")
      }
      let boxes = try [bob, cleo].map { try start(run($0)) }
      let outcomes = try [run(ada).run()] + boxes.map(outcome)
      #expect(outcomes.flatMap(\.failures).map { "\($0)" } == [])
      #expect(Set(outcomes.map(\.tip)).count == 1)
      #expect(try Set([ada, bob, cleo].map { try $0.tip() }).count == 1)
    }
  }

  @Test("--at reaches a device without discovery")
  func at() throws {
    var listening = run(ada)
    listening.discovery = nil
    let ports = EventLog<UInt16>()
    let there = try start(listening) { event in
      if case .listening(_, let port) = event { ports.append(port) }
    }
    let port = try #require(ports.next())
    var run = SyncRun(context: bob.context)
    run.addresses = [Address(host: "127.0.0.1", port: port)]
    let here = try run.run()
    #expect(here.sessions.map(\.peer.name) == ["Ada"])
    #expect(try outcome(there).sessions.map(\.peer.name) == ["Bob"])
    #expect(try ada.tip() == bob.tip())
  }

  @Test("a remembered address does when nobody can be looked for")
  func remembered() throws {
    network.isReachable = false
    var listening = run(ada)
    listening.discovery = nil
    let ports = EventLog<UInt16>()
    let there = try start(listening) { event in
      if case .listening(_, let port) = event { ports.append(port) }
    }
    try PeerAddresses(stateFolder: bob.notebook().stateFolder).remember(
      Address(host: "127.0.0.1", port: try #require(ports.next())), of: ada.key.deviceID)
    var complaints = 0
    let here = try run(bob).run { if case .discoveryFailed = $0 { complaints += 1 } }
    #expect(complaints == 1)
    #expect(here.sessions.map(\.peer.name) == ["Ada"])
    _ = try outcome(there)
    #expect(try ada.tip() == bob.tip())
  }

  @Test("nobody there: the window passes, and nothing is wrong")
  func nobody() throws {
    let outcome = try run(ada, window: 0.3).run()
    #expect(outcome.sessions.isEmpty && outcome.failures.isEmpty)
    #expect(outcome.absent.map(\.name) == ["Bob"])
  }

  @Test("a member who serves another notebook is told, unless it serves this one, too")
  func elsewhere() throws {
    let other = try Device(founding: "Bob").context.membership.notebookID
    let announcing = InMemoryDiscovery(deviceID: bob.key.deviceID, network: network)
    defer { announcing.stop() }
    try announcing.publish(.notebook(id: other, device: bob.key.deviceID, port: 9))
    let alone = try run(ada, window: 0.5).run()
    #expect(alone.absent.map(\.name) == ["Bob"] && alone.elsewhere.map(\.name) == ["Bob"])
    let there = try start(run(bob))
    #expect(try run(ada).run().elsewhere.isEmpty)
    _ = try outcome(there)
  }

  @Test("only the devices named are meant")
  func filter() throws {
    let cleo = try Device("Cleo", certifiedBy: ada)
    var unknown = run(ada)
    unknown.peers = ["DORA"]
    #expect { try unknown.run() } throws: {
      if case SyncError.unknownPeer("DORA") = $0 { true } else { false }
    }
    let waiting = try start(run(cleo, window: 3))
    let there = try start(run(bob))
    var some = run(ada)
    some.peers = [bob.key.deviceID]
    #expect(try some.run().sessions.map(\.peer.name) == ["Bob"])
    _ = try outcome(there)
    _ = try outcome(waiting)
  }

  @Test("a device that hangs costs seconds, and the others are served")
  func hanging() throws {
    let cleo = try Device("Cleo", certifiedBy: ada)
    // Cleo's port takes connections and says nothing.
    let silent = try Listener(at: Self.loopback)
    let announcing = InMemoryDiscovery(deviceID: cleo.key.deviceID, network: network)
    try announcing.publish(
      .notebook(
        id: ada.context.membership.notebookID, device: cleo.key.deviceID, port: silent.port))
    var timeouts = ProtocolTimeouts.forTests
    timeouts.handshake = 0.5
    timeouts.connect = 0.5
    var run = SyncRun(
      context: SessionContext(
        folder: ada.notes, key: ada.key, membership: ada.context.membership, timeouts: timeouts))
    run.discovery = InMemoryDiscovery(deviceID: ada.key.deviceID, network: network)
    run.listen = Self.loopback
    let there = try start(self.run(bob, window: 1))
    let began = Instant.now
    let here = try run.run()
    #expect(Instant.now < began + 10)
    #expect(here.sessions.map(\.peer.name) == ["Bob"])
    #expect(here.failures.map(\.device) == [cleo.key.deviceID])
    _ = try outcome(there)
    announcing.stop()
  }

  @Test("cancelling ends a run at once")
  func cancelling() throws {
    let token = try CancellationToken()
    let listening = EventLog<Bool>()
    let box = try start(run(ada, window: 60), cancellation: token) { event in
      if case .listening = event { listening.append(true) }
    }
    #expect(listening.next() != nil)
    let began = Instant.now
    token.cancel()
    #expect { try outcome(box) } throws: {
      if case SyncError.stopped = $0 { true } else { false }
    }
    #expect(Instant.now < began + 2)
  }

  @Test("a device's own address is noticed")
  func own() throws {
    var run = run(ada)
    let port = try Listener(at: Self.loopback).port
    run.listen = Address(host: "127.0.0.1", port: port)
    run.addresses = [Address(host: "127.0.0.1", port: port)]
    let outcome = try run.run()
    #expect(outcome.sessions.isEmpty)
    let error = try #require(outcome.failures.first).error
    if case SyncError.ownAddress = error { return }
    Issue.record("\(error)")
  }
}
