import Channel
import Discovery
import Logging
import Membership
import Notebook
import TestSupport
import Testing

@testable import Exchange
@testable import Watch

/// A service meets those who have no business there, and goes on serving.
@Suite("The service", .timeLimit(.minutes(20)))
struct ServiceTests {
  let ada: Host
  let bob: Guest
  let port: UInt16
  let member: SessionContext

  init() throws {
    ada = try Host()
    bob = try Guest()
    try ada.folder.write("secret text\n", to: "notes/ada.txt")
    let invitation = try Invitation(role: .writer)
    try ada.service.open(invitation)
    port = try ada.start()
    member = try bob.joining(invitation.code, port: port).run { _ in true }.context
  }

  private func expectStillServing() throws {
    var run = SyncRun(context: member)
    run.addresses = [Address(host: "127.0.0.1", port: port)]
    let outcome = try run.run()
    #expect(outcome.sessions.map(\.isInSync) == [true])
    #expect(outcome.failures.map { "\($0)" } == [])
    #expect(try ada.tip() == bob.tip())
  }

  /// The one line that a refusal leaves in the log.
  private func refusal() -> String? {
    guard
      ada.events.next(where: {
        if case .failed(let failure) = $0 { failure.peer == nil } else { false }
      }) != nil
    else { return nil }
    return ada.lines.all.last { $0.hasPrefix("warning: 127.0.0.1:") }
  }

