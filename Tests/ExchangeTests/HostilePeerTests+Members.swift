import Channel
import Synchronization
import TestSupport
import Testing

@testable import Exchange
@testable import Membership

// What admins and former admins may cost others: each in a notebook of its own, with an honest member
// served meanwhile.
extension HostilePeerTests {
  private func authority(_ device: Device) throws -> Certificate {
    let identifier = try PublicKey.identifier(device.key.publicKey)
    return try #require(
      device.context.membership.state.withLock { $0.set.authority(ofKey: identifier) })
  }

  /// Sends these as Bob.
  private func send(
    certificates: [[UInt8]], revocations: [[UInt8]] = [], to world: HostileWorld
  ) throws {
    try world.play { script in
      try script.stream.send(script.hello(heads: []))
      _ = try script.stream.receive(HelloMessage.self)
      for message in MembershipMessage.messages(
        certificates: certificates, revocations: revocations)
      {
        try script.stream.send(message)
      }
      var more: Bool? = true
      while more == true { more = try script.stream.receive(MembershipMessage.self).more }
      // It has taken them in when it says so.
      while try script.stream.receive().type != .applied {}
    }
  }

  // notes-security(7), "Shares" and THE GROWING SET.
  @Test("an admin that fills the set")
  func fullSet() throws {
    let world = try HostileWorld(role: .admin)
    let count = HostileTable.isFull ? ProtocolLimits.certificates : 512
    let authority = try authority(world.bob)
    let friend = try DeviceKey.random()
    let junk = try (0..<count).map { number in
      try Certificate.member(
        name: "friend", role: number % 2 == 0 ? .reader : .admin, publicKey: friend.publicKey,
        issuer: authority, signedWith: world.bob.key, now: Int64(number)
      ).der
    }
    try world.measure("\(count) certificates by one admin", takesLong: true) {
      try send(certificates: junk, to: world)
    }
    try world.measure("the same again", takesLong: true) { try send(certificates: junk, to: world) }
    // Nothing prevents its removal.
    try world.ada.context.membership.remove(devices: [world.bob.key.deviceID], by: world.ada.key)
    #expect(throws: (any Error).self) { try world.synchronise(world.bob) }
    _ = try world.serveCarol()
  }

  // notes-security(7), "Which lists count".
  @Test("accomplices whose lists end each other")
  func contestedLists() throws {
    let world = try HostileWorld(role: .admin)
    let count = HostileTable.isFull ? 100 : 24
    let authority = try authority(world.bob)
    var admins: [(key: DeviceKey, certificate: Certificate)] = []
    for _ in 0..<count {
      let key = try DeviceKey.random()
      admins.append(
        (
          key,
          try .member(
            name: "friend", role: .admin, publicKey: key.publicKey, issuer: authority,
            signedWith: world.bob.key, now: 1)
        ))
    }
    // Rings of three, each of which ends somebody of the next.
    let lists = try admins.indices.map { index in
      let next = index % 3 == 2 ? index - 2 : min(index + 1, count - 1)
      var entries: [[UInt8]: RevocationList.Reason] = [
        admins[next].certificate.serial: .removed
      ]
      if index + 3 < count { entries[admins[index + 3].certificate.serial] = .removed }
      return try RevocationList.make(
        entries: entries, number: 1, issuer: admins[index].certificate,
        signedWith: admins[index].key, now: 1
      ).der
    }
    try world.measure("\(count) accomplices whose lists end each other", takesLong: true) {
      try send(certificates: admins.map(\.certificate.der), revocations: lists, to: world)
    }
    #expect(world.ada.context.membership.role(ofDevice: world.carol.key.deviceID) == .writer)
  }

  @Test("lists of all the bytes that a set may have")
  func largeLists() throws {
    let world = try HostileWorld(role: .admin)
    let (count, entries) = HostileTable.isFull ? (32, RevocationList.maximumEntries) : (4, 1_000)
    let authority = try authority(world.bob)
    let lists = try (0..<count).map { number in
      let serials = (0..<entries).map { entry in
        [1] + withUnsafeBytes(of: (UInt64(number), UInt64(entry))) { Array($0.prefix(15)) }
      }
      return try RevocationList.make(
        entries: Dictionary(uniqueKeysWithValues: serials.map { ($0, .removed) }),
        number: UInt64(number), issuer: authority, signedWith: world.bob.key, now: 1
      ).der
    }
    try world.measure("\(count) lists of \(entries) serial numbers", takesLong: true) {
      try send(certificates: [], revocations: lists, to: world)
    }
  }

  // notes-security(7), "Which lists count": what a former admin lists is void.
  @Test("the list of a former admin that removes everybody")
  func formerAdmin() throws {
    let world = try HostileWorld(role: .admin)
    let authority = try authority(world.bob)
    let membership = world.ada.context.membership
    try membership.refresh()
    let serials = try membership.certificates.map { try Certificate(der: $0).serial }
    try membership.reissue(device: world.bob.key.deviceID, role: .reader, by: world.ada.key)
    let list = try RevocationList.make(
      entries: Dictionary(serials.map { ($0, .removed) }, uniquingKeysWith: max), number: 9,
      issuer: authority, signedWith: world.bob.key, now: 1)
    try world.measure("a former admin's list of everybody", takesLong: true) {
      try send(certificates: [], revocations: [list.der], to: world)
    }
    #expect(membership.role(ofDevice: world.carol.key.deviceID) == .writer)
  }

  // notes-protocol(7), LIMITS: "If a device has too many sessions, its oldest session is closed".
  @Test("all the sessions that a device can open")
  func sessions() throws {
    let world = try HostileWorld()
    let held = try world.measure("80 sessions of one device that say nothing", takesLong: true) {
      try (0..<80).map { _ in try world.connect() }
    }
    #expect(held.count == 80)
  }
}
