import TestSupport
import Testing

@testable import Membership

/// notes-security(7), "Invitations by a link".
@Suite("Invitations by a link")
struct InvitationOfferTests {
  let family: Family
  let secret: InvitationSecret
  let offer: InvitationOffer
  let now = Family.start + 10

  init() throws {
    family = try Family()
    secret = try InvitationSecret()
    offer = try InvitationOffer(
      secret, to: family.store, role: .writer, expires: Family.start + 1000, by: family.founder,
      now: now)
  }

  private func request(_ name: String = "phone", key: DeviceKey? = nil) throws -> AdmissionRequest {
    try AdmissionRequest(
      CertificateRequest(name: name, key: key ?? DeviceKey.random()), by: secret)
  }

  @Test("a secret, an offer and a request come back from their texts as they were")
  func texts() throws {
    #expect(try InvitationSecret(text: secret.text)?.id == secret.id)
    #expect(secret.text.utf8.count == 32 && !"\(secret)".contains(secret.text))
    let read = try #require(try InvitationOffer(parsing: offer.text))
    #expect(read.id == secret.id && read.role == .writer && read.expires == offer.expires)
    #expect(read.inviterID == family.founder.deviceID && read.text == offer.text)
    let asked = try request()
    #expect(try AdmissionRequest(parsing: asked.text, to: offer)?.deviceID == asked.deviceID)
    for text in [
      "", "x", secret.text + "a", secret.text.uppercased(), String(secret.text.dropLast()),
    ] {
      #expect(try InvitationSecret(text: text) == nil)
    }
  }

  @Test("one changed byte, at whatever place, makes an offer or a request count for nothing")
  func changed() throws {
    let asked = try request()
    for position in offer.text.indices {
      var text = offer.text
      text[position] ^= 1
      #expect(try InvitationOffer(parsing: text) == nil, "\(position)")
    }
    for position in asked.text.indices {
      var text = asked.text
      text[position] ^= 1
      #expect(try AdmissionRequest(parsing: text, to: offer) == nil, "\(position)")
    }
  }

  @Test(
    "only who holds the secret makes a request that counts; a signature for one purpose counts for no other"
  )
  func guessed() throws {
    let other = try InvitationSecret()
    let stranger = try AdmissionRequest(
      CertificateRequest(name: "phone", key: .random()), by: other)
    #expect(try AdmissionRequest(parsing: stranger.text, to: offer) == nil)
    #expect(try AdmissionRequest(parsing: offer.text, to: offer) == nil)
    #expect(try InvitationOffer(parsing: request().text) == nil)
    let lines = Array("tree x\n".utf8)
    let version = try VersionSignature(over: lines, by: family.founder)
    #expect(VersionSignature(armored: version.armored, for: .offer) == nil)
  }

