import Synchronization
import TestSupport
import Testing

@testable import Membership

// notes-security(7), "Which lists count".
@Suite("Membership: which lists count", .timeLimit(.minutes(20)))
struct CountingListsTests {
  /// What is listed as removed by a key's list, made without asking the code that refuses it.
  private func list(
    _ devices: [DeviceKey], by key: DeviceKey, in store: MembershipStore, number: UInt64 = 99,
    signedAs old: Certificate? = nil
  ) throws -> RevocationList {
    let set = store.state.withLock { $0.set }
    let identifiers = Set(try devices.map { try PublicKey.identifier($0.publicKey) })
    let serials = set.certificates.filter { identifiers.contains($0.keyIdentifier) }.map(\.serial)
    let authority = try old ?? #require(set.authority(ofKey: PublicKey.identifier(key.publicKey)))
    return try RevocationList.make(
      entries: Dictionary(uniqueKeysWithValues: serials.map { ($0, .removed) }), number: number,
      issuer: authority, signedWith: key, now: Family.start)
  }

  @Test("A former admin, now a reader, removes nobody, and neither does one that was removed")
  func formerAdmin() throws {
    for isRemoved in [false, true] {
      let family = try Family()
      let admin = try family.add("admin", .admin)
      let second = try family.add("second", .admin)
      let phone = try family.add("phone", .writer)
      let old = try Certificate(der: try #require(family.store.chain(for: admin).first))
      let away = try family.copy("away")
      if isRemoved {
        try family.store.remove(devices: [admin.deviceID], by: family.founder)
      } else {
        try family.store.reissue(device: admin.deviceID, role: .reader, by: family.founder)
      }
      let members = family.store.members()
      let late = try list([phone, second], by: admin, in: family.store, signedAs: old)
      for store in [family.store, away] {
        _ = try store.merge(certificates: [], revocations: [late.der])
        try store.merge(family.store)
        #expect(store.members() == members)
        #expect(store.role(ofDevice: phone.deviceID) == .writer)
        #expect(store.role(ofDevice: second.deviceID) == .admin)
      }
    }
  }

  @Test("What an admin had removed stays removed when that admin is removed or demoted")
  func takenOver() throws {
    for isRemoved in [false, true] {
      let family = try Family()
      let first = try family.add("first", .admin)
      let second = try family.add("second", .admin)
      let phone = try family.add("phone", .writer)
      let tablet = try family.add("tablet", .admin)
      try family.store.remove(devices: [phone.deviceID], by: first)
      try family.store.reissue(device: tablet.deviceID, role: .reader, by: first)
      func end(_ admin: DeviceKey, by other: DeviceKey) throws {
        if isRemoved {
          try family.store.remove(devices: [admin.deviceID], by: other)
        } else {
          try family.store.reissue(device: admin.deviceID, role: .writer, by: other)
        }
      }
      try end(first, by: second)
      // And through two.
      try end(second, by: family.founder)
      #expect(family.store.member(phone)?.isRemoved == true)
      #expect(family.store.role(ofDevice: tablet.deviceID) == .reader)
      #expect(family.store.role(ofDevice: first.deviceID) == (isRemoved ? nil : .writer))
    }
  }

  @Test("Who hits back takes along the one who removed it, and nobody else")
  func hitBack() throws {
    let family = try Family()
    let admins = try (0..<4).map { try family.add("admin \($0)", .admin) }
    let phone = try family.add("phone", .writer)
    let tablet = try family.add("tablet", .writer)
    try family.store.remove(devices: [tablet.deviceID], by: admins[2])
    let late = try list(admins.dropFirst() + [phone], by: admins[0], in: family.store)
    try family.store.remove(devices: [admins[0].deviceID], by: admins[1])
    _ = try family.store.merge(certificates: [], revocations: [late.der])
    let roles = admins.map { family.store.role(ofDevice: $0.deviceID) }
    #expect(roles == [nil, nil, .admin, .admin])
    #expect(family.store.role(ofDevice: phone.deviceID) == .writer)
    #expect(family.store.member(tablet)?.isRemoved == true)
  }

  @Test("Of two who end each other, what both had listed counts")
  func agreed() throws {
    let family = try Family()
    let first = try family.add("first", .admin)
    let second = try family.add("second", .admin)
    let phone = try family.add("phone", .writer)
    let tablet = try family.add("tablet", .writer)
    try family.store.remove(devices: [phone.deviceID], by: first)
    let other = try family.copy("other")
    // The one takes over the entries of the other, who then removes a device besides.
    try family.store.remove(devices: [first.deviceID], by: second)
    try other.remove(devices: [tablet.deviceID], by: first)
    try other.remove(devices: [second.deviceID], by: first)
    try family.store.merge(other)
    #expect(family.store.role(ofDevice: first.deviceID) == nil)
    #expect(family.store.role(ofDevice: second.deviceID) == nil)
    #expect(family.store.member(phone)?.isRemoved == true)
    #expect(family.store.role(ofDevice: tablet.deviceID) == .writer)
    // Invited again, they are members again, with another role than before or the same.
    for (key, role) in [(first, Role.writer), (second, .admin)] {
      _ = try family.store.issue(
        for: CertificateRequest(name: "again", key: key), role: role, by: family.founder)
      #expect(family.store.role(ofDevice: key.deviceID) == role)
    }
  }

  @Test("An accomplice that goes with the admin it removes does not bring its inviter back")
  func accomplice() throws {
    let family = try Family()
    let admin = try family.add("admin", .admin)
    let hostile = try family.add("hostile", .admin)
    let friend = try family.add("friend", .admin, by: hostile)
    let byAdmin = try list([hostile], by: admin, in: family.store)
    let byFriend = try list([admin], by: friend, in: family.store)
    _ = try family.store.merge(certificates: [], revocations: [byFriend.der, byAdmin.der])
    for key in [admin, hostile, friend] {
      #expect(family.store.role(ofDevice: key.deviceID) == nil)
    }
  }

  @Test("A demotion wins over a change made without knowing of it")
  func demotionWins() throws {
    let family = try Family()
    let admin = try family.add("admin", .admin)
    let second = try family.add("second", .admin)
    let other = try family.copy("other")
    try family.store.reissue(
      device: admin.deviceID, role: .reader, by: family.founder, now: Family.start)
    try other.reissue(device: admin.deviceID, name: "new", by: second, now: Family.start + 1000)
    try family.store.merge(other)
    try other.merge(family.store)
    #expect(family.store.role(ofDevice: admin.deviceID) == .reader)
    #expect(other.members() == family.store.members())
    // Made an admin again, it is one.
    try other.reissue(device: admin.deviceID, role: .admin, by: second)
    #expect(other.role(ofDevice: admin.deviceID) == .admin)
    // Invited with a lesser role, it has that.
    _ = try other.issue(
      for: CertificateRequest(name: "again", key: admin), role: .writer, by: second)
    #expect(other.role(ofDevice: admin.deviceID) == .writer)
    #expect(failure { try other.remove(devices: [second.deviceID], by: admin) } != nil)
  }

  @Test("An admin cannot end those through which alone it is one; with another way it can")
  func ownCertifier() throws {
    let family = try Family()
    let first = try family.add("first", .admin)
    let second = try family.add("second", .admin, by: first)
    let third = try family.add("third", .admin, by: second)
    let before = family.store.members()
    for admin in [first, second] {
      #expect(
        failure { try family.store.remove(devices: [admin.deviceID], by: third) } == .ownCertifier)
    }
    #expect(
      failure { try family.store.reissue(device: first.deviceID, role: .writer, by: second) }
        == .ownCertifier)
    #expect(family.store.members() == before)
    _ = try family.store.issue(
      for: CertificateRequest(name: "third", key: third), role: .admin, by: family.founder)
    try family.store.remove(devices: [first.deviceID], by: third)
    #expect(family.store.role(ofDevice: second.deviceID) == .admin)
    #expect(family.store.role(ofDevice: first.deviceID) == nil)
  }

  @Test("A certificate with the serial number of the root or of the founder can be revoked")
  func borrowedSerial() throws {
    let family = try Family()
    let hostile = try family.add("hostile", .admin)
    let set = family.store.state.withLock { $0.set }
    let authority = try #require(set.authority(ofKey: PublicKey.identifier(hostile.publicKey)))
    let own = try Certificate(der: try #require(family.store.chain(for: family.founder).first))
    var friends: [DeviceKey] = []
    for serial in [set.root.serial, own.serial] {
      let friend = try DeviceKey.random()
      let certificate = try Certificate.member(
        name: "friend", role: .writer, publicKey: friend.publicKey, serial: serial,
        issuer: authority, signedWith: hostile, now: 0)
      _ = try family.store.merge(certificates: [certificate.der], revocations: [])
      friends.append(friend)
    }
    for friend in friends {
      #expect(family.store.role(ofDevice: friend.deviceID) == .writer)
      try family.store.remove(devices: [friend.deviceID], by: family.founder)
      #expect(family.store.role(ofDevice: friend.deviceID) == nil)
    }
    #expect(try family.store.chain(for: family.founder) == [own.der])
  }
}
