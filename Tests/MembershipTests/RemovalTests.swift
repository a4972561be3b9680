internal import TestSupport
import Testing

@testable import Membership

// notes-security(7), "Removal" and "Roles".
@Suite("Membership: removal and roles", .timeLimit(.minutes(20)))
struct RemovalTests {
  @Test("Any admin removes anybody, whoever certified it; the union of all lists counts")
  func removal() throws {
    let family = try Family()
    let admin = try family.add("admin", .admin)
    let phone = try family.add("phone", .writer)
    let chain = try family.store.chain(for: phone)
    try family.store.remove(devices: [phone.deviceID], by: admin)
    #expect(family.store.member(phone)?.isRemoved == true)
    #expect(family.store.role(ofDevice: phone.deviceID) == nil)
    let refusal = MembershipError.removed(device: phone.deviceID, name: "phone")
    #expect(failure { _ = try family.store.verify(chain: chain) } == refusal)
    #expect(failure { _ = try family.store.chain(for: phone) } == refusal)
    // The next list of the same admin holds the old entries too, and takes its place.
    let desk = try family.add("desk", .reader)
    try family.store.remove(devices: [desk.deviceID], by: admin)
    #expect(family.store.revocations.count == 1)
    #expect(try run(["ls", "\(family.store.folder)/revocations"]).lines.count == 1)
    #expect(try MembershipStore.open(in: family.store.folder).members() == family.store.members())
  }

  // notes-members(1): "with --all also when which device removed it"
  @Test("Who removed a device is told, also after that admin was removed")
  func remover() throws {
    let family = try Family()
    let (admin, other) = (try family.add("admin", .admin), try family.add("other", .admin))
    let phone = try family.add("phone", .writer, by: admin)
    #expect(family.store.member(phone)?.removal == nil)
    try family.store.remove(devices: [phone.deviceID], by: other, now: Family.start + 5)
    let removal = MemberChange(by: other.deviceID, at: Family.start + 5)
    #expect(family.store.member(phone)?.removal == removal)
    #expect(family.store.member(phone)?.admission.by == admin.deviceID)
    // The founder's list takes over the other's entries.
    try family.store.remove(devices: [other.deviceID], by: family.founder, now: Family.start + 9)
    #expect(family.store.member(phone)?.removal == removal)
    #expect(family.store.member(other)?.removal?.by == family.founder.deviceID)
    // A list that does not count names nobody.
    let set = try MembershipStore.open(in: family.store.folder)
    #expect(set.member(phone)?.removal == removal)
  }

  @Test("A new name or role keeps the date of the first certificate, and joining again does not")
  func admission() throws {
    let family = try Family()
    let admin = try family.add("admin", .admin)
    let phone = try family.add("phone", .writer)
    let first = MemberChange(by: family.founder.deviceID, at: Family.start)
    try family.store.reissue(
      device: phone.deviceID, name: "tablet", by: admin, now: Family.start + 50)
    try family.store.reissue(
      device: phone.deviceID, role: .reader, by: admin, now: Family.start + 60)
    #expect(family.store.member(phone)?.admission == first)
    #expect(family.store.member(phone)?.issuedBy == admin.deviceID)
    try family.store.remove(devices: [admin.deviceID], by: family.founder, now: Family.start + 70)
    #expect(family.store.member(phone)?.admission == first)
    try family.store.remove(devices: [phone.deviceID], by: family.founder, now: Family.start + 80)
    _ = try family.store.issue(
      for: CertificateRequest(name: "phone", key: phone), role: .reader, by: family.founder,
      now: Family.start + 90)
    #expect(family.store.member(phone)?.admission.at == Family.start + 90)
  }

  @Test("A removed device that is invited again is a member again")
  func invitedAgain() throws {
    let family = try Family()
    let phone = try family.add("phone", .writer)
    try family.store.remove(devices: [phone.deviceID], by: family.founder)
    _ = try family.store.issue(
      for: CertificateRequest(name: "phone", key: phone), role: .reader, by: family.founder,
      now: Family.start)
    #expect(family.store.role(ofDevice: phone.deviceID) == .reader)
    #expect(try family.store.verify(chain: family.store.chain(for: phone)).role == .reader)
  }

