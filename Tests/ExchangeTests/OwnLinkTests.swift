import Channel
import Git
import Glibc
import History
import Notebook
import System
import TestSupport
import Testing

@testable import Exchange
@testable import Membership

/// notes-security(7), "Devices of one's own": invitations at a hub by members that are not admins.
@Suite("Invitations at a hub for devices of one's own", .timeLimit(.minutes(5)))
struct OwnLinkTests: LinkSuite {
  let scene: LinkScene

  init() throws { scene = try LinkScene() }

  @Test("a member's own other device is let in where the setting allows it, and else reported once")
  func ofMember() throws {
    let carl = try Device("Carl", certifiedBy: ada)
    try carl.meet(hub)
    let phone = try join("phone", by: inviteOwn(by: carl))
    let first = try ada.visit(hub.hub).events
    #expect(admitted(first).isEmpty && asked(first) == ["Carl: phone"])
    #expect(asked(try ada.visit(hub.hub).events).isEmpty)
    #expect(admitted(try phone.visit([hub.hub]).events).isEmpty && phone.isGuest)
    #expect(AskedAdmission(in: try phone.notebook().stateFolder)?.needsLeave == true)

    try OwnDevices.set("true", in: ada.notebook())
    #expect(admitted(try ada.visit(hub.hub).events) == ["Carl (phone)"])
    #expect(admitted(try phone.visit([hub.hub]).events) == ["Carl (phone)"])
    let member = try #require(ada.context.membership.member(ofDevice: phone.key.deviceID))
    #expect(member.role == .writer && member.person.id == carl.key.deviceID)

    var tablets: [SessionContext] = []
    for number in 3...Person.mostWithoutAdmin {
      tablets.append(try join("\(number)", by: inviteOwn(by: carl)))
      #expect(admitted(try ada.visit(hub.hub).events) == ["Carl (\(number))"])
    }
    _ = try join("ninth", by: inviteOwn(by: carl))
    let third = try ada.visit(hub.hub).events
    #expect(admitted(third).isEmpty && asked(third) == ["Carl: ninth"])
    let known = try KnownOffers(ada.notebook().stateFolder).all(in: ada.context.membership)
    #expect(known.count { $0.status == .open } == 1)
    try ada.context.membership.remove(devices: [carl.key.deviceID], by: ada.key)
    try ada.meet(hub)
    for tablet in tablets {
      // The admin knew of them, and kept them.
      #expect(ada.context.membership.role(ofDevice: tablet.key.deviceID) == .writer)
    }
    // Who asked is no member any more.
    let last = try ada.visit(hub.hub).events
    #expect(admitted(last).isEmpty && asked(last).isEmpty)
  }

