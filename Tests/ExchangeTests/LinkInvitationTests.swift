import Channel
import Git
import Glibc
import History
import Notebook
import State
import System
import TestSupport
import Testing

@testable import Exchange
@testable import Membership

/// notes-hub(7), "Invitations": two devices that meet at a hub alone.
@Suite("Invitations at a hub", .timeLimit(.minutes(5)))
struct LinkInvitationTests: LinkSuite {
  let scene: LinkScene

  init() throws { scene = try LinkScene() }

  @Test("the new device asks, an admin's visit lets it in, and what it wrote meanwhile arrives")
  func story() throws {
    let link = try #require(try InvitationLink(parsing: invite().text))
    #expect(link.hub == hub.path && link.inviter == "Ada" && link.role == .writer)
    let bob = try join("Bob", by: link)
    #expect(try folder.text("Bob/A.txt") == "one\n")
    #expect(try bob.isGuest && AskedAdmission(in: bob.notebook().stateFolder)?.role == .writer)
    try folder.write("by bob\n", to: "Bob/B.txt")
    _ = try bob.notebook().save()
    #expect(admitted(try bob.visit([hub.hub]).events).isEmpty)

    // An edit of the admin's own goes in the same visit: it does not keep it from looking.
    try ada.write("two\n", to: "A.txt")
    _ = try ada.notebook().save()
    #expect(admitted(try ada.visit(hub.hub).events) == ["Bob"])
    #expect(admitted(try ada.visit(hub.hub).events).isEmpty)

    #expect(admitted(try bob.visit([hub.hub]).events) == ["Bob"])
    #expect(bob.membership.role(ofDevice: bob.key.deviceID) == .writer)
    #expect(AskedAdmission(in: try bob.notebook().stateFolder) == nil)
    try ada.meet(hub)
    #expect(try ada.text("B.txt") == "by bob\n")
    #expect(try folder.text("Bob/A.txt") == "two\n")
  }

  // notes-hub(7), "Roles": "A removed device does neither. After it asks to join again by an invitation, it fetches."
  @Test(
    "a removed device that asks again is let in, and what it wrote meanwhile arrives",
    arguments: [false, true])
  func removedAsksAgain(isRefused: Bool) throws {
    let bob = try join("Bob", by: invite())
    try ada.meet(hub)
    #expect(admitted(try bob.visit([hub.hub]).events) == ["Bob"])
    let membership = ada.context.membership
    try membership.remove(devices: [bob.key.deviceID], by: ada.key)
    if isRefused {
      // A member in the network told it, which the hub does not know yet.
      bob.record(refusal: ChannelError.refusedByPeer(.removed))
    } else {
      try ada.meet(hub)
      _ = try bob.visit([hub.hub])
      #expect(throws: MembershipError.self) { try bob.visit([hub.hub]) }
      bob.record(refusal: ChannelError.refusedByPeer(.removed))
    }
    #expect(!bob.isGuest)
    try folder.write("by bob\n", to: "Bob/B.txt")
    _ = try bob.notebook().save()
    #expect(try LinkInvitation(bob, at: hub.hub).answer(invite().secret, name: "Bob"))
    #expect(bob.isGuest)
    #expect(admitted(try bob.visit([hub.hub]).events).isEmpty)
    #expect(admitted(try ada.visit(hub.hub).events) == ["Bob"])
    #expect(admitted(try bob.visit([hub.hub]).events) == ["Bob"])
    #expect(bob.membership.role(ofDevice: bob.key.deviceID) == .writer)
    try ada.meet(hub)
    #expect(try ada.text("B.txt") == "by bob\n")

    // Its request is no longer open when it is removed once more.
    try membership.remove(devices: [bob.key.deviceID], by: ada.key)
    try ada.meet(hub)
    _ = try bob.visit([hub.hub])
    #expect(throws: MembershipError.self) { try bob.visit([hub.hub]) }
  }