  @Test("The founder is never removed, and stays admin")
  func founder() throws {
    let family = try Family()
    let admin = try family.add("admin", .admin)
    let founderID = family.founder.deviceID
    for key in [admin, family.founder] {
      #expect(
        failure { try family.store.remove(devices: [founderID], by: key) } == .founderIsPermanent)
      #expect(
        failure { try family.store.reissue(device: founderID, role: .reader, by: key) }
          == .founderIsPermanent)
    }
    // Who lost the folder comes back with what it was: nobody else certifies the founder's key.
    let again = try family.store.issue(
      for: CertificateRequest(name: "x", key: family.founder), role: .reader, by: admin)
    #expect(try family.store.chain(for: family.founder).first == again)
    #expect(family.store.role(ofDevice: founderID) == .admin)
    // Nor by a list and a certificate made without asking this code.
    let authority = try Certificate(der: try #require(family.store.chain(for: admin).first))
    let own = try Certificate(der: try #require(family.store.chain(for: family.founder).first))
    let root = try Certificate(der: family.store.root)
    let list = try RevocationList.make(
      entries: [root.serial: .removed, own.serial: .removed], number: 9, issuer: authority,
      signedWith: admin,
      now: Family.start)
    let demotion = try Certificate.member(
      name: "nobody", role: .reader, publicKey: family.founder.publicKey, issuer: authority,
      signedWith: admin, now: Family.start + 100)
    let before = family.store.members()
    _ = try family.store.merge(certificates: [demotion.der], revocations: [list.der])
    #expect(family.store.members() == before)
    #expect(try family.store.verify(chain: [own.der]).role == .admin)
  }

  @Test("Two admins who remove each other are both out, alike everywhere")
  func mutualRemoval() throws {
    let family = try Family()
    let first = try family.add("first", .admin)
    let second = try family.add("second", .admin)
    let storeOfFirst = try family.copy("first")
    let storeOfSecond = try family.copy("second")
    try storeOfFirst.remove(devices: [second.deviceID], by: first)
    try storeOfSecond.remove(devices: [first.deviceID], by: second)
    try storeOfFirst.merge(storeOfSecond)
    try storeOfSecond.merge(storeOfFirst)
    try family.store.merge(storeOfSecond)
    for store in [storeOfFirst, storeOfSecond, family.store] {
      #expect(store.member(first)?.isRemoved == true)
      #expect(store.member(second)?.isRemoved == true)
      #expect(store.members() == family.store.members())
    }
  }

  @Test("Removing an admin certifies anew, in the same step, whom it had certified")
  func removingAnAdmin() throws {
    let family = try Family()
    let admin = try family.add("admin", .admin)
    let second = try family.add("second", .admin, by: admin)
    let phone = try family.add("phone", .writer, by: second)
    let gone = try family.add("gone", .writer, by: admin)
    try family.store.remove(devices: [gone.deviceID], by: family.founder)
    let old = try family.store.chain(for: phone)
    #expect(old.count == 3)

    try family.store.remove(devices: [admin.deviceID], by: family.founder)
    #expect(family.store.member(admin)?.isRemoved == true)
    #expect(family.store.member(gone)?.isRemoved == true)
    #expect(family.store.role(ofDevice: second.deviceID) == .admin)
    #expect(family.store.role(ofDevice: phone.deviceID) == .writer)
    #expect(family.store.member(phone)?.name == "phone")
    // The phone was away: it still presents the old chain, and gets in to learn of the new one.
    #expect(try family.store.verify(chain: old).role == .writer)
    #expect(try family.store.chain(for: phone) != old)
  }

  @Test("A new role or name is a new certificate; the old serial number is revoked")
  func reissue() throws {
    let family = try Family()
    let phone = try family.add("phone", .writer)
    let before = try #require(family.store.member(phone))
    // The clock stands still, and goes back: the newer certificate is newer all the same.
    try family.store.reissue(
      device: phone.deviceID, role: .reader, by: family.founder, now: Family.start)
    try family.store.reissue(
      device: phone.deviceID, name: "tablet", by: family.founder, now: Family.start - 1000)
    let after = try #require(family.store.member(phone))
    #expect(after.role == .reader && after.name == "tablet")
    #expect(after.serial != before.serial && after.issuedAt == before.issuedAt + 2)
    #expect(family.store.members().count == 2)
    let path = try #require(try run(["ls", "\(family.store.folder)/revocations"]).lines.first)
    let text = try run([
      "openssl", "crl", "-in", "\(family.store.folder)/revocations/\(path)", "-noout", "-text",
    ]).text
    #expect(text.contains("Serial Number: \(asPrinted(before.serial))\n"))
    #expect(!text.contains("Serial Number: \(asPrinted(after.serial))\n"))
    #expect(text.contains("X509v3 CRL Number: \n                2"))
  }

  /// A serial number as openssl prints it: a number, which has no zero bytes in front.
  private func asPrinted(_ serial: String) -> String {
    var digits = serial.uppercased()[...]
    while digits.hasPrefix("00") { digits = digits.dropFirst(2) }
    return String(digits)
  }

  @Test("openssl verifies a revocation list against the admin's certificate")
  func listSignature() throws {
    let family = try Family()
    let phone = try family.add("phone", .writer)
    try family.store.remove(devices: [phone.deviceID], by: family.founder)
    let list = try #require(family.store.revocations.first)
    try family.folder.write(list, to: "list.crl")
    let convert = ["openssl", "x509", "-in", family.folder["founder/root.crt"], "-out"]
    #expect(try run(convert + [family.folder["root.pem"]]).isSuccess)
    let result = try run([
      "openssl", "crl", "-in", family.folder["list.crl"], "-CAfile", family.folder["root.pem"],
      "-noout",
    ])
    #expect(result.errorText.contains("verify OK"))
    var set = try CertificateSet(root: family.store.root)
    for index in list.indices {
      var changed = list
      changed[index] ^= 0x01
      #expect(try set.insert(certificates: [], revocationLists: [changed]) == false)
    }
  }

  @Test("Two concurrent changes: an admin's counts, or else the newest, of equals the lesser role")
  func concurrentRoles() throws {
    let family = try Family()
    let phone = try family.add("phone", .reader)
    let desk = try family.add("desk", .writer)
    let admin = try family.add("admin", .admin)
    let other = try family.copy("other")
    try family.store.reissue(
      device: phone.deviceID, role: .admin, by: family.founder, now: Family.start)
    try other.reissue(device: phone.deviceID, role: .writer, by: admin, now: Family.start + 9)
    try family.store.reissue(
      device: desk.deviceID, name: "table", by: family.founder, now: Family.start)
    try other.reissue(device: desk.deviceID, role: .reader, by: admin, now: Family.start)
    try family.store.merge(other)
    try other.merge(family.store)
    #expect(family.store.role(ofDevice: phone.deviceID) == .admin)
    #expect(family.store.role(ofDevice: desk.deviceID) == .reader)
    #expect(other.members() == family.store.members())
  }

  @Test("Removal wins over a change of role or name made elsewhere at the same time")
  func removalWins() throws {
    let family = try Family()
    let admin = try family.add("admin", .admin)
    let second = try family.add("second", .admin, by: admin)
    let phone = try family.add("phone", .writer)
    let desk = try family.add("desk", .writer, by: admin)
    let other = try family.copy("other")
    try other.remove(devices: [phone.deviceID], by: second)
    try other.remove(devices: [desk.deviceID], by: second)
    // Twice replaced here; and certified anew because its admin was removed.
    try family.store.reissue(device: phone.deviceID, role: .admin, by: family.founder)
    try family.store.reissue(device: phone.deviceID, name: "tablet", by: family.founder)
    try family.store.remove(devices: [admin.deviceID], by: family.founder)
    #expect(family.store.role(ofDevice: phone.deviceID) == .admin)
    #expect(family.store.role(ofDevice: desk.deviceID) == .writer)
    try family.store.merge(other)
    try other.merge(family.store)
    #expect(family.store.member(phone)?.isRemoved == true)
    #expect(family.store.member(desk)?.isRemoved == true)
    #expect(other.members() == family.store.members())
    // Invited again, it is back.
    _ = try other.issue(
      for: CertificateRequest(name: "phone", key: phone), role: .writer, by: second)
    #expect(other.role(ofDevice: phone.deviceID) == .writer)
  }

  @Test("A device cannot remove or rename itself, but for the founder's name")
  func oneself() throws {
    let family = try Family()
    let admin = try family.add("admin", .admin)
    #expect(
      failure { try family.store.remove(devices: [admin.deviceID], by: admin) }
        == .anotherAdminNeeded)
    #expect(
      failure { try family.store.reissue(device: admin.deviceID, name: "me", by: admin) }
        == .anotherAdminNeeded)
    try family.store.reissue(device: family.founder.deviceID, name: "me", by: family.founder)
    #expect(family.store.member(family.founder)?.name == "me")
    #expect(family.store.role(ofDevice: admin.deviceID) == .admin)
  }
}
