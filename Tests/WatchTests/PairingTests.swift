import Channel
import Discovery
import Logging
import Notebook
import State
import Synchronization
import TestSupport
import Testing

@testable import Exchange
@testable import Membership
@testable import Watch

/// notes-protocol(7), PAIRING, over real TLS on loopback.
@Suite("Pairing by a code", .timeLimit(.minutes(20)))
struct PairingTests {
  let ada: Host
  let bob: Guest

  init() throws {
    ada = try Host()
    bob = try Guest()
    try ada.folder.write("from Ada\n", to: "notes/ada.txt")
    _ = try Notebook.open(at: ada.folder["notes"]).save()
  }

  private func isJoined(_ event: Event) -> Bool {
    if case .joined = event { true } else { false }
  }

  private func isFree(_ path: String) throws -> Bool {
    try run(["ls", "-A", path]).isSuccess == false
  }

  /// Another code with the same locator.
  private func wrong(_ code: InvitationCode) throws -> InvitationCode {
    while true {
      let other = try InvitationCode.random().description.dropFirst(2)
      if let wrong = InvitationCode(parsing: code.locator + other), wrong != code { return wrong }
    }
  }

  private func expectWrongCode(_ code: InvitationCode, _ port: UInt16) throws {
    #expect {
      try bob.joining(code, port: port).run { _ in true }
    } throws: {
      if case SyncError.wrongCode = $0 { true } else { false }
    }
  }

  private func expectClosed(_ code: InvitationCode, _ port: UInt16) throws {
    #expect(throws: ChannelError.invitationUnknown) {
      try bob.joining(code, port: port).run { _ in true }
    }
    #expect(try isFree(bob.notes))
  }

  @Test("accepted: the device is a member, gets everything, and the invitation is over")
  func accepted() throws {
    let invitation = try Invitation(role: .writer)
    try ada.service.open(invitation)
    let port = try ada.start(until: invitation)
    try bob.folder.write("from Bob\n", to: "notes/bob.txt")
    var shown: PairingOffer?
    let joined = try bob.joining(invitation.code, port: port).run {
      shown = $0
      return true
    }
    let offer = try #require(shown)
    #expect(offer.notebookName == "Home" && offer.inviter == "Ada" && offer.role == .writer)
    #expect(offer.notes == 1 && offer.bytes == 9)
    #expect(offer.expires == invitation.expires)
    var first = SyncRun(context: joined.context)
    first.addresses = [joined.address]
    let outcome = try first.run()
    #expect(outcome.sessions.map(\.isInSync) == [true])
    #expect(try bob.folder.text("notes/ada.txt") == "from Ada\n")
    #expect(try ada.folder.text("notes/bob.txt") == "from Bob\n")
    #expect(try ada.tip() == bob.tip())
    #expect(ada.context.membership.role(ofDevice: bob.key.deviceID) == .writer)
    // The service was to end with the invitation, after the first session.
    try ada.wait()
    #expect(ada.events.all.contains { isJoined($0) })
    #expect(invitation.end == .used)
  }

  // notes-protocol(7), "Exchanging versions": "A busy side sends working every 2 s. It does so while it [...]
  // issues [...] certificates".
  @Test("an inviter that others keep waiting for the list of members says that it is busy")
  func working() throws {
    let invitation = try Invitation(role: .writer)
    try ada.service.open(invitation)
    let port = try ada.start()
    let identity = try PairingIdentity(locator: invitation.code.locator)
    let connection = try Connection.connect(
      to: [Address(host: "127.0.0.1", port: port)],
      pairing: PairingCredentials(
        identity: identity.bytes, preSharedKey: try invitation.code.preSharedKey(for: identity)),
      deadline: .after(seconds: 60))
    let stream = MessageStream(connection: connection, timeouts: .standard)
    _ = try stream.receive(PairingOffer.self)
    let request = try CertificateRequest(name: "Bob", key: bob.key)
    try ada.context.membership.changing.withLock { _ in
      try stream.send(AcceptMessage(name: "Bob", request: Base64(request.der)))
      let frame = try connection.receive(deadline: .after(seconds: 60))
      #expect(frame.type == MessageType.working.rawValue)
    }
    _ = try stream.receive(CertificateMessage.self)
    try stream.send(InstalledMessage())
    #expect(ada.events.next { isJoined($0) } != nil)
    #expect(invitation.end == .used)
    stream.close(.done)
  }

  @Test("declined: nothing is changed on either side, and the invitation stays open")
  func declined() throws {
    let invitation = try Invitation(role: .reader)
    try ada.service.open(invitation)
    let port = try ada.start()
    #expect {
      try bob.joining(invitation.code, port: port).run { _ in false }
    } throws: {
      if case SyncError.declined = $0 { true } else { false }
    }
    #expect(ada.events.next { if case .declined = $0 { true } else { false } } != nil)
    #expect(try isFree(bob.notes))
    #expect(ada.context.membership.role(ofDevice: bob.key.deviceID) == nil)
    let book = InvitationBook(stateFolder: StateFolder(ofNotebookIn: ada.context.folder))
    #expect(book.open().map(\.state) == [.declined])
    _ = try bob.joining(invitation.code, port: port).run { _ in true }
    #expect(ada.context.membership.role(ofDevice: bob.key.deviceID) == .reader)
  }

  // notes-security(7), STARTING OVER.
  @Test("begun anew, the notebook is joined again in its own folder, and history goes on")
  func renewal() throws {
    let first = try Invitation(role: .admin)
    try ada.service.open(first)
    let port = try ada.start(until: first)
    let joined = try bob.joining(first.code, port: port).run { _ in true }
    var run = SyncRun(context: joined.context)
    run.addresses = [joined.address]
    #expect(try run.run().sessions.map(\.isInSync) == [true])
    try ada.wait()
    let formerID = joined.context.membership.notebookID

    // Ada's device is stolen: Bob begins anew, and Cleo's old device, a copy of what Ada had, joins.
    let renewed = try MembershipStore.renew(
      in: bob.notes + "/.git/notes/membership", deviceName: "Bob", key: bob.key)
    let notebook = try Notebook.open(at: bob.notes)
    _ = try Notebook.adopt(
      at: bob.notes,
      as: NotebookIdentity(
        id: renewed.notebookID, name: "Home", device: notebook.identity.device))
    let context = SessionContext(
      folder: bob.notes, key: bob.key, membership: renewed, timeouts: .brief)
    let host = try Host(serving: context)
    let second = try Invitation(role: .writer)
    try host.service.open(second)
    let newPort = try host.start(until: second)
    try ada.folder.write("while away\n", to: "notes/away.txt")
    var shown: PairingOffer?
    var joining = PairingClient(code: second.code, name: "Ada", key: ada.key) {
      [folder = ada.folder["notes"]] _ in folder
    }
    joining.addresses = [Address(host: "127.0.0.1", port: newPort)]
    joining.timeouts = .brief
    let again = try joining.run {
      shown = $0
      return true
    }
    #expect(shown?.renewal == .proved(by: "Bob") && shown?.formerly == [formerID])
    #expect(again.context.membership.notebookID == renewed.notebookID)
    #expect(try Notebook.open(at: ada.folder["notes"]).identity.id == renewed.notebookID)
    var last = SyncRun(context: again.context)
    last.addresses = [again.address]
    #expect(try last.run().sessions.map(\.isInSync) == [true])
    #expect(try bob.folder.text("notes/away.txt") == "while away\n")
    #expect(try ada.tip() == bob.tip())
    try host.wait()
  }

  // "An invitation ends … with the third wrong attempt, counted over all addresses."
  @Test("three wrong codes end it, for the right code too; members are served on")
  func wrongCodes() throws {
    let invitation = try Invitation(role: .writer)
    let other = try Invitation(role: .writer, avoiding: [invitation.code.locator])
    try ada.service.open(invitation)
    try ada.service.open(other)
    let port = try ada.start()
    for left in [2, 1, 0] {
      try expectWrongCode(wrong(invitation.code), port)
      let event = ada.events.next { if case .wrongCode = $0 { true } else { false } }
      guard case .wrongCode(let tried, _, let attemptsLeft)? = event else {
        Issue.record("no event")
        return
      }
      #expect(tried == invitation.code.locator && attemptsLeft == left)
    }
    #expect(
      ada.events.next { if case .ended(_, .exhausted) = $0 { true } else { false } } != nil)
    try expectClosed(invitation.code, port)
    _ = try bob.joining(other.code, port: port).run { _ in true }
    #expect(ada.context.membership.role(ofDevice: bob.key.deviceID) == .writer)
  }

  @Test("used once, it lets nobody else in")
  func usedTwice() throws {
    let invitation = try Invitation(role: .writer)
    try ada.service.open(invitation)
    let port = try ada.start()
    _ = try bob.joining(invitation.code, port: port).run { _ in true }
    #expect(ada.events.next(where: isJoined) != nil)
    let cleo = try Guest("Cleo")
    #expect(throws: ChannelError.invitationUnknown) {
      try cleo.joining(invitation.code, port: port).run { _ in true }
    }
    #expect(try isFree(cleo.notes))
  }

  @Test("expired, before the code is used and while the offer is looked at")
  func expired() throws {
    let invitation = try Invitation(role: .writer, lifetime: 1)
    try ada.service.open(invitation)
    let port = try ada.start()
    #expect {
      try bob.joining(invitation.code, port: port).run { _ in
        _ = ada.events.next { if case .ended(_, .expired) = $0 { true } else { false } }
        return true
      }
    } throws: {
      switch $0 {
      // On a busy machine the second is over before the code arrives.
      case SyncError.invitationExpired, ChannelError.invitationUnknown, SyncError.interrupted: true
      default: false
      }
    }
    try expectClosed(invitation.code, port)
    #expect(ada.context.membership.role(ofDevice: bob.key.deviceID) == nil)
  }

  @Test("found by its locator, on the network, among others")
  func found() throws {
    let network = InMemoryNetwork()
    let hosts = try [Host("Ada", network: network), Host("Eve", network: network)]
    let first = try Invitation(role: .writer)
    let second = try Invitation(role: .writer, avoiding: [first.code.locator])
    try hosts[0].service.open(first)
    try hosts[1].service.open(second)
    for host in hosts {
      try host.start()
      #expect(host.events.next { if case .invitation = $0 { true } else { false } } != nil)
    }
    var joining = PairingClient(code: second.code, name: bob.name, key: bob.key) {
      [folder = bob.notes] _ in folder
    }
    joining.discovery = InMemoryDiscovery(deviceID: bob.key.deviceID, network: network)
    let joined = try joining.run { _ in true }
    #expect(joined.offer.inviter == "Eve")
    // Nobody announces this one.
    let third = try Invitation(
      role: .writer, avoiding: [first.code.locator, second.code.locator])
    let cleo = try Guest("Cleo")
    var searching = PairingClient(code: third.code, name: "Cleo", key: cleo.key) {
      [folder = cleo.notes] _ in folder
    }
    searching.discovery = InMemoryDiscovery(deviceID: cleo.key.deviceID, network: network)
    searching.window = 0.2
    // The device announced it, and after three wrong codes does not listen any more.
    let ended = try cleo.joining(third.code, port: LoopbackPort.free())
    for joining in [searching, ended] {
      #expect {
        try joining.run { _ in true }
      } throws: {
        if case SyncError.inviterNotFound = $0 { true } else { false }
      }
    }
  }

  @Test("a folder that is another notebook is left alone")
  func occupied() throws {
    let invitation = try Invitation(role: .writer)
    try ada.service.open(invitation)
    let port = try ada.start()
    let eve = try Host("Eve")
    var joining = PairingClient(code: invitation.code, name: "Eve", key: eve.key) {
      [folder = eve.folder["notes"]] _ in folder
    }
    joining.addresses = [Address(host: "127.0.0.1", port: port)]
    #expect {
      try joining.run { _ in true }
    } throws: {
      if case SyncError.alreadyANotebook = $0 { true } else { false }
    }
    #expect(ada.context.membership.role(ofDevice: eve.key.deviceID) == nil)
  }

  @Test("what a joining left in a repository when it was broken off is in nobody's way")
  func brokenOffElsewhere() throws {
    let eve = try Host("Eve")
    let state = try Notebook.prepare(at: bob.notes)
    let left = eve.context.membership
    _ = try MembershipStore.install(
      in: state[.membership], root: left.root, certificates: left.certificates, revocations: [])
    let invitation = try Invitation(role: .writer)
    try ada.service.open(invitation)
    let joined = try bob.joining(invitation.code, port: try ada.start()).run { _ in true }
    #expect(joined.context.membership.notebookID == ada.context.membership.notebookID)
    #expect(try Notebook.open(at: bob.notes).identity.id == ada.context.membership.notebookID)
  }

  @Test("only admins may invite")
  func onlyAdmins() throws {
    let invitation = try Invitation(role: .writer)
    try ada.service.open(invitation)
    let port = try ada.start()
    let joined = try bob.joining(invitation.code, port: port).run { _ in true }
    let service = try Service(
      contexts: [joined.context], discovery: nil, logger: .init(label: "notes"))
    #expect(throws: MembershipError.notAnAdmin(device: bob.key.deviceID)) {
      try service.open(Invitation(role: .reader))
    }
  }
}
