import System
import TestSupport
import Testing

@testable import Membership

// notes-security(7), "A lost founder".
@Suite("Membership: claims of the founder's place", .timeLimit(.minutes(20)))
struct ClaimTests: ClaimSuite {
  let claims: ClaimFamily

  init() throws { claims = try ClaimFamily() }

  @Test("Every device accepts a claim on the fourteenth day, and then its device is the founder")
  func accepted() throws {
    let claimer = try claim()
    for one in [store, other, claimer] {
      #expect(try states(in: one) == ["anna": .open(daysLeft: 14)])
    }
    try hear(0...13, in: other)
    // "Until then the claim has no effect."
    #expect(founder(in: other) == "Founder's laptop")
    #expect(try states(in: other) == ["anna": .open(daysLeft: 1)])
    let before = Set(other.members().filter { !$0.isRemoved }.map(\.deviceID))
    // Devices that do not hear others do not count, except the claimer's own.
    for day in 14...20 { try at(day) { try other.refresh() } }
    #expect(founder(in: other) == "Founder's laptop")
    for day in 1...14 { try at(day) { try claimer.refresh() } }
    #expect(founder(in: claimer) == "anna")
    try hear(21...21, in: other)
    #expect(founder(in: other) == "anna")
    #expect(try states(in: other) == ["anna": .accepted(isContested: false)])
    #expect(Set(other.members().filter { !$0.isRemoved }.map(\.deviceID)) == before)
    #expect(try MembershipStore.open(in: other.folder).members() == other.members())
    // Nobody removes it, and it removes the former founder, whose devices stay.
    #expect(
      failure { try other.remove(devices: [anna.deviceID], by: ben) } == .founderIsPermanent)
    try claimer.remove(devices: [family.founder.deviceID], by: anna, now: Family.start + 20)
    try claimer.reissue(device: anna.deviceID, name: "anna", by: anna, now: Family.start + 21)
    #expect(founder(in: claimer) == "anna" && claimer.member(anna)?.deviceName == "anna")
    try at(21) { _ = try other.merge(claimer) }
    #expect(other.members() == claimer.members())
    #expect(other.role(ofDevice: family.founder.deviceID) == nil)
    for (key, role) in [(ben, Role.admin), (friend, .admin), (phone, .writer)] {
      #expect(other.role(ofDevice: key.deviceID) == role)
    }
    // A device that has not accepted yet: both stay members there, and so does whom the claimer lets in.
    let tablet = try family.add("tablet", .reader, by: anna, in: claimer)
    try at(3) { _ = try store.merge(claimer) }
    #expect(founder(in: store) == "Founder's laptop")
    #expect(store.role(ofDevice: tablet.deviceID) == .reader)
    #expect(store.role(ofDevice: family.founder.deviceID) == .admin)
    try hear(1...14, in: store)
    #expect(store.members() == claimer.members())
    // The founder by a claim hands over as any other.
    try claimer.handOver(to: ben.deviceID, by: anna, now: Family.start + 30)
    try at(22) { for one in [store, other] { try one.merge(claimer) } }
    for one in [claimer, store, other] { #expect(founder(in: one) == "ben") }
    try claimer.remove(devices: [anna.deviceID], by: ben, now: Family.start + 31)
    try at(22) { _ = try other.merge(claimer) }
    #expect(other.role(ofDevice: anna.deviceID) == nil && other.members() == claimer.members())
    #expect(other.role(ofDevice: tablet.deviceID) == .reader)
  }