  @Test(
    "a request stays open until a visit after its expiry, which takes an answer that came in time",
    arguments: [(true, false), (false, false), (false, true)])
  func expiredRequest(isAnswered: Bool, isCancelled: Bool) throws {
    let bob = try join("Bob", by: invite())
    try ada.meet(hub)
    _ = try bob.visit([hub.hub])
    try ada.context.membership.remove(devices: [bob.key.deviceID], by: ada.key)
    try ada.meet(hub)
    _ = try bob.visit([hub.hub])
    let link = try invite()
    #expect(try LinkInvitation(bob, at: hub.hub).answer(link.secret, name: "Bob"))
    if isCancelled {
      let known = try KnownOffers(ada.notebook().stateFolder).all(in: ada.context.membership)
      let offer = try #require(known.first { $0.offer.id == link.secret.id }).offer
      #expect(try ada.context.membership.cancel(offer, by: ada.key))
    }
    if isAnswered || isCancelled { try ada.meet(hub) }
    let state = try bob.notebook().stateFolder
    let asked = try #require(AskedAdmission(in: state))
    let text = String(decoding: try readFile(state[.asked]), as: UTF8.self)
    let expired = text.replacing("\(asked.expires)", with: "1")
    try writeFile(state[.asked], Array(expired.utf8))
    #expect(bob.isGuest && AskedAdmission(in: state)?.isOpen == true)
    #expect(admitted(try bob.visit([hub.hub]).events) == (isAnswered ? ["Bob"] : []))
    if isAnswered { return #expect(AskedAdmission(in: state) == nil) }
    #expect(!bob.isGuest && AskedAdmission(in: state)?.end == .expired)
    #expect(throws: MembershipError.self) { try bob.visit([hub.hub]) }
  }

  @Test("any admin's device answers, not the inviter's alone")
  func otherAdmin() throws {
    let carl = try Device("Carl", certifiedBy: ada, as: .admin)
    try carl.meet(hub)
    let bob = try join("Bob", by: invite())
    #expect(admitted(try carl.visit(hub.hub).events) == ["Bob"])
    #expect(admitted(try bob.visit([hub.hub]).events) == ["Bob"])
    #expect(admitted(try ada.visit(hub.hub).events).isEmpty)
    let membership = ada.context.membership
    #expect(membership.role(ofDevice: bob.key.deviceID) == .writer)
    // Both are asked about when they are removed: who made the link, and who let the device in.
    let inviters = try KnownOffers(ada.notebook().stateFolder).inviters(in: membership)
    for admin in [ada.key, carl.key] {
      let invited = membership.invited(by: admin.deviceID, inviters: inviters)
      let one = try #require(invited.first { $0.member.deviceID == bob.key.deviceID })
      #expect(one.invitedBy == ada.key.deviceID && one.issuedBy == carl.key.deviceID)
      let deed = one.deed { $0 == ada.key.deviceID ? "Ada" : "Carl" }
      #expect(deed == "invited by Ada, let in by Carl")
    }
    #expect(membership.invited(by: carl.key.deviceID).map(\.invitedBy) == [nil])
  }

  // "A member cannot sign another's invitation as its own"
  @Test("a member that signs the offer of a used link is not taken for its maker")
  func takenOffer() throws {
    let link = try invite()
    let bob = try join("Bob", by: link)
    try ada.meet(hub)
    let eve = try Device("Eve", certifiedBy: ada)
    // An admin that visits first when the offer is replaced.
    let carl = try Device("Carl", certifiedBy: ada, as: .admin)
    let offers = KnownOffers(try ada.notebook().stateFolder)
    let offer = try #require(try offers.all(in: ada.context.membership).first).offer
    let lines = StateLines(parsing: offer.text)
    let text = ["notes-invitation", "notebook", "key", "role", "created", "expires"]
      .map { "\($0) \(lines[$0] ?? "")\n" }.joined()
    let signed = try SignedText(
      StateLines(parsing: Array(text.utf8)), for: .offer, by: eve.key)
    let forged = try #require(try InvitationOffer(parsing: signed.bytes))
    #expect(forged.id == offer.id && forged.inviterID == eve.key.deviceID)
    let commit = try HubFile.write(
      forged.text, as: "offer", "An invitation", to: eve.notebook().repository)
    let name = "refs/invitations/\(offer.id)/offer"
    try hub.git(["-C", eve.notes, "push", "-q", "--force", hub.path, "\(commit.hex):\(name)"])
    try carl.meet(hub)
    let membership = carl.context.membership
    #expect(membership.role(ofDevice: bob.key.deviceID) == .writer)
    let state = try carl.notebook().stateFolder
    #expect(try KnownOffers(state).inviters(in: membership).isEmpty)
    // A record from before this rule.
    try writeFile(state[.offers] + "/\(forged.id)", forged.text)
    #expect(try KnownOffers(state).inviters(in: membership).isEmpty)
    #expect(membership.invited(by: eve.key.deviceID, inviters: [:]).isEmpty)
  }

  @Test("a device that was renamed learns it at the hub, and its versions carry the new name")
  func renamed() throws {
    let bob = try join("Bob", by: invite())
    try ada.meet(hub)
    _ = try bob.visit([hub.hub])
    try ada.context.membership.reissue(device: bob.key.deviceID, name: "Robert", by: ada.key)
    try ada.context.membership.rename(notebook: "Our home", by: ada.key)
    try ada.meet(hub)
    _ = try bob.visit([hub.hub])
    let notebook = try bob.notebook()
    #expect(notebook.identity.device.name == "Robert" && notebook.identity.name == "Our home")
    try folder.write("by bob\n", to: "Bob/B.txt")
    _ = try notebook.save()
    let tip = try #require(try notebook.state().tip)
    #expect(try notebook.repository.commit(tip).author.name == "Robert")
  }

  @Test("a writer's device answers nobody")
  func writer() throws {
    let carl = try Device("Carl", certifiedBy: ada)
    _ = try join("Bob", by: invite())
    #expect(admitted(try carl.visit(hub.hub).events).isEmpty)
    #expect(throws: MembershipError.notAnAdmin(device: carl.key.deviceID)) {
      try LinkInvitation(carl.context, at: hub.hub).make(role: .writer, seconds: 3600)
    }
  }

