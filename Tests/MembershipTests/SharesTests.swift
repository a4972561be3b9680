import Synchronization
import TestSupport
import Testing

@testable import Membership

// notes-security(7), "Shares" and "Removal".
@Suite("Membership: shares of the set", .timeLimit(.minutes(20)))
struct SharesTests {
  /// That many certificates for one key, by an admin that does not ask this code.
  private func junk(
    _ count: Int, by admin: DeviceKey, in store: MembershipStore, role: Role = .reader,
    from start: Int64 = 0
  ) throws -> [Certificate] {
    let identifier = try PublicKey.identifier(admin.publicKey)
    let authority = try #require(store.state.withLock { $0.set.authority(ofKey: identifier) })
    let friend = try DeviceKey.random()
    return try (0..<count).map {
      try .member(
        name: "friend", role: role, publicKey: friend.publicKey, issuer: authority,
        signedWith: admin, now: start + Int64($0))
    }
  }

  @Test("An admin that fills the set keeps nobody out, and is removed like any other")
  func flood() throws {
    let family = try Family()
    let hostile = try family.add("hostile", .admin)
    let second = try family.add("second", .admin)
    let phone = try family.add("phone", .writer, by: second)
    // The set's own size takes a minute.
    let capacity = 128
    try family.store.limit(to: capacity)
    let junk = try junk(capacity + 10, by: hostile, in: family.store)
    _ = try family.store.merge(certificates: junk.map(\.der), revocations: [])
    #expect(family.store.certificates.count == capacity)
    #expect(family.store.role(ofDevice: phone.deviceID) == .writer)
    // There is room for others, and for a demotion and a removal.
    let tablet = try family.add("tablet", .writer, by: second)
    #expect(family.store.role(ofDevice: tablet.deviceID) == .writer)
    try family.store.reissue(device: hostile.deviceID, role: .reader, by: second)
    #expect(family.store.role(ofDevice: hostile.deviceID) == .reader)
    try family.store.remove(devices: [hostile.deviceID], by: family.founder)
    #expect(family.store.role(ofDevice: hostile.deviceID) == nil)
    let stored = try MembershipStore.open(in: family.store.folder)
    try stored.limit(to: capacity)
    #expect(stored.members() == family.store.members())
    #expect(stored.certificates.count <= capacity)
  }

  // "A device verifies each signature once".
  @Test("No certificate is verified twice, whether it is kept, given up, or signed by nobody")
  func verifiedOnce() throws {
    let family = try Family()
    let hostile = try family.add("hostile", .admin)
    try family.store.limit(to: 64)
    let stranger = try Family()
    var sent = try junk(80, by: hostile, in: family.store).map(\.der)
    // Under an admin's name and key identifier, with another signature.
    sent += sent.prefix(20).map { $0.dropLast() + [$0[$0.count - 1] ^ 1] }
    sent += stranger.store.certificates
    let signatures = family.store.state.withLock { $0.set.signatures }
    let before = signatures.computed
    for _ in 0..<3 {
      for piece in [sent, sent.reversed()] {
        _ = try family.store.merge(certificates: piece, revocations: [])
      }
    }
    // The stranger's root is not even asked.
    #expect(signatures.computed - before == 100)
    #expect(family.store.certificates.count == 64)
  }