  @Test("The founder, another admin whom it certified, and the claimer stop a claim for good")
  func stopped() throws {
    let stoppers: [(ClaimTests) -> DeviceKey] = [{ $0.family.founder }, { $0.ben }, { $0.anna }]
    for stopper in stoppers {
      let tests = try ClaimTests()
      let by = stopper(tests)
      let claimer = try tests.claim()
      for names in [["anna"], []] {
        let stopped = try tests.at(3) {
          try tests.store.stopClaims(by: by, now: Family.start + 11)
        }
        #expect(stopped.map(\.name) == names)
      }
      #expect(try tests.states(in: tests.store) == ["anna": .stopped(by: [by.deviceID])])
      try tests.hear(1...13, in: tests.other)
      // On the last day the stop arrives in the session that would accept.
      try tests.at(14) {
        try tests.other.merge(tests.store)
        try tests.other.heardMembership()
      }
      try tests.hear(15...40, in: tests.other)
      #expect(tests.founder(in: tests.other) == "Founder's laptop")
      #expect(try tests.states(in: tests.other) == ["anna": .stopped(by: [by.deviceID])])
      try tests.at(15) { _ = try claimer.merge(tests.store) }
      #expect(
        failure { try claimer.claim(by: tests.anna) } == .claimRefused(.wasStopped))
      // Also on a device that did not see it open.
      let fresh = try tests.family.copy("fresh")
      try tests.hear(1...40, in: fresh)
      #expect(tests.founder(in: fresh) == "Founder's laptop")
    }
  }

  @Test(
    "Strangers, accomplices and writers stop nothing, and writers and accomplices claim nothing")
  func outsiders() throws {
    _ = try claim(by: ben)
    let (place, stranger) = (try identifier(family.founder), try DeviceKey.random())
    let stop = ClaimStatement.stop(founder: place, claimer: try identifier(ben))
    let annas = try #require(set(of: store).certificates(ofKey: identifier(anna)).first)
    // The accomplice has its role from another admin.
    var ders = try [friend, phone].map { try forged(stop, by: $0) }
    ders.append(try forged(stop, by: stranger, issuer: annas))
    var changed = try forged(stop, by: family.founder)
    changed[changed.count - 1] ^= 1
    ders.append(changed)
    // One of another notebook's founder.
    ders.append(
      try forged(.stop(founder: identifier(stranger), claimer: identifier(ben)), by: anna))
    for der in ders {
      _ = try at(1) { try other.merge(certificates: [der], revocations: []) }
    }
    #expect(try states(in: other) == ["ben": .open(daysLeft: 14)])
    #expect(
      failure { _ = try at(1) { try other.stopClaims(by: friend) } } == .claimRefused(.mayNotStop))
    #expect(
      failure { _ = try at(1) { try other.stopClaims(by: phone) } } == .claimRefused(.mayNotStop))
    #expect(failure { try other.claim(by: phone) } == .notAnAdmin(device: phone.deviceID))
    #expect(failure { try other.claim(by: friend) } == .claimRefused(.notByFounder))
    #expect(failure { try other.claim(by: family.founder) } == .claimRefused(.wasFounder))
    let staying = try #require(set(of: store).stayingCertificate).serial
    for key in [friend, phone, stranger, anna] {
      let own = try set(of: store).certificates(ofKey: identifier(key)).first
      // Anna names a certificate of the founder's that nobody knows.
      let der = try forged(
        .claim(
          founder: place, anchor: own?.serial ?? staying,
          staying: key.deviceID == anna.deviceID ? annas.serial : staying), by: key,
        issuer: own ?? annas)
      _ = try at(1) { try other.merge(certificates: [der], revocations: []) }
    }
    #expect(try states(in: other) == ["ben": .open(daysLeft: 14)])
    try hear(1...14, in: other)
    #expect(founder(in: other) == "ben")
  }

  @Test("A claimer that removes other admins does not keep them from stopping its claim")
  func removing() throws {
    let claimer = try family.copy("claimer")
    let bens = try family.copy("ben's")
    try claimer.remove(devices: [ben.deviceID], by: anna, now: Family.start + 5)
    try at(0) {
      try claimer.claim(by: anna, now: Family.start + 10)
      for one in [other, bens] { try one.merge(claimer) }
    }
    #expect(bens.role(ofDevice: ben.deviceID) == nil)
    let stopped = try at(1) { try bens.stopClaims(by: ben, now: Family.start + 11) }
    #expect(stopped.map(\.name) == ["anna"])
    try at(1) { _ = try other.merge(bens) }
    #expect(try states(in: other) == ["anna": .stopped(by: [ben.deviceID])])
    // One that the founder removed stops nothing.
    let tests = try ClaimTests()
    _ = try tests.claim()
    try tests.store.remove(devices: [tests.ben.deviceID], by: tests.family.founder)
    #expect(
      failure { _ = try tests.at(1) { try tests.store.stopClaims(by: tests.ben) } }
        == .claimRefused(.mayNotStop))
  }

  // "A stop, a removal of the claimer ... that a device learns of after it has accepted the claim changes nothing"
  @Test("A removal of the claimer that comes too late is reported")
  func removedTooLate() throws {
    _ = try claim()
    try hear(0...14, in: other)
    #expect(founder(in: other) == "anna")
    try at(15) {
      try store.remove(devices: [anna.deviceID], by: family.founder)
      _ = try other.merge(store)
    }
    #expect(try states(in: other) == ["anna": .accepted(isContested: true)])
  }

  @Test("A removal or a lesser role ends a claim, and it does not come back with the device")
  func removed() throws {
    for lessens in [false, true] {
      let tests = try ClaimTests()
      let claimer = try tests.claim()
      try tests.hear(1...10, in: tests.other)
      try tests.at(10) {
        if lessens {
          try tests.store.reissue(device: tests.anna.deviceID, role: .writer, by: tests.ben)
        } else {
          try tests.store.remove(devices: [tests.anna.deviceID], by: tests.ben)
        }
        try tests.other.merge(tests.store)
      }
      #expect(try tests.states(in: tests.other).isEmpty)
      try tests.hear(11...30, in: tests.other)
      #expect(tests.founder(in: tests.other) == "Founder's laptop")
      // The device is let in again, and the old claim is shown again.
      _ = try tests.store.issue(
        for: CertificateRequest(name: "anna", key: tests.anna), role: .admin,
        by: tests.family.founder, now: Family.start + 50)
      try tests.at(31) {
        try tests.other.merge(tests.store)
        try tests.other.merge(claimer)
      }
      try tests.hear(32...60, in: tests.other)
      #expect(tests.other.role(ofDevice: tests.anna.deviceID) == .admin)
      #expect(tests.founder(in: tests.other) == "Founder's laptop")
      // A new claim counts from its first sight.
      try tests.at(61) {
        try tests.store.claim(by: tests.anna, now: Family.start + 60)
        try tests.other.merge(tests.store)
      }
      #expect(try tests.states(in: tests.other) == ["anna": .open(daysLeft: 14)])
    }
  }

  // "A clock that jumps ahead adds one day, and one that goes back none."
  @Test("A clock far ahead or back does not shorten the wait, and does not stop it")
  func clock() throws {
    _ = try claim()
    func left() throws -> Int? {
      if case .open(let days)? = try states(in: other)["anna"] { days } else { nil }
    }
    for (day, expected) in [
      (0, 14), (40_000, 13), (40_000, 13), (-10, 13), (-10, 13), (-9, 12), (-20_000, 12), (1, 11),
      (1, 11), (2, 10), (400, 9), (3, 9), (4, 8),
      // A day counts only once, however often the clock goes back and returns.
      (3, 8), (4, 8), (0, 8), (1, 8), (4, 8),
    ] {
      try hear(day...day, in: other)
      #expect(try left() == expected, "day \(day)")
    }
    try hear(5...11, in: other)
    #expect(try left() == 1)
    try hear(12...12, in: other)
    #expect(founder(in: other) == "anna")
  }

  @Test("A damaged record is an error, and a missing one counts anew")
  func damaged() throws {
    _ = try claim()
    try hear(1...13, in: other)
    let path = "\(other.folder)/claims"
    let good = try Disk.read(path, limit: 1 << 16)
    let text = String(decoding: good, as: UTF8.self)
    let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
    #expect(words.count == 20 && words[2] == "waiting", "\(text)")
    let ids = "\(words[3]) \(words[4])"
    let line = String(text.dropLast())
    let longer: [String] = [" 1 2\n", " \(words[19])\n", " x\n"].map { line + $0 }
    let others: [String] = [
      "", "\n", "notes-claims 1\n", "notes-claims 2\nstopped \(ids)\n", line,
      String(text.dropFirst()), text + text, "notes-claims 1\naccepted \(ids)\n",
      "notes-claims 1\nunknown \(ids)\n", "notes-claims 1\nstopped \(words[3])\n",
      "notes-claims 1\nstopped \(ids)\nstopped \(ids)\n", "notes-claims 1\0\n",
    ]
    for bad in longer + others {
      try Disk.replace(path, with: Array(bad.utf8), mode: 0o644)
      #expect(
        failure { try at(14) { try other.heardMembership() } } == .fileDamaged(path: path), "\(bad)"
      )
      #expect(failure { _ = try MembershipStore.open(in: other.folder) } != nil, "\(bad)")
      #expect(founder(in: other) == "Founder's laptop")
    }
    Disk.removeTree(path)
    try hear(14...14, in: other)
    #expect(try states(in: other) == ["anna": .open(daysLeft: 14)])
    try Disk.replace(path, with: good, mode: 0o644)
    try hear(14...14, in: other)
    #expect(founder(in: other) == "anna")
  }

  // "A stop that arrives later changes nothing: both are told"
  @Test("A stop or a handover that comes too late is reported where the claim was accepted")
  func late() throws {
    for handsOver in [false, true] {
      let tests = try ClaimTests()
      _ = try tests.claim()
      try tests.hear(1...14, in: tests.other)
      #expect(tests.founder(in: tests.other) == "anna")
      try tests.at(15) {
        if handsOver {
          try tests.store.handOver(to: tests.ben.deviceID, by: tests.family.founder)
        } else {
          _ = try tests.store.stopClaims(by: tests.family.founder)
        }
        try tests.other.merge(tests.store)
        try tests.store.merge(tests.other)
      }
      try tests.hear(16...40, in: tests.other)
      try tests.hear(16...40, in: tests.store)
      #expect(tests.founder(in: tests.other) == "anna")
      #expect(try tests.states(in: tests.other) == ["anna": .accepted(isContested: true)])
      #expect(tests.founder(in: tests.store) == (handsOver ? "ben" : "Founder's laptop"))
      // Both stay members of each other's notebook.
      for one in [tests.store, tests.other] {
        for key in [tests.family.founder, tests.anna, tests.ben] {
          #expect(one.role(ofDevice: key.deviceID) == .admin)
        }
      }
    }
  }

  // "A device that joins by a code follows the claims that the inviting device has accepted, and no others"
  @Test("Who joins has the founder of the inviting device")
  func invited() throws {
    _ = try claim()
    try hear(1...14, in: other)
    let claims = try other.acceptedClaims()
    #expect(claims.map(\.count) == [96])
    #expect(try store.acceptedClaims().isEmpty)
    let new = try family.copy("new", of: other)
    #expect(founder(in: new) == "Founder's laptop")
    #expect(try !new.follow(acceptedClaims: claims + [[1, 2, 3]]))
    #expect(founder(in: new) == "Founder's laptop")
    #expect(try new.follow(acceptedClaims: claims))
    #expect(founder(in: new) == "anna" && new.members() == other.members())
    #expect(try MembershipStore.open(in: new.folder).members() == other.members())
    #expect(try new.follow(acceptedClaims: []))
    #expect(founder(in: new) == "Founder's laptop")
    #expect(try states(in: new) == ["anna": .open(daysLeft: 14)])
    // A claim of somebody whom the founder did not certify leads nowhere.
    let forged = try identifier(family.founder) + identifier(friend) + claims[0][64...]
    // Nor does one that names other certificates than the claim.
    let altered = claims[0].dropLast() + [claims[0][95] ^ 1]
    for wrong in [forged, Array(altered)] {
      #expect(try !new.follow(acceptedClaims: claims + [wrong]))
      #expect(founder(in: new) == "Founder's laptop")
      #expect(try ClaimRecord(in: new.folder).accepted.isEmpty)
    }
    // The grounds of a claim are all that a new device needs to follow it.
    let folder = try TemporaryFolder()
    let bare = try MembershipStore.install(
      in: folder["bare"], root: other.root,
      certificates: other.grounds(ofAcceptedClaims: claims), revocations: [])
    #expect(try bare.follow(acceptedClaims: claims) && founder(in: bare) == "anna")
  }
}
