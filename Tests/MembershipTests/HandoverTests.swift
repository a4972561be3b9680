import Synchronization
import TestSupport
import Testing

@testable import Membership

// notes-security(7), "Handover".
@Suite("Membership: handover", .timeLimit(.minutes(20)))
struct HandoverTests {
  private let family: Family
  private let heir: DeviceKey
  private let admin: DeviceKey
  private let phone: DeviceKey

  init() throws {
    family = try Family()
    heir = try family.add("heir", .admin)
    admin = try family.add("admin", .admin)
    phone = try family.add("phone", .writer)
  }

  private var store: MembershipStore { family.store }

  private func founderName(in store: MembershipStore) -> String? {
    store.members().first(where: \.isFounder)?.name
  }

  private func handOver() throws { try store.handOver(to: heir.deviceID, by: family.founder) }

  private func set(of store: MembershipStore) -> CertificateSet { store.state.withLock { $0.set } }

  /// A handover by the founder that the program would not make, naming this certificate as the founder's.
  private func handover(to key: DeviceKey, staying: [UInt8], now: Int64) throws -> Certificate {
    try .member(
      name: "thief", role: .admin, publicKey: key.publicKey, staying: staying,
      issuer: set(of: store).root, signedWith: family.founder, now: now)
  }

  @Test(
    "The heir is the founder on every device, in whatever order it learns; the notebook's ID stays")
  func everywhere() throws {
    let before = (id: store.notebookID, others: try family.copy("other"))
    try handOver()
    #expect(founderName(in: store) == "heir" && store.notebookID == before.id)
    #expect(
      store.member(family.founder)?.role == .admin
        && store.role(ofDevice: phone.deviceID) == .writer)
    var random = SplitMix64.reported()
    for round in 0..<8 {
      let other = try family.copy("\(round)", of: before.others)
      for certificate in store.certificates.shuffled(using: &random) {
        _ = try other.merge(certificates: [certificate], revocations: [])
      }
      #expect(other.members() == store.members())
    }
    // And after the program starts again.
    #expect(try MembershipStore.open(in: store.folder).members() == store.members())
    for key in [family.founder, admin, heir] {
      #expect(
        failure { try store.remove(devices: [heir.deviceID], by: key) } == .founderIsPermanent)
    }
    #expect(
      failure { try store.reissue(device: heir.deviceID, role: .reader, by: admin) }
        == .founderIsPermanent)
    // It can do what only the founder can: change its own name.
    try store.reissue(device: heir.deviceID, name: "ada", by: heir)
    #expect(founderName(in: store) == "ada")
    #expect(try store.verify(chain: store.chain(for: heir)).isFounder)
    _ = try family.add("tablet", .reader, by: heir)
    #expect(try before.others.merge(store) && before.others.members() == store.members())
  }

  @Test("A former founder can be removed or get another role, and those it had certified stay")
  func formerFounder() throws {
    for role in [Role?.none, .reader] {
      let family = try Family()
      let heir = try family.add("heir", .admin)
      let friend = try family.add("friend", .admin)
      let phone = try family.add("phone", .writer, by: friend)
      let other = try family.copy("other")
      let root = set(of: family.store).root
      try family.store.handOver(to: heir.deviceID, by: family.founder)
      // The other admin has its role through the founder.
      #expect(
        failure { try family.store.remove(devices: [family.founder.deviceID], by: friend) }
          == .ownCertifier)
      if let role {
        try family.store.reissue(device: family.founder.deviceID, role: role, by: heir)
      } else {
        try family.store.remove(devices: [family.founder.deviceID], by: heir)
      }
      #expect(family.store.role(ofDevice: family.founder.deviceID) == role)
      #expect(family.store.role(ofDevice: friend.deviceID) == .admin)
      #expect(family.store.role(ofDevice: phone.deviceID) == .writer)
      let members = family.store.members()
      // What it signs now, as the founder or for itself, changes nothing, whatever date it has.
      let thief = try DeviceKey.random()
      let certificates = try [family.founder, thief].map {
        try Certificate.member(
          name: "x", role: .admin, publicKey: $0.publicKey, issuer: root,
          signedWith: family.founder, now: 0)
      }
      let list = try RevocationList.make(
        entries: [
          try #require(
            set(of: family.store).memberChains[PublicKey.identifier(phone.publicKey)]?.first
          )
          .serial: .removed
        ], number: 99, issuer: root, signedWith: family.founder, now: 0)
      for store in [family.store, other] {
        _ = try store.merge(certificates: certificates.map(\.der), revocations: [list.der])
        try store.merge(family.store)
        #expect(store.members().filter { $0.name != "x" } == members)
        #expect(store.role(ofDevice: thief.deviceID) == nil)
        #expect(store.role(ofDevice: family.founder.deviceID) == role)
      }
      #expect(
        failure { try family.store.handOver(to: friend.deviceID, by: family.founder) } != nil)
      // It can come back as anybody can.
      _ = try family.store.issue(
        for: CertificateRequest(name: "back", key: family.founder), role: .writer, by: friend)
      #expect(family.store.role(ofDevice: family.founder.deviceID) == .writer)
      #expect(try other.merge(family.store) && other.members() == family.store.members())
    }
  }

  @Test("A second handover by the same key counts nowhere where the first is known")
  func second() throws {
    let own = try #require(
      set(of: store).memberChains[PublicKey.identifier(family.founder.publicKey)]?.first)
    let other = try family.copy("other")
    try handOver()
    let thief = try DeviceKey.random()
    // Dated before the first, and after it.
    for now in [0, Family.start + 1000] {
      let second = try handover(to: thief, staying: own.serial, now: now)
      _ = try store.merge(certificates: [second.der], revocations: [])
      #expect(founderName(in: store) == "heir" && store.role(ofDevice: thief.deviceID) == nil)
      // A new device has what its inviter has.
      #expect(founderName(in: try family.copy("new \(now)")) == "heir")
    }
    // Of two that come together every device takes the earlier.
    let second = try handover(to: thief, staying: own.serial, now: Family.start + 1_000_000)
    for certificates in [[second.der] + store.certificates, store.certificates + [second.der]] {
      let fresh = try family.copy("fresh \(certificates[0] == second.der)", of: other)
      _ = try fresh.merge(certificates: certificates, revocations: [])
      #expect(founderName(in: fresh) == "heir")
    }
  }

  @Test(
    "A second handover is reported on each device that sees both, also later, and not elsewhere")
  func told() throws {
    let (first, second) = (try family.copy("first"), try family.copy("second"))
    let third = try family.copy("third")
    try first.handOver(to: heir.deviceID, by: family.founder)
    try second.handOver(to: admin.deviceID, by: family.founder)
    #expect(try first.secondHandovers().isEmpty && second.secondHandovers().isEmpty)
    try third.merge(first)
    try first.merge(second)
    try second.merge(third)
    #expect(try third.secondHandovers().isEmpty)
    for (store, here, there) in [(first, heir, admin), (second, admin, heir)] {
      for store in [store, try MembershipStore.open(in: store.folder)] {
        let found = try store.secondHandovers()
        #expect(found.map(\.former.deviceID) == [family.founder.deviceID])
        #expect(found.map(\.heir) == [here.deviceID])
        #expect(found.map(\.otherHeir) == [there.deviceID])
        #expect(founderName(in: store) == (here.deviceID == heir.deviceID ? "heir" : "admin"))
      }
    }
    // Once recorded, it stays as it is.
    try first.merge(second)
    #expect(try first.secondHandovers().count == 1)
    // The same heir twice, and an admin's certificates of this form, are no contradiction.
    let own = try #require(
      set(of: store).memberChains[PublicKey.identifier(family.founder.publicKey)]?.first)
    _ = try third.merge(
      certificates: [handover(to: heir, staying: own.serial, now: Family.start + 9).der],
      revocations: [])
    let authority = try #require(
      set(of: third).authority(ofKey: PublicKey.identifier(admin.publicKey)))
    for _ in 0..<2 {
      let forged = try Certificate.member(
        name: "friend", role: .admin, publicKey: DeviceKey.random().publicKey,
        staying: authority.serial, issuer: authority, signedWith: admin, now: Family.start)
      _ = try third.merge(certificates: [forged.der], revocations: [])
    }
    #expect(try third.secondHandovers().isEmpty)
    // Nor is one that nobody signed with the founder's key.
    var false1 = try handover(to: admin, staying: own.serial, now: Family.start + 9).der
    false1[false1.count - 1] ^= 1
    _ = try third.merge(certificates: [false1], revocations: [])
    #expect(try third.secondHandovers().isEmpty)
  }

  @Test("A founder cannot keep a certificate hidden with which it would come back")
  func hidden() throws {
    let root = set(of: store).root
    let secret = try Certificate.member(
      name: "secret", role: .admin, publicKey: family.founder.publicKey, issuer: root,
      signedWith: family.founder, now: Family.start + 5000)
    let key = try #require(store.member(heir)).deviceID
    let handover = try Certificate.member(
      name: "heir", role: .admin, publicKey: heir.publicKey, staying: secret.serial, issuer: root,
      signedWith: family.founder, now: Family.start + 5000)
    _ = try store.merge(certificates: [handover.der], revocations: [])
    #expect(store.members().first(where: \.isFounder)?.deviceID == key)
    // It is no member: the certificate with which it stays has not been seen.
    #expect(store.role(ofDevice: family.founder.deviceID) == nil)
    try store.remove(devices: [family.founder.deviceID], by: heir)
    _ = try store.merge(certificates: [secret.der], revocations: [])
    #expect(store.role(ofDevice: family.founder.deviceID) == nil)
  }

  @Test("A notebook can be handed over four times, never back; every former founder can go")
  func chain() throws {
    var founders = [family.founder]
    for number in 1...Succession.maximumHandovers {
      let next = try family.add("heir \(number)", .admin, by: founders.last)
      try store.handOver(to: next.deviceID, by: try #require(founders.last))
      #expect(founderName(in: store) == "heir \(number)")
      founders.append(next)
    }
    let present = try #require(founders.last)
    #expect(
      failure { try store.handOver(to: family.founder.deviceID, by: present) }
        == .heirRefused(name: "Founder's laptop"))
    #expect(
      failure { try store.handOver(to: admin.deviceID, by: present) }
        == .limitExceeded(what: "handovers", limit: Succession.maximumHandovers))
    let old = try family.copy("old")
    for former in founders.dropLast().reversed() {
      try store.remove(devices: [former.deviceID], by: present)
      #expect(store.role(ofDevice: former.deviceID) == nil)
      for key in [heir, admin] { #expect(store.role(ofDevice: key.deviceID) == .admin) }
      #expect(store.role(ofDevice: phone.deviceID) == .writer)
      // "No admin lists the serial number of a handover that counts": notes 1.0 would drop all below it.
      let handovers = set(of: store).succession.handovers.map(\.serial)
      #expect(
        set(of: store).revocationLists.allSatisfy { list in
          handovers.allSatisfy { list.entries[$0] == nil }
        })
    }
    #expect(founderName(in: store) == "heir 4")
    try old.merge(store)
    #expect(old.members() == store.members())
    #expect(try store.verify(chain: store.chain(for: phone)).role == .writer)
  }

  @Test("Only the founder hands over, to an admin")
  func refused() throws {
    #expect(failure { try store.handOver(to: heir.deviceID, by: admin) } == .notTheFounder)
    #expect(
      failure { try store.handOver(to: phone.deviceID, by: family.founder) }
        == .heirRefused(name: "phone"))
    #expect(
      failure { try store.handOver(to: family.founder.deviceID, by: family.founder) }
        == .heirRefused(name: "Founder's laptop"))
    try store.remove(devices: [admin.deviceID], by: family.founder)
    #expect(
      failure { try store.handOver(to: admin.deviceID, by: family.founder) }
        == .notAMember(device: admin.deviceID))
    #expect(founderName(in: store) == "Founder's laptop")
    // An admin's own handover makes its device an admin, and no founder.
    let set = set(of: store)
    let authority = try #require(set.authority(ofKey: PublicKey.identifier(heir.publicKey)))
    let friend = try DeviceKey.random()
    let forged = try Certificate.member(
      name: "friend", role: .admin, publicKey: friend.publicKey, staying: authority.serial,
      issuer: authority, signedWith: heir, now: Family.start)
    _ = try store.merge(certificates: [forged.der], revocations: [])
    #expect(founderName(in: store) == "Founder's laptop")
    #expect(store.role(ofDevice: friend.deviceID) == .admin)
    try store.remove(devices: [friend.deviceID], by: family.founder)
    #expect(store.role(ofDevice: friend.deviceID) == nil)
  }

  @Test(
    "A handover is kept when the set is too large, and old programs pass over what makes it one")
  func kept() throws {
    try handOver()
    let full = set(of: store)
    var small = try CertificateSet(root: full.root.der, capacity: 4)
    _ = try small.insert(certificates: full.certificates.map(\.der), revocationLists: [])
    #expect(small.succession.key == full.succession.key && small.certificates.count == 4)
    #expect(small.members().first?.isFounder == true)
    let handover = try #require(full.succession.handovers.first)
    try family.folder.write(handover.der, to: "handover.crt")
    let text = try run([
      "openssl", "x509", "-inform", "der", "-in", family.folder["handover.crt"], "-noout", "-text",
    ]).text
    // "not critical"
    #expect(text.contains("\(Extension.handover.rawValue): \n"), "\(text)")
    #expect(handover.kind == .member(name: "heir, founder", role: .admin))
  }

  @Test("A notice of another form refuses the certificate")
  func form() throws {
    try handOver()
    let handover = try #require(set(of: store).succession.handovers.first)
    let value = try #require(handover.staying)
    let start = try #require(
      handover.der.firstRange(of: Extension.serialPrefix + value)?.lowerBound)
    for (offset, byte) in [(0, UInt8(0x05)), (1, 0x0F)] {
      var der = handover.der
      der[start + offset] = byte
      #expect(throws: CertificateDefect.self) { try Certificate(der: der) }
    }
  }
}
