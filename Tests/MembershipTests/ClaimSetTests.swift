import System
import TestSupport
import Testing

@testable import Membership

// notes-security(7), "A lost founder".
@Suite("Membership: the set of claims and stops", .timeLimit(.minutes(20)))
struct ClaimSetTests: ClaimSuite {
  let claims: ClaimFamily

  init() throws { claims = try ClaimFamily() }

  // "... 128 claims and stops in all: first stops by the founder's key, then claims that name a certificate from a
  // founder, with their stops."
  @Test("A claimer with many claims does not crowd out the founder's stop")
  func crowding() throws {
    let claimer = try claim()
    let own = try #require(set(of: store).certificates(ofKey: identifier(anna)).first)
    let puppet = try DeviceKey.random()
    let heir = try Certificate.member(
      name: "puppet", role: .admin, publicKey: puppet.publicKey, staying: own.serial, issuer: own,
      signedWith: anna, now: Family.start + 5)
    var ders = [heir.der]
    let staying = try #require(set(of: store).stayingCertificate).serial
    for number in 0..<(CertificateSet.maximumStatements + 8) {
      let anchor = try Certificate.member(
        name: "anna", role: .admin, publicKey: anna.publicKey, issuer: heir, signedWith: puppet,
        now: Family.start + 6 + Int64(number))
      ders.append(anchor.der)
      ders.append(
        try forged(
          .claim(founder: identifier(family.founder), anchor: anchor.serial, staying: staying),
          by: anna, issuer: own))
    }
    for one in [store, other] { _ = try one.merge(certificates: ders, revocations: []) }
    #expect(set(of: other).statements.count == CertificateSet.maximumStatements)
    let stopped = try at(1) { try store.stopClaims(by: family.founder, now: Family.start + 999) }
    #expect(stopped.map(\.name) == ["anna"])
    try at(1) { for one in [other, claimer] { try one.merge(store) } }
    try hear(2...20, in: other)
    #expect(founder(in: other) == "Founder's laptop")
    #expect(try states(in: other)["anna"] == .stopped(by: [family.founder.deviceID]))
  }

  // "only by lists of the founder, and of present admins whom the founder certified, except the claimer"
  @Test("Lists of admins who were removed, or whom the claimer let in, void no stop")
  func lists() throws {
    let (ally, puppet) = (try DeviceKey.random(), try DeviceKey.random())
    _ = try store.issue(
      for: CertificateRequest(name: "ally", key: ally), role: .admin, by: family.founder,
      now: Family.start + 5)
    let own = try #require(set(of: store).certificates(ofKey: identifier(anna)).first)
    let replacing = try Certificate.member(
      name: "puppet", role: .admin, publicKey: puppet.publicKey, replacing: own.serial,
      issuer: own, signedWith: anna, now: Family.start + 5)
    _ = try store.merge(certificates: [replacing.der], revocations: [])
    let bens = try family.copy("ben's")
    for key in [ally, puppet] {
      let lists = try family.copy(key.deviceID)
      try lists.remove(devices: [ben.deviceID], by: key, now: Family.start + 6)
      try store.remove(devices: [key.deviceID], by: family.founder, now: Family.start + 7)
      try bens.merge(store)
      try bens.merge(lists)
    }
    let claimer = try claim()
    try at(0) { _ = try bens.merge(claimer) }
    _ = try at(1) { try bens.stopClaims(by: ben, now: Family.start + 11) }
    try at(1) { _ = try other.merge(bens) }
    #expect(try states(in: other) == ["anna": .stopped(by: [ben.deviceID])])
  }

  @Test("The certificates of a former founder are read in whatever order they stand on the disk")
  func orders() throws {
    let early = try family.copy("early")
    let claimer = try claim()
    try hear(0...14, in: other)
    try at(15) {
      try other.reissue(device: family.founder.deviceID, role: .writer, by: anna)
      _ = try other.merge(claimer)
    }
    let all = set(of: other)
    let ders = (all.certificates.union(all.statements)).map(\.der)
    var random = SplitMix64.reported()
    for round in 0..<24 {
      let one = try family.copy("order \(round)", of: early)
      _ = try one.merge(certificates: ders.shuffled(using: &random), revocations: [])
      #expect(set(of: one).certificates == all.certificates)
    }
  }