  @Test("What is kept of too much is the same, in whatever order it was learned")
  func anyOrder() throws {
    var random = SplitMix64.reported()
    let family = try Family()
    let admins = try ["first", "second"].map { try family.add($0, .admin) }
    let third = try family.add("third", .admin, by: admins[1])
    let phone = try family.add("phone", .writer, by: third)
    var all = try junk(40, by: admins[0], in: family.store, role: .admin)
    all += try junk(10, by: third, in: family.store, from: Family.start + 100)
    let certificates = (all.map(\.der) + family.store.certificates)
    var outcomes: Set<Set<[UInt8]>> = []
    for _ in 0..<6 {
      var set = try CertificateSet(root: family.store.root, capacity: 16)
      for _ in 0..<3 {
        var pieces = certificates.shuffled(using: &random)[...]
        while !pieces.isEmpty {
          let count = Int.random(in: 1...pieces.count, using: &random)
          _ = try set.insert(certificates: Array(pieces.prefix(count)), revocationLists: [])
          pieces = pieces.dropFirst(count)
        }
      }
      outcomes.insert(set.encodings)
      // What is sent again is passed over again.
      #expect(try set.insert(certificates: certificates, revocationLists: []) == false)
      #expect(set.certificates.count <= 16)
      #expect(set.memberChains[try PublicKey.identifier(phone.publicKey)] != nil)
      // Each of the three has a share: the founder's own four, and of the rest a half each.
      let byThird = set.certificates.filter { $0.issuerID == third.deviceID }.count
      #expect((4...6).contains(byThird), "\(byThird)")
    }
    #expect(outcomes.count == 1)
  }

  @Test("Of lists an admin has four at most, and accomplices keep no other admin's out")
  func lists() throws {
    let family = try Family()
    let hostile = try family.add("hostile", .admin)
    let phone = try family.add("phone", .writer)
    let second = try family.add("second", .admin)
    let phoneSerial = try #require(
      family.store.certificates.lazy.compactMap {
        try? Certificate(der: $0)
      }.first { $0.deviceID == phone.deviceID }?.serial)
    func lists(_ count: Int, by key: DeviceKey) throws -> [[UInt8]] {
      let identifier = try PublicKey.identifier(key.publicKey)
      let authority = try #require(
        family.store.state.withLock { $0.set.authority(ofKey: identifier) })
      return try (0..<count).map { number in
        let serial = [UInt8](repeating: UInt8(number + 1), count: 16)
        return try RevocationList.make(
          entries: [serial: .removed], number: UInt64(number), issuer: authority,
          signedWith: key, now: 0
        ).der
      }
    }
    for round in 0..<3 {
      let late = try lists(9, by: hostile).shuffled()
      _ = try family.store.merge(certificates: [], revocations: late)
      let numbers = try family.store.revocations.map { try RevocationList(der: $0).number }
      #expect(numbers.sorted() == [5, 6, 7, 8], "\(round)")
    }
    for _ in 0..<CertificateSet.maximumRevocationLists {
      let friend = try family.add("friend", .admin, by: hostile)
      _ = try family.store.merge(certificates: [], revocations: lists(1, by: friend))
    }
    #expect(family.store.revocations.count == CertificateSet.maximumRevocationLists)
    try family.store.remove(devices: [phone.deviceID], by: second)
    #expect(family.store.role(ofDevice: phone.deviceID) == nil)
    #expect(
      try family.store.revocations.contains {
        try RevocationList(der: $0).entries[phoneSerial] == .removed
      })
  }

  @Test("Whom an admin invited or made an admin is told, also through others, and goes if asked")
  func invited() throws {
    let family = try Family()
    let admin = try family.add("admin", .admin)
    let desk = try family.add("desk", .writer)
    let friend = try family.add("friend", .admin, by: admin)
    let phone = try family.add("phone", .writer, by: friend)
    try family.store.reissue(
      device: desk.deviceID, role: .admin, by: admin, now: Family.start + 10)
    let tv = try family.add("tv", .reader, by: desk)
    let gone = try family.add("gone", .reader, by: admin)
    try family.store.remove(devices: [gone.deviceID], by: family.founder)
    // A new name or role by somebody else changes nothing about it.
    try family.store.reissue(device: phone.deviceID, name: "tablet", by: family.founder)
    let other = try family.add("other", .writer)
    try family.store.reissue(device: other.deviceID, role: .reader, by: admin)

    let invited = family.store.invited(by: admin.deviceID)
    #expect(Set(invited.map(\.member.name)) == ["friend", "tablet", "desk", "tv"])
    #expect(invited.filter(\.wasMadeAdmin).map(\.member.name) == ["desk"])
    let tablet = try #require(invited.first { $0.member.name == "tablet" })
    #expect(tablet.issuedBy == friend.deviceID && tablet.issuedAt == Family.start)
    #expect(family.store.invited(by: tv.deviceID).isEmpty)

    try family.store.remove(
      devices: [admin.deviceID] + invited.map(\.member.deviceID), by: family.founder)
    let present = family.store.members().filter { !$0.isRemoved }.map(\.name)
    #expect(present.sorted() == ["Founder's laptop", "other"])
  }
}

