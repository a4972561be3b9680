import State
import System
internal import TestSupport
import Testing

@testable import Membership

// notes-security(7), "Devices of one's own".
@Suite("Membership: devices that members ask for", .timeLimit(.minutes(20)))
struct OwnDevicesTests {
  private let family: Family
  private let admin: DeviceKey
  private let anna: DeviceKey
  private let now = Family.start + 10

  init() throws {
    family = try Family()
    admin = try family.add("admin", .admin)
    anna = try family.add("anna", .writer)
  }

  private var store: MembershipStore { family.store }

  private func offer(
    _ secret: InvitationSecret, by key: DeviceKey? = nil, as role: Role = .writer,
    for seconds: Int64 = 1000, in other: MembershipStore? = nil
  ) throws -> InvitationOffer {
    try InvitationOffer(
      secret, to: other ?? store, role: role, person: .own, expires: now + seconds,
      by: key ?? anna, now: now)
  }

  /// A device that anna asks for, certified by the other admin in that store.
  private func phone(
    _ name: String = "phone", in other: MembershipStore? = nil, key: DeviceKey? = nil,
    asker: DeviceKey? = nil
  ) throws -> DeviceKey? {
    let (secret, key) = (try InvitationSecret(), try key ?? DeviceKey.random())
    let asked = try AdmissionRequest(CertificateRequest(name: name, key: key), by: secret)
    let member = try (other ?? store).admit(
      asked, to: offer(secret, by: asker, in: other), by: admin, now: now)
    return member == nil ? nil : key
  }

  @Test("It is a device of the asker's person, and its certificate names the asker's")
  func form() throws {
    let key = try #require(try phone())
    let member = try #require(store.member(key))
    #expect(member.person.id == anna.deviceID && member.name == "anna (phone)")
    #expect(member.role == .writer && member.issuedBy == admin.deviceID)
    let der = try #require(try store.chain(for: key).first)
    let certificate = try Certificate(der: der)
    let asker = try Certificate(der: #require(try store.chain(for: anna).first))
    #expect(certificate.asker == asker.serial && asker.asker == nil)
    try family.folder.write(der, to: "phone.crt")
    let text = try run([
      "openssl", "x509", "-in", family.folder["phone.crt"], "-noout", "-text",
    ]).text
    // "not critical"
    #expect(text.contains("\(Extension.asker.rawValue): \n"), "\(text)")
    let start = try #require(
      der.firstRange(of: Extension.serialPrefix + asker.serial)?.lowerBound)
    for (offset, byte) in [(0, UInt8(0x05)), (1, 0x0F)] {
      var other = der
      other[start + offset] = byte
      #expect(throws: CertificateDefect.self) { try Certificate(der: other) }
    }
  }