  // notes-security(7), "Devices of one's own": "A removed device does not come back in this way".
  @Test(
    "a removed device cannot ask by a member's invitation, and one that was let in learns of its removal"
  )
  func removed() throws {
    let carl = try Device("Carl", certifiedBy: ada)
    try carl.meet(hub)
    try OwnDevices.set("true", in: ada.notebook())
    let phone = try join("phone", by: inviteOwn(by: carl))
    #expect(admitted(try ada.visit(hub.hub).events) == ["Carl (phone)"])
    try ada.context.membership.remove(devices: [phone.key.deviceID], by: ada.key)
    try ada.meet(hub)
    // It was never told that it was a member.
    #expect(phone.isGuest)
    _ = try? phone.visit([hub.hub])
    #expect(try !phone.isGuest && AskedAdmission(in: phone.notebook().stateFolder) == nil)
    try carl.meet(hub)
    let again = try inviteOwn(by: carl)
    #expect(throws: LinkError.void) {
      try LinkInvitation(phone, at: hub.hub).answer(again.secret, name: "phone")
    }
    // A request that it makes all the same is neither answered nor told.
    let request = try AdmissionRequest(
      CertificateRequest(name: "phone", key: phone.key), by: again.secret)
    let offer = try #require(
      try KnownOffers(carl.notebook().stateFolder).all(in: carl.context.membership).first
    ).offer
    #expect(ada.context.membership.refusesReturn(ofDevice: phone.key.deviceID, by: offer))
    var events: [Event] = []
    try ada.context.answer(
      AdmissionFile(request, to: offer),
      from: PeerIdentity(name: "Carl", deviceID: carl.key.deviceID, role: .writer, address: ""),
      KnownOffers(ada.notebook().stateFolder), isLetIn: true
    ) { events.append($0) }
    #expect(events.isEmpty)
  }

  // notes-security(7), "Devices of one's own": "If the signer becomes an admin, this stays a
  // member's request".
  @Test("what a member asked for needs a yes also after the member became an admin")
  func promoted() throws {
    let carl = try Device("Carl", certifiedBy: ada)
    try carl.meet(hub)
    let (first, second) = (try inviteOwn(by: carl), try inviteOwn(by: carl))
    let phone = try join("phone", by: first)
    #expect(try asked(ada.visit(hub.hub).events) == ["Carl: phone"])
    try ada.context.membership.reissue(device: carl.key.deviceID, role: .admin, by: ada.key)
    let tablet = try join("tablet", by: second)
    let after = try ada.visit(hub.hub).events
    #expect(admitted(after).isEmpty && asked(after) == ["Carl: tablet"])
    // Nor does its own device let them in unasked.
    #expect(admitted(try carl.visit(hub.hub).events).isEmpty)
    #expect(carl.context.membership.role(ofDevice: carl.key.deviceID) == .admin)
    #expect(admitted(try carl.visit(hub.hub).events).isEmpty)
    let known = try KnownOffers(carl.notebook().stateFolder).all(in: carl.context.membership)
    #expect(
      Set(known.compactMap { $0.request?.request.deviceID })
        == [phone.key.deviceID, tablet.key.deviceID])
    // It is an admin's device, so it cancels for all admins.
    #expect(known.allSatisfy { !OfferCancellation(by: carl.context).withdraws($0.offer) })
    let request = try #require(known.compactMap(\.request).first)
    let member = try request.admit(by: carl.context, of: carl.notebook())
    #expect(member.role == .writer && member.person.id == carl.key.deviceID)
  }

  // notes-security(7), "Devices of one's own": "If a second device asks by the same invitation, the person can let in
  // neither."
  @Test("a request is kept for a person's answer, and a second device's makes it void")
  func kept() throws {
    let carl = try Device("Carl", certifiedBy: ada)
    let secret = try InvitationSecret()
    let offer = try InvitationOffer(
      secret, to: carl.context.membership, role: .writer, person: .own,
      expires: WallClock.now() + 600, by: carl.key)
    let known = KnownOffers(try ada.notebook().stateFolder)
    func request(_ name: String) throws -> AdmissionFile {
      let key = try DeviceKey.random()
      return AdmissionFile(
        try AdmissionRequest(CertificateRequest(name: name, key: key), by: secret), to: offer)
    }
    func listed() throws -> String? {
      try known.all(in: ada.context.membership).first?.request?.request.deviceID
    }
    let (phone, eve) = (try request("phone"), try request("eve"))
    // Nothing is kept of an invitation that is not.
    #expect(try known.keep(phone) == nil)
    #expect(try known.all(in: ada.context.membership).isEmpty)
    try #require(try known.keep(offer, in: ada.context.membership) != nil)
    var events: [Event] = []
    let peer = PeerIdentity(name: "Carl", deviceID: carl.key.deviceID, role: .writer, address: "")
    for _ in 0..<2 {
      try ada.context.answer(phone, from: peer, known, isLetIn: false) { events.append($0) }
    }
    #expect(try events.count == 1 && listed() == phone.request.deviceID)
    for _ in 0..<2 {
      try ada.context.answer(eve, from: peer, known, isLetIn: false) { events.append($0) }
    }
    guard case .linkShared(_, _, _, false, _) = events.last else {
      return #expect(Bool(false), "\(events)")
    }
    #expect(try events.count == 2 && listed() == nil)
    // A withdrawn invitation's request is not listed either.
    let last = try InvitationOffer(
      InvitationSecret(), to: carl.context.membership, role: .writer, person: .own,
      expires: WallClock.now() + 600, by: carl.key)
    try #require(try known.keep(last.withdrawn(by: carl.key), in: ada.context.membership) != nil)
    #expect(try known.all(in: ada.context.membership).allSatisfy { $0.request == nil })
  }

  @Test("open invitations of a member beyond four are neither kept nor answered")
  func manyOfMember() throws {
    let carl = try Device("Carl", certifiedBy: ada)
    try carl.meet(hub)
    try OwnDevices.set("true", in: ada.notebook())
    let links = try (0..<6).map { _ in try inviteOwn(by: carl) }
    try ada.meet(hub)
    let offers = KnownOffers(try ada.notebook().stateFolder)
    let known = Set(try offers.all(in: ada.context.membership).map { "\($0.offer.id)" })
    #expect(known.count == 4)
    // The invitations of others are answered all the same.
    let bob = try join("Bob", by: invite())
    for (number, link) in links.enumerated() { _ = try join("tablet \(number)", by: link) }
    #expect(admitted(try ada.visit(hub.hub).events).contains("Bob"))
    #expect(ada.context.membership.role(ofDevice: bob.key.deviceID) == .writer)
  }

  // "A device that has a withdrawal never answers the invitation, whatever a hub shows or a file says later."
  @Test("a member withdraws its own invitation, and nobody puts it back")
  func withdrawn() throws {
    let carl = try Device("Carl", certifiedBy: ada)
    let other = try Device("Dora", certifiedBy: ada, as: .admin)
    for device in [carl, other] { try device.meet(hub) }
    for device in [ada, other] { try OwnDevices.set("true", in: device.notebook()) }
    let link = try inviteOwn(by: carl)
    let name = "refs/invitations/\(link.secret.id)/offer"
    let before = try hub.git(["-C", hub.path, "rev-parse", name])
    let phone = try join("phone", by: link)
    let kept = KnownOffers(try carl.notebook().stateFolder)
    let known = try #require(try kept.all(in: carl.context.membership).first)
    let cancellation = OfferCancellation(by: carl.context)
    #expect(cancellation.isPossible(for: known) && cancellation.withdraws(known.offer))
    #expect(try cancellation.cancel(known.offer, at: [hub.hub]))
    #expect(throws: LinkError.cancelled) { try join("Eve", by: link) }
    for device in [ada, other] {
      #expect(admitted(try device.visit(hub.hub).events).isEmpty)
      #expect(try references() == [name])
    }
    #expect(try end(at: phone) == .cancelled)
    // The former offer and the request are put back.
    try hub.git(["-C", hub.path, "update-ref", name, before])
    let request = try AdmissionRequest(
      CertificateRequest(name: "phone", key: phone.key), by: link.secret)
    let notebook = try carl.notebook()
    let commit = try HubFile.write(
      request.text, as: "request", "A request to join a notebook", to: notebook.repository)
    let asked = "refs/invitations/\(link.secret.id)/\(phone.key.deviceID)"
    try hub.git(["-C", carl.notes, "push", "-q", hub.path, "\(commit.hex):\(asked)"])
    for device in [ada, other] { #expect(admitted(try device.visit(hub.hub).events).isEmpty) }
    // They remove the offer that was put back.
    #expect(try end(at: phone) == .missing)
    #expect(ada.context.membership.role(ofDevice: phone.key.deviceID) == nil)
    let file = AdmissionFile(request, to: known.offer)
    #expect(throws: LinkError.cancelled) {
      try file.demandOpen(in: ada.context.membership, of: ada.notebook())
    }
    // It may tell the hubs again, and nobody else withdraws for it.
    let again = try #require(try kept.all(in: carl.context.membership).first)
    #expect(again.status == .cancelled && cancellation.isPossible(for: again))
    #expect(!OfferCancellation(by: ada.context).withdraws(known.offer))
    #expect(throws: MembershipError.self) { try known.offer.withdrawn(by: ada.key) }
  }
}