// notes-security(7), "Removal", where the set is full.
extension SharesTests {
  private func puppets(
    _ count: Int, by admin: DeviceKey, in store: MembershipStore
  ) throws -> [Certificate] {
    let identifier = try PublicKey.identifier(admin.publicKey)
    let authority = try #require(store.state.withLock { $0.set.authority(ofKey: identifier) })
    return try (0..<count).map {
      try .member(
        name: "puppet \($0)", role: $0.isMultiple(of: 8) ? .admin : .writer,
        publicKey: DeviceKey.random().publicKey, issuer: authority, signedWith: admin,
        now: Family.start + Int64($0))
    }
  }

  private func present(_ store: MembershipStore) -> [String] {
    store.members().filter { !$0.isRemoved }.map(\.name)
  }

  // "One list, however many they are: one signature to make, and one to verify".
  @Test("An admin that has filled the set goes with all that it let in by one signature")
  func removedWithAll() throws {
    let family = try Family()
    let hostile = try family.add("hostile", .admin)
    _ = try family.add("phone", .writer)
    let count = CertificateSet.maximumCertificates - family.store.certificates.count
    let puppets = try puppets(count, by: hostile, in: family.store)
    _ = try family.store.merge(certificates: puppets.map(\.der), revocations: [])
    #expect(family.store.certificates.count == CertificateSet.maximumCertificates)
    let copy = try family.copy("copy")
    // Who takes in a notebook verifies each once.
    #expect(copy.signaturesComputed == CertificateSet.maximumCertificates)
    let (before, there) = (family.store.signaturesComputed, copy.signaturesComputed)

    let invited = family.store.invited(by: hostile.deviceID).map(\.member.deviceID)
    #expect(invited.count == count)
    try family.store.remove(devices: [hostile.deviceID] + invited, by: family.founder)
    #expect(present(family.store) == ["Founder's laptop", "phone"])
    #expect(family.store.signaturesComputed - before == 1)
    #expect(family.store.revocations.count == 1)
    try copy.merge(family.store)
    #expect(copy.signaturesComputed - there == 1)
    #expect(copy.members() == family.store.members())
  }

  // "and does not verify one that it has just made itself"
  @Test("Where they stay, who removes the admin verifies nothing that it signs for them")
  func removedAlone() throws {
    let family = try Family()
    let hostile = try family.add("hostile", .admin)
    let puppets = try puppets(100, by: hostile, in: family.store)
    _ = try family.store.merge(certificates: puppets.map(\.der), revocations: [])
    let before = family.store.signaturesComputed
    try family.store.remove(devices: [hostile.deviceID], by: family.founder)
    #expect(present(family.store).count == 101)
    #expect(family.store.signaturesComputed - before == 1)
    let copy = try family.copy("copy")
    #expect(copy.members() == family.store.members())
    // What was only remembered is good.
    #expect(try MembershipStore.open(in: family.store.folder).members() == copy.members())
  }
}

extension MembershipStore {
  /// How many signatures it has verified.
  fileprivate var signaturesComputed: Int { state.withLock { $0.set.signatures.computed } }

  /// Has it keep so many certificates, in place of those that notes-security(7) says.
  fileprivate func limit(to capacity: Int) throws {
    try state.withLock { state in
      var set = try CertificateSet(root: root, capacity: capacity)
      _ = try set.insert(
        certificates: state.set.certificates.map(\.der),
        revocationLists: state.set.revocationLists.map(\.der))
      state.set = set
    }
  }
}