  @Test("A member asks for nobody else, for no greater role, and not for ever")
  func bounds() throws {
    let reader = try family.add("ben", .reader)
    let (refusal, stranger) = (
      MembershipError.notAnAdmin(device: anna.deviceID), try DeviceKey.random()
    )
    #expect(failure { _ = try offer(InvitationSecret(), as: .admin) } == refusal)
    for person in [InvitedPerson.unnamed, .new(name: "carl")] {
      #expect(
        failure {
          _ = try InvitationOffer(
            InvitationSecret(), to: store, role: .reader, person: person, expires: now + 10,
            by: anna, now: now)
        } == refusal)
    }
    #expect(failure { _ = try offer(InvitationSecret(), for: 32 * 86_400) } == refusal)
    #expect(failure { _ = try offer(InvitationSecret(), for: 253_402_300_799 - now) } == refusal)
    #expect(failure { _ = try offer(InvitationSecret(), by: reader) } != nil)
    #expect(failure { _ = try offer(InvitationSecret(), by: stranger, as: .reader) } != nil)
    // A text that another program would sign is void, by what the admin's device knows.
    let secret = try InvitationSecret()
    let good = try offer(secret)
    #expect(store.status(of: good, now: now) == .open && good.isAskedFor)
    let request = try AdmissionRequest(
      CertificateRequest(name: "phone", key: .random()), by: secret)
    try store.reissue(device: anna.deviceID, role: .reader, by: admin, now: now)
    #expect(store.status(of: good, now: now) == .void)
    #expect(try store.admit(request, to: good, by: admin, now: now) == nil)
    try store.reissue(device: anna.deviceID, role: .writer, by: admin, now: now)
    #expect(failure { _ = try store.admit(request, to: good, by: anna, now: now) } != nil)
    try store.setBlocked(true, device: anna.deviceID, by: admin)
    #expect(try store.admit(request, to: good, by: admin, now: now) == nil)
    try store.setBlocked(false, device: anna.deviceID, by: admin)
    #expect(try store.admit(request, to: good, by: admin, now: now) != nil)
    try store.remove(devices: [anna.deviceID], by: admin, now: now)
    let late = try InvitationSecret()
    #expect(failure { _ = try offer(late) } == refusal)
  }

  @Test("A person gets eight devices in this way, and none back that an admin removed")
  func number() throws {
    for number in 2...Person.mostWithoutAdmin { #expect(try phone("\(number)") != nil) }
    let limit = MembershipError.limitExceeded(
      what: "devices of a person", limit: Person.mostWithoutAdmin)
    #expect(failure { _ = try phone("more") } == limit)
    // Nobody else is kept out.
    _ = try family.add("ben", .writer)
    let second = try #require(store.members().first { $0.deviceName == "2" })
    let key = try DeviceKey.random()
    try store.remove(devices: [second.deviceID], by: admin, now: now)
    #expect(try phone("again", key: key) != nil)
    try store.remove(devices: [key.deviceID], by: admin, now: now)
    #expect(try phone("again", key: key) == nil)
    // An admin's own invitation lets it in.
    _ = try store.issue(
      for: CertificateRequest(name: "again", key: key), person: second.person.id, role: .writer,
      by: admin, now: now)
    #expect(store.role(ofDevice: key.deviceID) == .writer)
  }

  @Test(
    "Who removes the asker, or lessens its role, without knowing of the device, ends it as well")
  func unknown() throws {
    var random = SplitMix64.reported()
    for step in 0..<4 {
      let family = try OwnDevicesTests()
      let other = try family.family.copy("other")
      // The asker's certificate may be a later one than the founder knows.
      if step % 3 > 0 {
        try other.reissue(
          device: family.anna.deviceID, name: "laptop", by: family.admin, now: now)
      }
      let phone = try #require(try family.phone(in: other))
      // The device may have another name by now.
      if step % 3 > 1 {
        try other.reissue(device: phone.deviceID, name: "tablet", by: family.admin, now: now)
      }
      #expect(other.role(ofDevice: phone.deviceID) == .writer)
      if step < 3 {
        try family.store.remove(
          devices: [family.anna.deviceID], by: family.family.founder, now: now)
      } else {
        try family.store.reissue(
          device: family.anna.deviceID, role: .reader, by: family.family.founder, now: now)
      }
      var all = family.store.certificates + other.certificates
      for round in 0..<4 {
        all.shuffle(using: &random)
        let third = try family.family.copy("third \(round)")
        for certificate in all {
          _ = try third.merge(
            certificates: [certificate],
            revocations: family.store.revocations + other.revocations)
        }
        _ = try third.merge(
          certificates: all, revocations: family.store.revocations + other.revocations)
        #expect(third.role(ofDevice: phone.deviceID) == nil, "\(step) \(round)")
        #expect(third.role(ofDevice: family.anna.deviceID) == (step < 3 ? Role?.none : .reader))
      }
    }
  }

  @Test("Who removes only the asker, and knows of the device, keeps it, and can remove it later")
  func known() throws {
    for lessens in [false, true] {
      let family = try OwnDevicesTests()
      let phone = try #require(try family.phone())
      let (early, other) = (try family.family.copy("early"), try family.family.copy("other"))
      let before = family.store.invited(by: family.anna.deviceID)
      #expect(before.map(\.member.deviceID) == [phone.deviceID])
      #expect(before.map(\.invitedBy) == [family.anna.deviceID])
      if lessens {
        try family.store.reissue(
          device: family.anna.deviceID, role: .reader, by: family.family.founder, now: now)
      } else {
        try family.store.remove(
          devices: [family.anna.deviceID], by: family.family.founder, now: now)
      }
      let member = try #require(family.store.member(phone))
      // "no greater one; its asker stays the same"
      #expect(!member.isRemoved && member.role == (lessens ? .reader : .writer))
      let asker = try Certificate(der: #require(family.store.chain(for: phone).first)).asker
      #expect((asker != nil) == lessens)
      #expect(member.person.id == family.anna.deviceID)
      try other.merge(family.store)
      #expect(other.members() == family.store.members())
      // A removal that does not know of this wins all the same.
      let third = try family.family.copy("third")
      try early.remove(devices: [phone.deviceID], by: family.admin, now: now)
      try third.merge(early)
      #expect(third.role(ofDevice: phone.deviceID) == nil)
    }
  }

  @Test("What an ended device asked for ends as well, in any order")
  func chain() throws {
    let other = try family.copy("other")
    let phone = try #require(try phone(in: other))
    let tablet = try #require(try self.phone("tablet", in: other, asker: phone))
    let watch = try #require(try self.phone("watch", in: other, asker: tablet))
    try store.remove(devices: [anna.deviceID], by: family.founder, now: now)
    for isFirst in [true, false] {
      let third = try family.copy("third \(isFirst)")
      if isFirst { try third.merge(other) }
      try third.merge(store)
      try third.merge(other)
      for key in [anna, phone, tablet, watch] {
        #expect(third.role(ofDevice: key.deviceID) == nil)
      }
    }
  }

  // ".Ql notes members --all lists these devices, and says with which asker each ended."
  @Test("An ended device is listed with the asker that ended it, and a removed one is not")
  func ending() throws {
    for lessens in [false, true] {
      let family = try OwnDevicesTests()
      let other = try family.family.copy("other")
      let phone = try #require(try family.phone(in: other))
      let watch = try #require(try family.phone("watch", in: other, asker: phone))
      let tablet = try #require(try family.phone("tablet", in: other))
      try other.remove(devices: [tablet.deviceID], by: family.admin, now: now)
      #expect(other.members().allSatisfy { $0.ending == nil })
      if lessens {
        try family.store.reissue(
          device: family.anna.deviceID, role: .reader, by: family.family.founder, now: now)
      } else {
        try family.store.remove(
          devices: [family.anna.deviceID], by: family.family.founder, now: now)
      }
      try family.store.merge(other)
      func ending(_ key: DeviceKey) -> AskerEnding? { family.store.member(key)?.ending }
      #expect(ending(phone) == AskerEnding(asker: family.anna.deviceID, wasRemoved: !lessens))
      #expect(ending(watch) == AskerEnding(asker: phone.deviceID, wasRemoved: true))
      #expect(ending(tablet) == nil && ending(family.anna) == nil && ending(family.admin) == nil)
      #expect(family.store.member(tablet)?.isRemoved == true)
    }
  }

  @Test("A lesser role reaches all that the asker asked for")
  func lesser() throws {
    let phone = try #require(try phone())
    let tablet = try #require(try self.phone("tablet", asker: phone))
    try store.reissue(device: phone.deviceID, name: "mobile", by: admin, now: now)
    try store.reissue(device: anna.deviceID, role: .reader, by: family.founder, now: now)
    for key in [anna, phone, tablet] { #expect(store.role(ofDevice: key.deviceID) == .reader) }
    let early = try family.copy("early")
    try early.remove(devices: [anna.deviceID], by: admin, now: now)
    #expect(early.role(ofDevice: anna.deviceID) == nil)
  }

  @Test("A device that becomes an admin's no longer depends on its asker, and can remove it")
  func promoted() throws {
    let phone = try #require(try phone())
    try store.reissue(device: phone.deviceID, role: .admin, by: family.founder, now: now)
    try store.remove(devices: [anna.deviceID], by: phone, now: now)
    #expect(store.role(ofDevice: anna.deviceID) == nil)
    #expect(store.role(ofDevice: phone.deviceID) == .admin)
  }

  // "a member cannot sign another's invitation as its own"
  @Test("Another's invitation that a member signs is void, and so is one for ever")
  func taken() throws {
    let secret = try InvitationSecret()
    let (ben, good) = (try family.add("ben", .writer), try offer(secret))
    let lines = StateLines(parsing: good.text)
    func signed(_ changes: [String: String?], by key: DeviceKey) throws -> InvitationOffer? {
      let names = ["notes-invitation", "notebook", "key", "role", "created", "expires", "mine"]
      var text = names.map { "\($0) \((changes[$0] ?? lines[$0]) ?? "")\n" }.joined()
      if let proof = changes["proof"] ?? lines["proof"] { text += "proof \(proof)\n" }
      return try InvitationOffer(
        parsing: SignedText(StateLines(parsing: Array(text.utf8)), for: .offer, by: key).bytes)
    }
    #expect(try store.status(of: #require(try signed([:], by: anna)), now: now) == .open)
    let asked = try AdmissionRequest(
      CertificateRequest(name: "phone", key: .random()), by: secret)
    for changes in [[:], ["proof": nil], ["proof": "00"]] as [[String: String?]] {
      let offer = try #require(try signed(changes, by: ben))
      #expect(offer.signer != .member(isProved: true))
      #expect(store.status(of: offer, now: now) == .void)
      #expect(try store.admit(asked, to: offer, by: admin, now: now) == nil)
    }
    for name in ["created", "expires"] {
      for time in ["-1", "253402300800", "\(Int64.max)"] {
        #expect(try signed([name: time], by: anna) == nil)
      }
    }
  }

  @Test("The removal of a person removes the device with the asker")
  func person() throws {
    let phone = try #require(try phone())
    let other = try family.copy("other")
    try store.remove(
      devices: [anna.deviceID, phone.deviceID], by: family.founder, now: now)
    try other.merge(store)
    for store in [store, other] {
      for key in [anna, phone] { #expect(store.role(ofDevice: key.deviceID) == nil) }
    }
  }

  @Test("A new key of the device's machine ends with the asker, too")
  func renewed() throws {
    let other = try family.copy("other")
    let phone = try #require(try phone(in: other))
    let key = try DeviceKey.random()
    _ = try other.certify(
      CertificateRequest(name: "phone", key: key), of: phone.deviceID, by: admin, now: now)
    #expect(other.role(ofDevice: key.deviceID) == .writer)
    try store.remove(devices: [anna.deviceID], by: family.founder, now: now)
    try other.merge(store)
    #expect(other.role(ofDevice: key.deviceID) == nil)
  }
}