  @Test("Of several claims that of the admin whom the founder certified first holds up the others")
  func several() throws {
    let first = try claim(by: ben, in: "ben's")
    try hear(1...13, in: other)
    let second = try family.copy("anna's")
    try at(13) {
      try second.claim(by: anna, now: Family.start + 20)
      try other.merge(second)
    }
    #expect(try other.claims().map(\.claimer.name) == ["anna", "ben"])
    try hear(14...20, in: other)
    #expect(founder(in: other) == "Founder's laptop")
    // An admin stops all that are open, its own as well.
    let stopped = try family.copy("stopped", of: other)
    try at(20) { _ = try stopped.stopClaims(by: anna) }
    #expect(try states(in: stopped)["ben"] == .stopped(by: [anna.deviceID]))
    try hear(21...27, in: other)
    #expect(founder(in: other) == "anna")
    #expect(try states(in: other) == ["anna": .accepted(isContested: false)])
    // Who knew both accepts the same.
    try at(14) { for one in [first, second] { try one.merge(other) } }
    try hear(15...40, in: first)
    try hear(15...40, in: second)
    #expect(founder(in: first) == "anna" && founder(in: second) == "anna")
    #expect(first.members() == other.members())
  }

  @Test("The set of claims and stops is the same in whatever order they arrive, and stays small")
  func kept() throws {
    let claimer = try claim()
    try at(1) { _ = try store.stopClaims(by: ben, now: Family.start + 12) }
    let place = try identifier(family.founder)
    let set = set(of: store)
    let anchor = try #require(set.certificates(ofKey: identifier(anna)).first).serial
    let staying = try #require(set.stayingCertificate).serial
    var ders: [[UInt8]] = []
    for number in 0..<20 {
      ders.append(
        try forged(
          .claim(founder: place, anchor: anchor, staying: staying), by: anna,
          now: Family.start + Int64(number)))
      ders.append(
        try forged(
          .claim(
            founder: place, anchor: anchor,
            staying: [UInt8](repeating: UInt8(number), count: Serial.size)), by: anna,
          now: Family.start + 100))
      ders.append(
        try forged(
          .stop(founder: place, claimer: identifier(anna)), by: ben,
          now: Family.start + Int64(number)))
      ders.append(
        try forged(
          .stop(founder: place, claimer: [UInt8](repeating: UInt8(number), count: 32)), by: ben,
          now: 0))
    }
    var random = SplitMix64.reported()
    var digests: Set<[UInt8]> = []
    for round in 0..<8 {
      let one = try family.copy("\(round)", of: round % 2 == 0 ? other : claimer)
      _ = try one.merge(certificates: ders.shuffled(using: &random), revocations: [])
      try one.merge(store)
      _ = try one.merge(certificates: ders.shuffled(using: &random), revocations: [])
      digests.insert(try one.digest())
      #expect(self.set(of: one).statements.count == 2)
    }
    #expect(digests.count == 1)
  }

  @Test("Old programs refuse both forms, and other forms of them are refused here")
  func form() throws {
    let claimer = try claim()
    let one = try #require(set(of: claimer).statements.first)
    #expect(one.kind == .claim(name: "anna") && !one.isAuthority && one.role == .reader)
    try family.folder.write(one.der, to: "claim.crt")
    let text = try run([
      "openssl", "x509", "-inform", "der", "-in", family.folder["claim.crt"], "-noout", "-text",
    ]).text
    // An unknown role: notes 1.0 refuses the certificate.
    #expect(text.contains("OU = claim") || text.contains("OU=claim"), "\(text)")
    #expect(text.contains("\(Extension.claim.rawValue): \n"), "\(text)")
    let bytes = try #require(one.claimed).bytes
    let start = try #require(
      one.der.firstRange(of: Extension.claimPrefix + bytes)?.lowerBound)
    for (offset, byte) in [(0, UInt8(0x05)), (1, 0x3F)] {
      var der = one.der
      der[start + offset] = byte
      #expect(throws: CertificateDefect.self) { try Certificate(der: der) }
    }
    // It certifies nobody.
    #expect(set(of: claimer).certificates == set(of: other).certificates)
    #expect(claimer.members() == other.members())
  }
}