  @Test(
    "the certificate has the invitation's ID as its serial number, and no second device gets one")
  func used() throws {
    let phone = try request()
    let member = try #require(
      try family.store.admit(phone, to: offer, by: family.founder, now: now))
    #expect(member.role == .writer && member.name == "phone" && member.serial == "\(offer.id)")
    #expect(family.store.status(of: offer, now: now) == .used(by: [phone.deviceID]))
    #expect(
      try family.store.admit(request("tablet"), to: offer, by: family.founder, now: now) == nil)
    #expect(try family.store.admit(phone, to: offer, by: family.founder, now: now) == nil)
  }

  @Test(
    "a device that was removed does not come back by the same request, however often it is shown")
  func replayed() throws {
    let phone = try request()
    _ = try family.store.admit(phone, to: offer, by: family.founder, now: now)
    try family.store.remove(devices: [phone.deviceID], by: family.founder, now: now + 1)
    #expect(try family.store.admit(phone, to: offer, by: family.founder, now: now + 2) == nil)
    #expect(family.store.role(ofDevice: phone.deviceID) == nil)
    #expect(family.store.status(of: offer, now: now + 2) == .used(by: [phone.deviceID]))
  }

  @Test(
    "what was cancelled, has expired, or was signed by an admin that is none any more lets nobody in"
  )
  func over() throws {
    let bob = try family.add("Bob", .admin)
    let store = try family.copy("bob")
    let later = try InvitationOffer(
      InvitationSecret(), to: store, role: .admin, expires: Family.start + 1000, by: bob, now: now)
    #expect(family.store.status(of: later, now: now) == .open)
    #expect(family.store.status(of: offer, now: Family.start + 1000) == .expired)
    #expect(try family.store.cancel(offer, by: family.founder, now: now))
    #expect(try !family.store.cancel(offer, by: family.founder, now: now))
    #expect(family.store.status(of: offer, now: now) == .cancelled)
    #expect(try family.store.admit(request(), to: offer, by: family.founder, now: now) == nil)
    try family.store.remove(devices: [bob.deviceID], by: family.founder, now: now + 1)
    #expect(family.store.status(of: later, now: now + 2) == .void)
    let another = try Family(name: "Other")
    #expect(another.store.status(of: offer, now: now) == .void)
    let writer = try family.add("Carl", .writer)
    #expect(throws: MembershipError.notAnAdmin(device: writer.deviceID)) {
      try InvitationOffer(
        InvitationSecret(), to: family.store, role: .writer, expires: 0, by: writer, now: now)
    }
  }

  @Test("a cancellation that another admin did not know of takes the certificate back")
  func cancelledElsewhere() throws {
    let bob = try family.add("Bob", .admin)
    let store = try family.copy("bob")
    let phone = try request()
    _ = try store.admit(phone, to: offer, by: bob, now: now)
    _ = try family.store.cancel(offer, by: family.founder, now: now)
    _ = try family.store.merge(certificates: store.certificates, revocations: store.revocations)
    #expect(family.store.role(ofDevice: phone.deviceID) == nil)
    #expect(family.store.status(of: offer, now: now) == .used(by: [phone.deviceID]))
  }

  @Test("two admins that answer two devices with one link find both when they meet")
  func leaked() throws {
    let bob = try family.add("Bob", .admin)
    let store = try family.copy("bob")
    let (phone, thief) = (try request(), try request("thief"))
    _ = try store.admit(phone, to: offer, by: bob, now: now)
    _ = try family.store.admit(thief, to: offer, by: family.founder, now: now)
    _ = try family.store.merge(certificates: store.certificates, revocations: store.revocations)
    let both = [phone.deviceID, thief.deviceID].sorted()
    #expect(family.store.status(of: offer, now: now) == .used(by: both))
  }

  @Test("a taken name gets a number, and a member is not certified again")
  func names() throws {
    let key = try family.add("Phone", .reader)
    let again = try request("Phone", key: key)
    #expect(try family.store.admit(again, to: offer, by: family.founder, now: now) == nil)
    #expect(family.store.role(ofDevice: key.deviceID) == .reader)
    let member = try family.store.admit(request("phone"), to: offer, by: family.founder, now: now)
    #expect(member?.name == "phone 2")
  }

  // "whether the new device belongs to the signer's person"
  @Test("An offer for the signer's person makes a device of that person, whoever answers it")
  func mine() throws {
    #expect(offer.person == .unnamed)
    let own = try InvitationOffer(
      secret, to: family.store, role: .writer, person: .own, expires: Family.start + 1000,
      by: family.founder, now: now)
    #expect(try InvitationOffer(parsing: own.text)?.person == .own)
    let admin = try family.add("admin", .admin)
    _ = try family.add("phone", .writer)
    let founder = try #require(family.store.member(family.founder))
    for name in ["phone", "phone 2"] {
      let secret = try InvitationSecret()
      let offer = try InvitationOffer(
        secret, to: family.store, role: .writer, person: .own, expires: Family.start + 1000,
        by: family.founder, now: now)
      let asked = try AdmissionRequest(
        CertificateRequest(name: "phone", key: .random()), by: secret)
      let member = try #require(
        try family.store.admit(asked, to: offer, by: admin, now: now))
      // Another person's phone does not take the name; the person's own does.
      #expect(member.deviceName == name && member.person.id == founder.person.id)
      #expect(member.issuedBy == admin.deviceID)
    }
  }
}
