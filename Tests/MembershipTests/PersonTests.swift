import System
internal import TestSupport
import Testing

@testable import Membership

// notes-security(7), "Persons".
@Suite("Membership: persons", .timeLimit(.minutes(20)))
struct PersonTests {
  /// Another device of the person whose device that is, certified by the founder.
  private func add(
    _ name: String, to first: DeviceKey, _ role: Role = .writer, in family: Family,
    now: Int64 = Family.start
  ) throws -> DeviceKey {
    let key = try DeviceKey.random()
    let person = try #require(family.store.member(first)).person.id
    _ = try family.store.issue(
      for: CertificateRequest(name: name, key: key), person: person, role: role,
      by: family.founder, now: now)
    return key
  }

  @Test("A certificate names a person beside the device, in an extension that old programs ignore")
  func form() throws {
    let family = try Family()
    let laptop = try family.add("anna", .writer)
    let phone = try add("phone", to: laptop, in: family)
    let der = try #require(try family.store.chain(for: phone).first)
    // "The subject has exactly two attributes": the device's name and role, as before.
    let certificate = try Certificate(der: der)
    #expect(certificate.kind == .member(name: "phone", role: .writer))
    #expect(certificate.person?.id == laptop.deviceID)
    #expect(certificate.person?.name == "anna")
    try family.folder.write(der, to: "phone.crt")
    let text = try run([
      "openssl", "x509", "-in", family.folder["phone.crt"], "-noout", "-text",
    ]).text
    // "not critical": notes 1.0 passes over it.
    #expect(text.contains("\(Extension.person.rawValue): \n"), "\(text)")
    // A device that is a person by itself has the certificate that notes 1.0 would have issued.
    let first = try Certificate(der: #require(try family.store.chain(for: laptop).first))
    #expect(first.person == nil)
  }

  @Test("The extension has one form; every other one is refused")
  func extensionForm() throws {
    let identifier = [UInt8](repeating: 7, count: 32)
    for name in [
      "a", "Ängström · 家", String(repeating: "x", count: 64), String(repeating: "𝕏", count: 64),
    ] {
      let person = Person(identifier: identifier, name: name)
      #expect(try Person(der: person.der) == person)
      for cut in person.der.indices {
        #expect(throws: CertificateDefect.self) { try Person(der: Array(person.der[..<cut])) }
      }
      #expect(throws: CertificateDefect.extensions) { try Person(der: person.der + [0]) }
    }
    for (person, defect) in [
      (Person(identifier: Array(identifier.dropLast()), name: "a"), CertificateDefect.extensions),
      (Person(identifier: identifier, name: ""), .name(.empty)),
      (Person(identifier: identifier, name: "a\u{1B}[2J"), .name(.forbidden(0x1B))),
    ] {
      #expect(throws: defect) { try Person(der: person.der) }
    }
    // A length in more bytes than it needs is another spelling.
    #expect(throws: CertificateDefect.extensions) {
      try Person(der: [0x30, 0x81, 37, 0x04, 32] + identifier + [0x0C, 1, 0x61])
    }
    #expect(throws: CertificateDefect.extensions) { try Person(der: [0x30, 0x84, 0, 0, 0, 1, 0]) }
  }

  // "as in a notebook from notes 1.0, the device stands for a person of its own … and may get other devices"
  @Test("A device without a person is one by itself; a second one shows the device's name as well")
  func first() throws {
    let family = try Family()
    let laptop = try family.add("anna", .writer)
    let desk = try family.add("desk", .writer)
    #expect(
      family.store.members().allSatisfy {
        $0.person.id == $0.deviceID && $0.person.name == $0.deviceName && $0.name == $0.deviceName
      })
    let phone = try add("phone", to: laptop, in: family)
    let third = try add("anna's tablet", to: phone, in: family)
    let mine = [laptop, phone, third].map { family.store.member($0) }
    #expect(mine.map { $0?.person.id } == Array(repeating: laptop.deviceID, count: 3))
    // "If its own name begins with the person's, [...] it is called only by that name."
    #expect(mine.map { $0?.name } == ["anna", "anna (phone)", "anna's tablet"])
    #expect(family.store.member(desk)?.name == "desk")
    #expect(family.store.status(ofDevice: phone.deviceID).name == "anna (phone)")

