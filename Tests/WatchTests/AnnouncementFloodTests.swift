import Discovery
import Glibc
import Membership
import Synchronization
import TestSupport
import Testing

@testable import Channel
@testable import Exchange
@testable import Watch

/// notes-protocol(7), DISCOVERY: "Anybody can announce any number of devices, at addresses where nobody
/// answers, or where a handshake never ends."
@Suite("A flood of announcements", .timeLimit(.minutes(20)))
struct AnnouncementFloodTests {
  private let network = InMemoryNetwork()

  private func forge(
    _ count: Int, for device: Watcher, at port: UInt16
  ) throws -> InMemoryDiscovery {
    let forger = InMemoryDiscovery(deviceID: "FORGER", network: network)
    for number in 0..<count {
      try forger.publish(
        .notebook(
          id: device.context.membership.notebookID, device: "S\(number)", port: port))
    }
    return forger
  }

  @Test("1,500 strangers in a tarpit take two places of a watcher's, and members meet as ever")
  func watcher() throws {
    let ada = try Watcher(founding: "Ada", on: network)
    let tarpit = try Tarpit()
    let forger = try forge(1500, for: ada, at: tarpit.port)
    defer { forger.stop() }
    try ada.start()
    #expect(ada.wait { tarpit.standing == 2 })
    let bob = try Watcher("Bob", certifiedBy: ada)
    try bob.start()
    #expect(ada.wait { ada.sessions?.lasting.count == 1 })
    try ada.write("still\n", to: "still.txt")
    #expect(bob.wait { (try? bob.text("still.txt")) == "still\n" })
    // Both of them have been at it now: two each.
    #expect(tarpit.most <= 4)
    // A command that asks the watcher to reach everybody waits for members alone.
    let settled = BlockingQueue<Bool>()
    ada.reachAll(settled)
    #expect(settled.take(until: .now + 30) == true)
    #expect(tarpit.most <= 4)
    bob.stop()
    ada.stop()
  }

  @Test("a run does not wait for them")
  func run() throws {
    let ada = try Watcher(founding: "Ada", on: network)
    let bob = try Watcher("Bob", certifiedBy: ada)
    try bob.write("b\n", to: "b.txt")
    let tarpit = try Tarpit()
    let forger = try forge(1500, for: ada, at: tarpit.port)
    defer { forger.stop() }
    try bob.start()
    var run = SyncRun(context: ada.context)
    run.discovery = InMemoryDiscovery(deviceID: ada.key.deviceID, network: network)
    // Bob's watcher is only starting; who waited for the tarpit would wait to the end.
    run.window = 160
    let start = TestSupport.Moment.now
    let outcome = try run.run()
    #expect(TestSupport.Moment.now - start < run.window)
    #expect(outcome.sessions.map(\.peer.name) == ["Bob"] && outcome.failures.isEmpty)
    #expect(try ada.text("b.txt") == "b\n" && tarpit.most <= 4)
    bob.stop()
  }
}

/// A port at which everybody is accepted, and nobody is ever told anything.
private final class Tarpit: Sendable {
  private let listener: Listener
  private let token: CancellationToken
  private let held = Mutex((sockets: [Socket](), most: 0))

  var port: UInt16 { listener.port }

  init() throws {
    listener = try Listener(at: Address(host: "127.0.0.1", port: 0))
    token = try CancellationToken()
    TestSupport.startThread { [self] in
      while let socket = try? listener.accept(cancellation: token) {
        held.withLock { held in
          held.sockets.removeAll { $0.isLeft }
          held.sockets.append(socket)
          held.most = max(held.most, held.sockets.count)
        }
      }
    }
  }

  deinit { token.cancel() }

  /// How many are there that have not given up.
  var standing: Int { held.withLock { $0.sockets.count { !$0.isLeft } } }

  /// How many there were at once, at most.
  var most: Int { held.withLock { $0.most } }
}

extension Socket {
  /// Whether the other end has closed: what it said before is read.
  fileprivate var isLeft: Bool {
    var bytes = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
      if count > 0 { continue }
      return count == 0 || (errno != EAGAIN && errno != EINTR)
    }
  }
}