  @Test("serves members, and logs neither text nor code")
  func serves() throws {
    try expectStillServing()
    try bob.folder.write("by Bob\n", to: "notes/bob.txt")
    try expectStillServing()
    #expect(try ada.folder.text("notes/bob.txt") == "by Bob\n")
    #expect(
      ada.events.next {
        if case .received(let peer, _, _) = $0 { peer.name == "Bob" } else { false }
      } != nil)
    let log = ada.lines.all.joined(separator: "\n")
    #expect(!log.contains("secret text") && !log.contains("by Bob"))
    #expect(log.contains("received from Bob"))
  }

  @Test("says once that discovery does not work, however much there is to announce")
  func discoveryIsDown() throws {
    let network = InMemoryNetwork()
    network.isReachable = false
    let cleo = try Host("Cleo", network: network)
    try cleo.start()
    try cleo.service.open(Invitation(role: .writer))
    try #require(
      cleo.events.wait { $0.contains { if case .invitation = $0 { true } else { false } } })
    #expect(cleo.events.all.count(where: \.isComplaint) == 1)
  }

  @Test("says again that discovery does not work when it has worked meanwhile")
  func discoveryIsDownAgain() throws {
    let network = InMemoryNetwork()
    network.isReachable = false
    let cleo = try Watcher(founding: "Cleo", on: network)
    let dora = try Watcher("Dora", certifiedBy: cleo)
    try cleo.start()
    #expect(cleo.events.wait { $0.count(where: \.isComplaint) == 1 })
    try dora.start()
    network.isReachable = true
    let isMet = cleo.events.wait {
      $0.contains { if case .connected = $0 { true } else { false } }
    }
    #expect(isMet)
    network.isReachable = false
    #expect(cleo.events.wait { $0.count(where: \.isComplaint) == 2 })
  }

  @Test("refuses a stranger's certificate")
  func stranger() throws {
    let eve = try Host("Eve")
    let own = try eve.context.credentials()
    let chain = try eve.context.membership.chain(for: eve.key)
    // She names Ada's notebook, and knows its root.
    let credentials = MemberCredentials(
      notebookID: ada.context.membership.notebookID, root: ada.context.membership.root,
      chain: chain, privateKey: eve.key.privateKey, verify: { _ in .accepted })
    _ = own
    let address = Address(host: "127.0.0.1", port: port)
    #expect(throws: (any Error).self) {
      let connection = try Connection.connect(
        to: [address], as: credentials, deadline: .after(seconds: 20))
      _ = try connection.receive(deadline: .after(seconds: 20))
    }
    #expect(refusal() != nil)
    try expectStillServing()
  }

  @Test("refuses TLS 1.2")
  func oldTLS() throws {
    _ = try run(
      ["openssl", "s_client", "-connect", "127.0.0.1:\(port)", "-tls1_2"], input: [], within: 80)
    #expect(refusal()?.contains("TLS") == true)
    try expectStillServing()
  }

  @Test("refuses plain text")
  func plainText() throws {
    _ = try run(
      [
        "bash", "-c",
        "exec 3<>/dev/tcp/127.0.0.1/\(port); printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3; cat <&3",
      ], within: 80)
    #expect(refusal()?.contains("not notes") == true)
    try expectStillServing()
  }

  @Test("gives up on silence, and on somebody who says nothing after the handshake")
  func silence() throws {
    let silent = try RunningProcess(
      ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/\(port); echo there; cat <&3"])
    _ = try silent.line { $0 == "there" }
    try expectStillServing()
    #expect(refusal()?.contains("in time") == true)
    try silent.wait()
  }

  @Test("takes at most 16 connections from one address")
  func crowd() throws {
    let crowd = try RunningProcess([
      "bash", "-c",
      "for i in $(seq 10 49); do eval \"exec $i<>/dev/tcp/127.0.0.1/\(port)\"; done; "
        + "echo there; cat <&49; sleep 30",
    ])
    _ = try crowd.line { $0 == "there" }
    #expect(
      ada.events.next {
        guard case .failed(let failure) = $0, case SyncError.overLimit = failure.error else {
          return false
        }
        return true
      } != nil)
    crowd.send(9)
    // Of so many strangers only some are told.
    #expect(
      ada.events.wait { events in
        events.count { if case .failed = $0 { true } else { false } } >= 20
      })
    try expectStillServing()
  }

  // All devices that are there end on one tip, although only one of them runs a sync.
  @Test("news goes on to devices that were synchronised with before it")
  func relay() throws {
    let network = InMemoryNetwork()
    let hub = try Host("Ada", network: network)
    let invitations = try [Invitation(role: .admin), Invitation(role: .writer)]
    var contexts: [SessionContext] = []
    let port = try hub.start()
    let guests = try [Guest("Bob"), Guest("Cleo")]
    for (invitation, guest) in zip(invitations, guests) {
      try hub.service.open(invitation)
      #expect(hub.events.next { if case .invitation = $0 { true } else { false } } != nil)
      contexts.append(
        try guest.joining(invitation.code, port: port).run { _ in true }.context)
      try guest.folder.write("by \(guest.name)\n", to: "notes/\(guest.name).txt")
    }
    try hub.folder.write("by Ada\n", to: "notes/Ada.txt")
    // Bob serves too; Cleo, whom he has never heard of, meets both.
    let token = try CancellationToken()
    let serving = try Service(
      contexts: [contexts[0]],
      discovery: InMemoryDiscovery(deviceID: guests[0].key.deviceID, network: network),
      listen: Address(host: "127.0.0.1", port: 0), logger: .init(label: "notes"))
    let ready = EventLog<Bool>()
    let ended = BlockingQueue<Bool>()
    try Exchange.startThread {
      try? serving.run(cancellation: token) { event in
        if case .listening = event { ready.append(true) }
      }
      ended.put(true)
    }
    #expect(ready.next() != nil)
    for _ in 0..<2 {
      var run = SyncRun(context: contexts[1])
      run.discovery = InMemoryDiscovery(deviceID: guests[1].key.deviceID, network: network)
      let outcome = try run.run()
      #expect(outcome.failures.map { "\($0)" } == [])
      #expect(Set(outcome.sessions.map(\.peer.name)) == ["Ada", "Bob"])
      #expect(outcome.sessions.allSatisfy { $0.isInSync })
      let tips = try [hub.tip(), guests[0].tip(), guests[1].tip()]
      #expect(Set(tips).count == 1)
      try hub.folder.write("again\n", to: "notes/Ada.txt")
      try guests[0].folder.write("again\n", to: "notes/Bob.txt")
    }
    token.cancel()
    _ = ended.take(until: .now + 10)
  }
}

extension Event {
  /// Whether it says that discovery does not work.
  fileprivate var isComplaint: Bool { if case .discoveryFailed = self { true } else { false } }
}
