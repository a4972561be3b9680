import Synchronization
internal import TestSupport
import Testing

@testable import Membership

// notes-security(7), "The growing set".
@Suite("Membership: the growing set", .timeLimit(.minutes(20)))
struct MembershipStoreTests {
  @Test("The founder has an ordinary certificate, issued by the root")
  func founding() throws {
    let family = try Family()
    let members = family.store.members()
    let member = try #require(members.first)
    #expect(members.count == 1)
    #expect(member.name == "Founder's laptop" && member.isFounder && !member.isRemoved)
    #expect(member.role == .admin && member.deviceID == family.founder.deviceID)
    #expect(member.issuedBy == family.founder.deviceID && member.issuedAt == Family.start)
    #expect(family.store.notebookName == "Home" && family.store.notebookID.count == 52)
    let chain = try family.store.chain(for: family.founder)
    #expect(chain.count == 1)
    #expect(try family.store.verify(chain: chain) == member)
    #expect(try MembershipStore.open(in: family.store.folder).members() == members)
  }

  @Test("Founding never overwrites, and names are checked first")
  func foundingTwice() throws {
    let family = try Family()
    let other = try DeviceKey.random()
    #expect(
      failure {
        _ = try MembershipStore.found(
          in: family.store.folder, notebookName: "Other", deviceName: "b", key: other)
      } == .membershipExists(notebookID: family.store.notebookID))
    #expect(
      failure {
        _ = try MembershipStore.found(
          in: family.folder["new"], notebookName: "a\nb", deviceName: "b", key: other)
      } == .nameRefused(.forbidden(0x0A)))
    #expect(
      failure { _ = try MembershipStore.open(in: family.folder["new"]) }
        == .membershipMissing(folder: family.folder["new"]))
  }

  // "it judges other devices by its former set"
  @Test("While a peer's set is taken in, members are recognised", .timeLimit(.minutes(10)))
  func mergeUnderWay() throws {
    let family = try Family()
    let bob = try family.add("Bob", .writer)
    let chain = try family.store.chain(for: bob)
    family.store.state.withLock { $0.merges += 1 }
    try family.store.changing.withLock { _ throws in
      #expect(try family.store.verify(chain: chain).name == "Bob")
      #expect(family.store.role(ofDevice: bob.deviceID) == .writer)
      #expect(try family.store.merge(certificates: chain, revocations: []) == false)
    }
  }

  // "Its chain may have at most 8 certificates, the root included".
  @Test("A chain that has become shorter carries what was too long before")
  func shorterChain() throws {
    let family = try Family()
    var admins = [family.founder]
    for number in 1...6 {
      admins.append(try family.add("\(number)", .admin, by: admins[number - 1]))
    }
    let others = try family.copy("others")
    let last = try family.add("7", .admin, by: admins[6])
    // The chain of the last has 8; by a new certificate for the one before it, 3.
    let shortcut = try family.copy("shortcut", of: others)
    try shortcut.reissue(device: admins[6].deviceID, by: family.founder)
    let seventh = try family.copy("seventh", of: shortcut)
    try seventh.merge(family.store)
    let phone = try family.add("phone", .writer, by: last, in: seventh)
    let longer = seventh.certificates.filter { !family.store.certificates.contains($0) }
    for (name, order) in [("one", longer), ("other", longer.reversed())] {
      let store = try family.copy(name)
      for certificate in order + order {
        _ = try store.merge(certificates: [certificate], revocations: [])
      }
      #expect(store.role(ofDevice: phone.deviceID) == .writer)
    }
  }

  @Test("Devices that have seen the same agree, in whatever order they saw it")
  func anyOrder() throws {
    var random = SplitMix64.reported()
    let family = try Family()
    let admins = try (1...3).map { try family.add("admin \($0)", .admin) }
    var devices: [DeviceKey] = []
    for (index, admin) in admins.enumerated() {
      devices.append(try family.add("phone \(index)", .writer, by: admin))
      devices.append(try family.add("tablet \(index)", .reader, by: admin))
    }
    // Each admin acts without knowing what the others do.
    let stores = try admins.indices.map { try family.copy("admin \($0)") }
    try stores[0].remove(devices: [devices[2].deviceID], by: admins[0])
    try stores[1].reissue(device: devices[0].deviceID, role: .reader, by: admins[1])
    try stores[2].remove(devices: [admins[0].deviceID], by: admins[2])
    try stores[0].reissue(device: devices[5].deviceID, name: "kitchen", by: admins[0])

    let certificates = stores.flatMap(\.certificates)
    let revocations = stores.flatMap(\.revocations)
    var outcomes: [[Member]] = []
    var digests: Set<[UInt8]> = [try family.store.digest()]
    for round in 0..<8 {
      let store = try family.copy("merged \(round)")
      // In one piece, or a few at a time, some of them twice.
      var pieces: [([[UInt8]], [[UInt8]])] =
        certificates.shuffled(using: &random).map { ([$0], []) }
        + revocations.map { ([], [$0]) } + revocations.map { ([], [$0]) }
      pieces.shuffle(using: &random)
      if round == 0 { pieces = [(certificates, revocations)] }
      for (certificates, revocations) in pieces + pieces {
        _ = try store.merge(certificates: certificates, revocations: revocations)
      }
      outcomes.append(store.members())
      digests.insert(try store.digest())
      #expect(try MembershipStore.open(in: store.folder).members() == store.members())
      #expect(try store.merge(certificates: certificates, revocations: revocations) == false)
    }
    #expect(Set(outcomes).count == 1)
    // That of the founder, who has heard of nothing, and that of all others.
    #expect(digests.count == 2)
    let members = try #require(outcomes.first)
    #expect(members.count == 10)
    let removed = members.filter(\.isRemoved).map(\.name)
    // What the first removed without knowing that it was none any more does not count.
    #expect(removed == ["admin 1"])
  }

  @Test("Nothing of another notebook, and nothing that no admin signed, is taken in")
  func foreign() throws {
    let family = try Family()
    let other = try Family()
    _ = try other.add("spy", .admin)
    #expect(try family.store.merge(other.store) == false)

    // A writer that signs as if it were an admin.
    let writer = try family.add("writer", .writer)
    let own = try Certificate(der: try #require(try family.store.chain(for: writer).first))
    let friend = try DeviceKey.random()
    let forged = try Certificate.member(
      name: "friend", role: .writer, publicKey: friend.publicKey, issuer: own,
      signedWith: writer, now: 0)
    let root = try Certificate(der: family.store.root)
    let claimed = try Certificate.member(
      name: "friend", role: .writer, publicKey: friend.publicKey, issuer: root,
      signedWith: writer, now: 0)
    let list = try RevocationList.make(
      entries: [own.serial: .removed], number: 1, issuer: own, signedWith: writer, now: 0)
    #expect(
      try family.store.merge(
        certificates: [forged.der, claimed.der, [1, 2, 3]], revocations: [list.der, [0x30, 0]])
        == false)
    #expect(
      failure { _ = try family.store.verify(chain: [forged.der, own.der]) }
        == .notAMember(device: friend.deviceID))
  }

  @Test("Only admins issue and remove")
  func onlyAdmins() throws {
    let family = try Family()
    let writer = try family.add("writer", .writer)
    let stranger = try DeviceKey.random()
    for key in [writer, stranger] {
      let refusal = MembershipError.notAnAdmin(device: key.deviceID)
      let request = try CertificateRequest(name: "new", key: .random())
      #expect(
        failure { _ = try family.store.issue(for: request, role: .reader, by: key) } == refusal)
      #expect(failure { try family.store.remove(devices: [writer.deviceID], by: key) } == refusal)
      #expect(
        failure { try family.store.reissue(device: writer.deviceID, role: .admin, by: key) }
          == refusal)
    }
  }

  @Test("A member's chain is verified with what it presents, before it is stored")
  func presentedChain() throws {
    let family = try Family()
    let other = try family.copy("other")
    let admin = try family.add("admin", .admin)
    let phone = try family.add("phone", .writer, by: admin)
    let chain = try family.store.chain(for: phone)
    // `other` has heard of neither.
    #expect(try other.verify(chain: chain).name == "phone")
    #expect(other.member(phone) == nil)
    #expect(
      failure { _ = try other.verify(chain: [chain[0]]) } == .notAMember(device: phone.deviceID))
    #expect(failure { _ = try other.verify(chain: []) } == .certificateRefused(.encoding))
  }

  @Test("What another process stores is seen")
  func refreshing() throws {
    let family = try Family()
    let watcher = try MembershipStore.open(in: family.store.folder)
    let phone = try family.add("phone", .writer)
    #expect(try watcher.verify(chain: family.store.chain(for: phone)).name == "phone")
    try family.store.remove(devices: [phone.deviceID], by: family.founder)
    try watcher.refresh()
    #expect(watcher.members() == family.store.members())
    #expect(watcher.role(ofDevice: phone.deviceID) == nil)
  }

  @Test("A stored file that changed is an error, one half-written is passed over")
  func damaged() throws {
    let family = try Family()
    let folder = family.store.folder
    let name = try #require(try run(["ls", "\(folder)/certificates"]).lines.first)
    try family.folder.write("half", to: "founder/certificates/\(name).0123.tmp")
    #expect(try MembershipStore.open(in: folder).members() == family.store.members())
    let path = "founder/certificates/\(name)"
    var bytes = try family.folder.read(path)
    bytes[bytes.count - 1] ^= 1
    try family.folder.write(bytes, to: path)
    #expect(
      failure { _ = try MembershipStore.open(in: folder) }
        == .fileDamaged(path: "\(folder)/certificates/\(name)"))
  }

  @Test("A later form of the folder is refused by its name")
  func laterForm() throws {
    let family = try Family()
    #expect(try family.folder.text("founder/format") == "notes membership 1\n")
    try family.folder.write("notes membership 2\n", to: "founder/format")
    #expect(
      failure { _ = try MembershipStore.open(in: family.store.folder) }
        == .formatUnsupported(folder: family.store.folder, found: "notes membership 2"))
  }

  @Test("A chain of admins ends at the greatest length")
  func chainLength() throws {
    let family = try Family()
    var issuer = family.founder
    for index in 2...CertificateSet.maximumChainLength {
      issuer = try family.add("admin \(index)", .admin, by: issuer)
    }
    #expect(
      failure { _ = try family.add("one more", .reader, by: issuer) }
        == .limitExceeded(
          what: "certificates in a chain", limit: CertificateSet.maximumChainLength))
  }
}