    // "if it had no others"
    try family.store.remove(
      devices: [laptop.deviceID, third.deviceID], by: family.founder, now: Family.start + 1)
    #expect(family.store.member(phone)?.name == "anna (phone)")
    #expect(family.store.member(laptop)?.person.name == "anna")
    #expect(
      family.store.signers()[phone.deviceID]?.names == ["anna (phone)", "phone", "anna"])
  }

  // "if notes 1.0 ... changes a name or role, the device still belongs to the same person"
  @Test("A certificate of notes 1.0 in the place of another leaves the device with its person")
  func oldIssuer() throws {
    let family = try Family()
    let laptop = try family.add("anna", .writer)
    let phone = try add("phone", to: laptop, in: family)
    var replaced = try Certificate(der: #require(try family.store.chain(for: phone).first))
    for (time, name) in ["mobile", "mobile 2"].enumerated() {
      let root = try CertificateSet(root: family.store.root).root
      let old = try Certificate.member(
        name: name, role: .reader, publicKey: phone.publicKey, replacing: replaced.serial,
        issuer: root, signedWith: family.founder, now: Family.start + 10 + Int64(time))
      #expect(old.person == nil)
      #expect(try family.store.merge(certificates: [old.der], revocations: []))
      let member = try #require(family.store.member(phone))
      #expect(member.deviceName == name && member.role == .reader)
      #expect(member.person.id == laptop.deviceID)
      #expect(member.name == "anna (\(name))")
      replaced = old
    }
    // A new certificate of this program names the person again.
    try family.store.reissue(device: phone.deviceID, role: .writer, by: family.founder)
    let new = try Certificate(der: #require(try family.store.chain(for: phone).first))
    #expect(
      new.person == Person(identifier: try PublicKey.identifier(laptop.publicKey), name: "anna"))
    // One that replaces none names whom it says: nobody.
    let root = try CertificateSet(root: family.store.root).root
    let again = try Certificate.member(
      name: "phone", role: .writer, publicKey: phone.publicKey, issuer: root,
      signedWith: family.founder, now: Family.start + 1_000_000_000)
    _ = try family.store.merge(certificates: [again.der], revocations: [])
    #expect(family.store.member(phone)?.person.id == phone.deviceID)
  }

  @Test("Certificates that replace each other in a ring lead to no person, and end")
  func ring() throws {
    let family = try Family()
    let phone = try family.add("phone", .writer)
    let root = try CertificateSet(root: family.store.root).root
    let serials = [1, 2, 3].map { [UInt8](repeating: 0, count: 15) + [$0] }
    let ring = try serials.indices.map { index in
      try Certificate.member(
        name: "phone", role: .writer, publicKey: phone.publicKey,
        replacing: serials[(index + 1) % 3], serial: serials[index], issuer: root,
        signedWith: family.founder, now: Family.start + Int64(index) + 1)
    }
    _ = try family.store.merge(certificates: ring.map(\.der), revocations: [])
    #expect(family.store.member(phone)?.person.id == phone.deviceID)
  }

  @Test("The latest name counts, that of a member before that of a removed device, in any order")
  func names() throws {
    var random = SplitMix64.reported()
    let family = try Family()
    let laptop = try family.add("anna", .writer)
    let root = try CertificateSet(root: family.store.root).root
    let identifier = try PublicKey.identifier(laptop.publicKey)
    let keys = try (0..<3).map { _ in try DeviceKey.random() }
    for (index, name) in ["anne", "ann", "anka"].enumerated() {
      let certificate = try Certificate.member(
        name: "device \(index)", person: Person(identifier: identifier, name: name), role: .writer,
        publicKey: keys[index].publicKey, issuer: root, signedWith: family.founder,
        now: Family.start + Int64(index))
      _ = try family.store.merge(certificates: [certificate.der], revocations: [])
    }
    #expect(family.store.member(laptop)?.name == "anka (anna)")
    #expect(family.store.member(keys[0])?.name == "anka (device 0)")
    try family.store.remove(
      devices: [keys[2].deviceID], by: family.founder, now: Family.start + 100)
    #expect(family.store.member(laptop)?.person.name == "ann")
    for round in 0..<8 {
      let store = try MembershipStore.install(
        in: family.folder["copy \(round)"], root: family.store.root, certificates: [],
        revocations: [])
      var pieces =
        family.store.certificates.map { ([$0], [[UInt8]]()) }
        + family.store.revocations.map { ([[UInt8]](), [$0]) }
      pieces.shuffle(using: &random)
      for (certificates, lists) in pieces + pieces {
        _ = try store.merge(certificates: certificates, revocations: lists)
      }
      #expect(store.members() == family.store.members())
    }
  }

  // "A certificate that replaces another names the same person."
  @Test("Whoever is certified again stays the same person's")
  func again() throws {
    let family = try Family()
    let laptop = try family.add("anna", .writer)
    let admin = try family.add("admin", .admin)
    let phone = try DeviceKey.random()
    let request = try CertificateRequest(name: "phone", key: phone)
    _ = try family.store.issue(
      for: request, person: laptop.deviceID, role: .writer, by: admin, now: Family.start)
    try family.store.reissue(device: phone.deviceID, name: "mobile", role: .reader, by: admin)
    #expect(family.store.member(phone)?.name == "anna (mobile)")
    // Its issuer goes, and the founder certifies it.
    try family.store.remove(devices: [admin.deviceID], by: family.founder)
    let member = try #require(family.store.member(phone))
    #expect(member.issuedBy == family.founder.deviceID && member.name == "anna (mobile)")
    // It joins again, by a code for anybody.
    _ = try family.store.issue(for: request, role: .writer, by: family.founder)
    #expect(family.store.member(phone)?.name == "anna (phone)")
    // Once it was removed it is not let in as anna's.
    try family.store.remove(devices: [phone.deviceID], by: family.founder)
    _ = try family.store.issue(for: request, role: .writer, by: family.founder)
    #expect(family.store.member(phone)?.person.id == phone.deviceID)
    let nobody = try DeviceKey.random().deviceID
    #expect(
      failure {
        _ = try family.store.issue(
          for: request, person: nobody, role: .writer, by: family.founder)
      } == .notAMember(device: nobody))
  }

  @Test("A long name is cut to the length of a name")
  func long() throws {
    let person = Person(identifier: [], name: String(repeating: "a", count: 60))
    let label = person.name(withDevice: "phone")
    #expect(label.unicodeScalars.count == DisplayName.maximumLength)
    #expect(DisplayName.isAccepted(label))
    #expect(Person(identifier: [], name: "anna").name(withDevice: "Anna") == "Anna")
    #expect(
      Person(identifier: [], name: "anna").name(withDevice: "annabelle") == "anna (annabelle)")
    #expect(Person(identifier: [], name: "anna").name(withDevice: "anna 2") == "anna 2")
  }

  // "If PERSON (DEVICE) is another person's name, the first 8 characters of the ID follow in brackets."
  @Test("A device whose own name is another person's is called by both names, or by its ID as well")
  func another() throws {
    let family = try Family()
    let anna = try family.add("anna", .writer)
    let store = family.store
    func name(_ key: DeviceKey) -> String? { store.member(key)?.name }
    let phone = try add("Anna Bell", to: anna, in: family)
    let tablet = try add("tablet", to: anna, in: family)
    #expect(name(phone) == "Anna Bell" && name(tablet) == "anna (tablet)")
    let other = try family.add("anna bell", .writer)
    let third = try family.add("anna (tablet)", .writer)
    #expect(name(other) == "anna bell" && name(third) == "anna (tablet)")
    #expect(name(phone) == "anna (Anna Bell)")
    #expect(name(tablet) == "anna (tablet) (\(tablet.deviceID.prefix(8)))")
    #expect(name(anna) == "anna")
    let copy = try family.copy("copy")
    #expect(copy.members() == store.members())
    // The longest names leave room for the ID.
    let long = String(repeating: "x", count: DisplayName.maximumLength)
    #expect(DisplayName.isAccepted(DisplayName.marked(long, with: " (ABCD2345)")))
  }

  // "An invitation may name the person to whom the new device belongs"
  @Test("A name that is given is the person's, and renames nobody who is there")
  func given() throws {
    let family = try Family()
    func issue(_ key: DeviceKey, _ name: String) throws -> Member {
      _ = try family.store.issue(
        for: CertificateRequest(name: "phone", key: key), personName: name, role: .writer,
        by: family.founder, now: Family.start)
      return try #require(family.store.member(key))
    }
    let phone = try DeviceKey.random()
    let anna = try issue(phone, "anna")
    #expect(anna.name == "anna" && anna.deviceName == "phone" && anna.person.id == phone.deviceID)
    // "If another member has the name, a number follows it."
    #expect(try issue(.random(), "Anna").name == "Anna 2")
    #expect(try issue(.random(), "phone").name == "phone 2")
    // A member that joins again keeps its person.
    #expect(try issue(phone, "eve").name == "anna")
    // "or the person has other devices"
    let tablet = try add("tablet", to: phone, in: family)
    try family.store.remove(devices: [phone.deviceID], by: family.founder)
    #expect(try issue(phone, "eve").person.name == "anna")
    #expect(family.store.member(tablet)?.person.name == "anna")
    // An offer says it to any admin.
    let admin = try family.add("admin", .admin)
    let secret = try InvitationSecret()
    let offer = try InvitationOffer(
      secret, to: family.store, role: .writer, person: .new(name: "ben"),
      expires: Family.start + 1000, by: family.founder, now: Family.start)
    #expect(try InvitationOffer(parsing: offer.text)?.person == .new(name: "ben"))
    let asked = try AdmissionRequest(
      CertificateRequest(name: "desk", key: .random()), by: secret)
    let ben = try family.store.admit(asked, to: offer, by: admin, now: Family.start)
    #expect(ben?.name == "ben" && ben?.deviceName == "desk")
  }
}