  // "[...] that ended within the last day; it ignores older ones. [...] it reports each of the first 64 once."
  @Test("an invitation that ended long ago is not kept, and no device is reported twice")
  func reports() throws {
    let carl = try Device("Carl", certifiedBy: ada)
    let membership = ada.context.membership
    let offers = KnownOffers(try ada.notebook().stateFolder)
    func offer(_ seconds: Int64, by device: Device) throws -> InvitationOffer {
      try InvitationOffer(
        InvitationSecret(), to: membership, role: .writer, person: .own,
        expires: WallClock.now() + seconds, by: device.key)
    }
    for (seconds, isKept) in [(-86_500, false), (-86_000, true), (60, true)] as [(Int64, Bool)] {
      #expect(try (offers.keep(offer(seconds, by: carl), in: membership) != nil) == isKept)
    }
    #expect(try offers.keep(offer(-86_500, by: ada), in: membership) != nil)
    #expect(try offers.keep(offer(-31 * 86_400, by: ada), in: membership) == nil)
    for _ in 0..<14 { try offers.keep(offer(-1, by: carl), in: membership) }
    #expect(try offers.keep(offer(60, by: carl), in: membership) == nil)
    let one = try offer(60, by: ada)
    #expect(offers.isNews(["A", "B"], of: one) && offers.isNews(["A", "C"], of: one))
    for devices in [["B", "A"], ["A", "C"], ["B"]] { #expect(!offers.isNews(devices, of: one)) }
    for number in 0..<100 { _ = offers.isNews(["\(number)"], of: one) }
    #expect(!offers.isNews(["new"], of: one))
  }

  @Test("who learns at the hub that it is no admin any more answers nobody")
  func demoted() throws {
    let carl = try Device("Carl", certifiedBy: ada, as: .admin)
    try carl.meet(hub)
    _ = try join("Bob", by: invite())
    try ada.context.membership.reissue(device: carl.key.deviceID, role: .writer, by: ada.key)
    let list = try MemberList(of: ada.context.membership).write(to: ada.notebook().repository)
    try hub.git([
      "-C", ada.notes, "push", "-q", "--force", hub.path, "\(list.hex):\(MemberList.reference)",
    ])
    let (outcome, events) = try carl.visit(hub.hub)
    #expect(outcome.failures.isEmpty && admitted(events).isEmpty)
    #expect(admitted(try ada.visit(hub.hub).events) == ["Bob"])
  }

  @Test("a link that two devices answer lets neither in, and both are named once")
  func leaked() throws {
    let link = try invite()
    let bob = try join("Bob", by: link)
    #expect(try end(at: bob) == nil)
    _ = try join("Eve", by: link)
    #expect(try end(at: bob) == .shared)
    let events = try ada.visit(hub.hub).events
    #expect(admitted(events).isEmpty && shared(events).map(Set.init) == [["Bob", "Eve"]])
    #expect(shared(try ada.visit(hub.hub).events).isEmpty)
    #expect(ada.context.membership.members().count == 1)
    let known = try KnownOffers(ada.notebook().stateFolder).all(in: ada.context.membership)
    #expect(known.map(\.isShared) == [true] && known.map(\.status) == [.open])
  }

  @Test("a second device that answers a used link is refused; one that asks all the same is named")
  func usedTwice() throws {
    let link = try invite()
    _ = try join("Bob", by: link)
    try ada.meet(hub)
    #expect(throws: LinkError.used) { try join("Eve", by: link) }
    #expect(access(folder["Eve"], F_OK) != 0)
    // Eve's own program does not refuse.
    let eve = try DeviceKey.loadOrCreate(in: folder["eve"])
    let request = try AdmissionRequest(CertificateRequest(name: "Eve", key: eve), by: link.secret)
    let notebook = try ada.notebook()
    let commit = try HubFile.write(
      request.text, as: "request", "A request to join a notebook", to: notebook.repository)
    let reference = "refs/invitations/\(link.secret.id)/\(eve.deviceID)"
    try hub.git(["-C", ada.notes, "push", "-q", hub.path, "\(commit.hex):\(reference)"])
    let events = try ada.visit(hub.hub).events
    #expect(shared(events).map(Set.init) == [["Bob", "Eve"]] && admitted(events).isEmpty)
    #expect(ada.context.membership.role(ofDevice: eve.deviceID) == nil)
  }

  @Test(
    "a request under another device's name, or one of random bytes, lets nobody in and stops nothing"
  )
  func forged() throws {
    let link = try invite()
    let bob = try join("Bob", by: link)
    let mine = "refs/invitations/\(link.secret.id)/\(bob.key.deviceID)"
    let eve = try DeviceKey.loadOrCreate(in: folder["eve"])
    let folderOfLink = "refs/invitations/\(link.secret.id)"
    // The hub shows Bob's request as Eve's, and a branch as a request, and as an offer.
    for (name, target) in [
      ("\(folderOfLink)/\(eve.deviceID)", mine), ("\(folderOfLink)/zzz", "refs/heads/main"),
      ("refs/invitations/\(String(repeating: "0", count: 32))/offer", "refs/heads/main"),
      ("refs/invitations/\(String(repeating: "1", count: 32))/offer", "\(folderOfLink)/offer"),
    ] { try hub.git(["-C", hub.path, "update-ref", name, target]) }
    #expect(admitted(try ada.visit(hub.hub).events) == ["Bob"])
    #expect(ada.context.membership.members().count == 2)
  }

  @Test("what was cancelled or has expired lets nobody in, and goes from the hub")
  func over() throws {
    let link = try invite()
    let bob = try join("Bob", by: link)
    let offers = KnownOffers(try ada.notebook().stateFolder)
    let known = try #require(try offers.all(in: ada.context.membership).first)
    #expect(try ada.context.membership.cancel(known.offer, by: ada.key))
    #expect(try references().count == 2)
    #expect(admitted(try ada.visit(hub.hub).events).isEmpty)
    #expect(try references().isEmpty)
    #expect(try end(at: bob) == .cancelled && bob.isGuest)
    #expect(throws: LinkError.cancelled) { try join("Eve", by: link) }
    let other = try invite()
    let dora = try join("Dora", by: other)
    for reference in try references() {
      try hub.git(["-C", hub.path, "update-ref", "-d", reference])
    }
    #expect(try end(at: dora) == .missing)
    let short = try invite(seconds: -1)
    #expect(throws: LinkError.expired) { try join("Carl", by: short) }
    #expect(admitted(try ada.visit(hub.hub).events).isEmpty)
    #expect(try references().isEmpty)
  }

  @Test("a hub that withholds the request, or shows an old state, only delays")
  func withheld() throws {
    let link = try invite()
    let bob = try join("Bob", by: link)
    let reference = "refs/invitations/\(link.secret.id)/\(bob.key.deviceID)"
    let request = try hub.git(["-C", hub.path, "rev-parse", reference])
    try hub.git(["-C", hub.path, "update-ref", "-d", reference])
    #expect(admitted(try ada.visit(hub.hub).events).isEmpty)
    try hub.git(["-C", hub.path, "update-ref", reference, request])
    #expect(admitted(try ada.visit(hub.hub).events) == ["Bob"])
    // Shown again after Bob was removed, it opens nothing.
    try ada.context.membership.remove(devices: [bob.key.deviceID], by: ada.key)
    #expect(admitted(try ada.visit(hub.hub).events).isEmpty)
    #expect(ada.context.membership.role(ofDevice: bob.key.deviceID) == nil)
  }

  @Test("a link has no password, no character that a shell reads, and comes back as it was")
  func link() throws {
    let offer = try InvitationOffer(
      InvitationSecret(), to: ada.context.membership, role: .admin, expires: 1_900_000_000,
      by: ada.key)
    let secret = try InvitationSecret()
    for (hub, shown) in [
      ("https://u%3apw0189@example.org/ä b.git", "https://example.org/ä b.git"),
      ("https://u:pw0189@example.org/x.git", "https://example.org/x.git"),
      ("git@example.org:ada/notes.git", "git@example.org:ada/notes.git"),
      ("/media/stick/notes.git", "/media/stick/notes.git"),
    ] {
      let link = InvitationLink(offer, secret, inviter: "Ada's $(x) phone/ä", hub: hub)
      #expect(!link.text.contains("pw0189"))
      let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~%/:")
      #expect(link.text.allSatisfy(plain.contains))
      let read = try #require(try InvitationLink(parsing: " \(link.text)\n"))
      #expect(read.hub == shown && read.inviter == "Ada's $(x) phone/ä")
      #expect(read.secret.id == secret.id && read.role == .admin && read.expires == 1_900_000_000)
      for text in [
        String(link.text.dropLast(200)), "https" + link.text.dropFirst(5), link.text + "/",
      ] {
        #expect(try InvitationLink(parsing: text) == nil)
      }
    }
  }
}
