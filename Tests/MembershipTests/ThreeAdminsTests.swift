import TestSupport
import Testing

@testable import Membership

// notes-security(7), "Which lists count" and "Removal", for every way in which the founder and three
// admins can remove each other and a fourth device.
@Suite("Membership: three admins, all there is", .timeLimit(.minutes(20)))
struct ThreeAdminsTests {
  /// The founder is 0, the admins are 1 to 3, the phone is 4.
  private static let devices = 0...4
  private static let phone = 4

  /// A family in which each device was certified by the one that `issuers` gives.
  private struct World {
    let root: Certificate
    /// Of each device, and behind them the handover, if there is one.
    let certificates: [Certificate]
    let keys: [DeviceKey]
    let issuers: [Int]
    /// The founder: 0, or the device to which that handed over.
    let founder: Int
    let set: CertificateSet
    /// By who signs, then by who is listed, as bits.
    var lists: [[RevocationList]] = []

    /// - Parameters:
    ///   - heir: the device to which the founder hands over.
    ///   - claims: whether the heir is the founder by a claim that was accepted, not by a handover.
    ///   - persons: the device whose person each device is of.
    ///   - asker: the device that asked for the phone: a writer's, or one that became an admin's since.
    init(
      issuers: [Int], heir: Int = 0, claims: Bool = false, persons: [Int]? = nil,
      asker: Int? = nil, isAsked: Bool = true, isAskerAdmin: Bool = false
    ) throws {
      self.issuers = issuers
      founder = heir
      var certificates: [Certificate] = []
      let keys = try devices.map { _ in try DeviceKey.random() }
      self.keys = keys
      let people = try persons?.map { first in
        Person(
          identifier: try PublicKey.identifier(keys[first].publicKey), name: "person \(first)")
      }
      root = try Certificate.root(notebookName: "Home", key: keys[0], now: 0)
      for device in devices {
        let issuer = issuers[device] == 0 ? root : certificates[issuers[device]]
        certificates.append(
          try .member(
            name: "\(device)", person: people?[device],
            role: device == phone || device == asker && !isAskerAdmin ? .writer : .admin,
            publicKey: keys[device].publicKey,
            asker: device == phone && isAsked ? asker.map { certificates[$0].serial } : nil,
            issuer: issuer,
            signedWith: keys[issuers[device]], now: 0))
      }
      if heir != 0, !claims {
        certificates.append(
          try .member(
            name: "\(heir)", role: .admin, publicKey: keys[heir].publicKey,
            staying: certificates[0].serial, issuer: root, signedWith: keys[0], now: 1))
      }
      self.certificates = certificates
      var set = try CertificateSet(root: root.der)
      _ = try set.insert(certificates: certificates.map(\.der), revocationLists: [])
      if claims {
        let claim = AcceptedClaim(
          claimer: certificates[heir].keyIdentifier, anchor: certificates[heir].serial,
          staying: certificates[0].serial)
        set.accept([root.keyIdentifier: claim])
      }
      self.set = set
      for device in 0..<phone where device != asker || isAskerAdmin {
        lists.append(
          try (0..<32).map { listed in
            try .make(
              entries: Dictionary(
                uniqueKeysWithValues: devices.filter { listed & 1 << $0 != 0 }.map {
                  (certificates[$0].serial, .removed)
                }), number: 1, issuer: authority(of: device),
              signedWith: keys[device], now: 0)
          })
      }
    }

    private func authority(of device: Int) -> Certificate {
      if device == 0 { return root }
      return device == founder ? set.succession.present.anchor : certificates[device]
    }

    /// The same by a whole set, which also says who is an admin, and finds each device's chain.
    func membersOfSet(_ listed: [Int]) throws -> Set<Int> {
      var set = set
      _ = try set.insert(
        certificates: [],
        revocationLists: listed.enumerated().map { lists[$0.offset][$0.element].der })
      return Set(devices.filter { set.memberChains[certificates[$0].keyIdentifier] != nil })
    }

    /// Who is in, where each lists these.
    func members(_ listed: [Int]) -> Set<Int> { members(revoked: revoked(listed)) }

    func revoked(_ listed: [Int]) -> Set<Certificate> {
      CountingLists(
        set.succession, certificates: Set(certificates),
        lists: Set(listed.enumerated().map { lists[$0.offset][$0.element] })
      ).revoked()
    }

    func members(revoked: Set<Certificate>) -> Set<Int> {
      Set(
        devices.filter { device in
          path(to: device).allSatisfy { !revoked.contains(certificates[$0]) }
        })
    }

    /// The devices on the chain, but for the founder. A former founder is as if the heir had certified it.
    func path(to device: Int) -> [Int] {
      if device == founder { return [] }
      return [device] + (device == 0 ? [] : path(to: issuers[device]))
    }
  }

  /// All lists of the admins that name others: 8 * 8 * 8; with the `founders` first of the founder's.
  private static func allListed(founders: Int) -> [[Int]] {
    (0..<founders).flatMap { founder in
      (0..<512).map { bits in
        [founder << 1]
          + (1...3).map { admin in
            let others = devices.filter { $0 != 0 && $0 != admin }
            return others.indices.reduce(0) { listed, index in
              bits >> (3 * (admin - 1) + index) & 1 == 0 ? listed : listed | 1 << others[index]
            }
          }
      }
    }
  }

  @Test(
    "Whoever is in is rightly in, and whoever is out is rightly out",
    arguments: [([0, 0, 0, 0, 0], 8), ([0, 0, 0, 1, 3], 1), ([0, 0, 1, 2, 1], 1)])
  func outcomes(issuers: [Int], founders: Int) throws {
    let world = try World(issuers: issuers)
    var wrong: [String] = []
    for listed in Self.allListed(founders: founders) {
      func lists(_ one: Int, _ other: Int) -> Bool {
        one != Self.phone && world.path(to: other).contains { listed[one] & 1 << $0 != 0 }
      }
      let members = world.members(listed)
      func check(_ rule: String, _ holds: Bool) {
        if !holds { wrong.append("\(rule): \(listed) gives \(members.sorted())") }
      }
      for device in Self.devices.dropFirst() {
        let against = (0..<Self.phone).filter { lists($0, device) }
        if members.contains(device) {
          check("no admin lists one that is in", members.isDisjoint(with: against))
        } else {
          check("somebody lists who is out", !against.isEmpty)
          // Not by a removed admin alone, unless that one and another went together.
          if members.isDisjoint(with: against) {
            check(
              "who is out by former admins alone is out with them, or by two who end each other",
              against.contains { one in
                device != Self.phone && lists(device, one)
                  || against.contains { lists($0, one) && lists(one, $0) }
                  || (1...3).contains { other in
                    !members.contains(other) && lists(one, other) && lists(other, one)
                      && (world.path(to: device).contains(other)
                        || world.path(to: other).contains(device))
                  } || Self.isRing(lists, one, members)
              })
          }
        }
        if device != Self.phone, !members.contains(device), !members.isDisjoint(with: against) {
          var without = listed
          without[device] = 0
          check("one that an admin removed removes nobody", world.members(without) == members)
        }
      }
      for (one, other) in [(1, 2), (1, 3), (2, 3)]
      where listed[one] & 1 << other != 0 && listed[other] & 1 << one != 0
        && !(0...3).contains(where: {
          $0 != one && $0 != other && (lists($0, one) || lists($0, other))
        })
      {
        check("two who remove each other are out", members.isDisjoint(with: [one, other]))
      }
    }
    #expect(wrong.isEmpty, "\(wrong.count): \(wrong.prefix(5))")
  }

  // notes-security(7), "Handover", and "A lost founder": the same after a claim was accepted.
  @Test(
    "After a handover the heir is as one that had founded the notebook, and the founder as its admin",
    arguments: [[0, 0, 0, 0, 0], [0, 0, 0, 1, 3], [0, 0, 1, 0, 1], [0, 0, 0, 2, 0]], [false, true])
  func handover(issuers: [Int], claims: Bool) throws {
    /// The heir, 1, in the founder's place.
    func swapped(_ device: Int) -> Int { device < 2 ? 1 - device : device }
    let world = try World(issuers: issuers, heir: 1, claims: claims)
    let plain = try World(
      issuers: Self.devices.map { $0 < 2 ? 0 : swapped(issuers[$0]) })
    var wrong: [String] = []
    for (number, listed) in Self.allListed(founders: 8).enumerated() {
      func bits(_ bits: Int) -> Int { bits & ~3 | (bits & 1) << 1 | (bits & 2) >> 1 }
      var there = Self.devices.dropLast().map { bits(listed[swapped($0)]) }
      // Whatever is said of the founder has no effect.
      if number % 2 == 1 { for device in [0, 2, 3] { there[device] |= 2 } }
      let expected = Set(plain.members(listed).map(swapped))
      let found = world.members(there)
      if found != expected { wrong.append("\(there): \(found.sorted()), not \(expected.sorted())") }
      if number % 7 == 0, try world.membersOfSet(there) != expected {
        wrong.append("\(there): the set differs")
      }
    }
    #expect(wrong.isEmpty, "\(wrong.count): \(wrong.prefix(5))")
  }

  // notes-security(7), "A lost founder".
  @Test(
    "A claim is open if the founder certified its admin, who is one, and nobody who may stops it")
  func claims() throws {
    // 5 is a stranger.
    let nobody = 6
    // 3 is an accomplice that 1 let in; the others are the founder's.
    let world = try World(issuers: [0, 0, 0, 1, 0])
    let keys = world.keys + [try DeviceKey.random()]
    func issuer(_ device: Int) -> Certificate {
      device == 0 ? world.root : world.certificates[min(device, Self.phone)]
    }
    let names = try keys.map { try PublicKey.identifier($0.publicKey) }
    let claimed = try keys.indices.map { device in
      try Certificate.statement(
        .claim(
          founder: names[0], anchor: world.certificates[min(device, Self.phone)].serial,
          staying: world.certificates[0].serial), name: "x", issuer: issuer(device),
        signedWith: keys[device], now: 0)
    }
    let stops = try keys.indices.map { claimer in
      try keys.indices.map {
        try Certificate.statement(
          .stop(founder: names[0], claimer: names[claimer]), name: "x", issuer: issuer($0),
          signedWith: keys[$0], now: 0)
      }
    }
    var (wrong, found) = ([String](), 0)
    for bits in 0..<512 {
      // The founder and each admin list some of the admins.
      let others = [[1, 2, 3], [2, 3], [1, 3], [1, 2]]
      var (rest, listed) = (bits, [Int]())
      for all in others {
        listed.append(all.indices.reduce(0) { rest >> $1 & 1 == 0 ? $0 : $0 | 1 << all[$1] })
        rest >>= all.count
      }
      var set = world.set
      _ = try set.insert(
        certificates: [],
        revocationLists: listed.enumerated().map { world.lists[$0.offset][$0.element].der })
      let members = world.members(listed)
      for claimer in keys.indices {
        var claims = set
        _ = try claims.insert(certificates: [claimed[claimer].der], revocationLists: [])
        for stopper in 0...nobody {
          var both = claims
          if stopper != nobody {
            _ = try both.insert(certificates: [stops[claimer][stopper].der], revocationLists: [])
          }
          let isOpen =
            both.openClaims().contains { $0.claimer == names[claimer] }
            && both.stoppers(ofClaimer: names[claimer], on: names[0]).isEmpty
          if isOpen { found += 1 }
          // "only by lists of the founder, and of present admins whom the founder certified"
          let stays = !(0...2).contains {
            $0 != claimer && $0 != stopper && ($0 == 0 || members.contains($0))
              && listed[$0] & 1 << stopper != 0
          }
          let mayStop =
            stopper == 0 || stopper == claimer && stopper < Self.phone
            || (1...2).contains(stopper) && stays
          let mayClaim = (1...2).contains(claimer) && members.contains(claimer)
          if isOpen != (mayClaim && !mayStop) {
            wrong.append("\(listed): \(claimer) stopped by \(stopper) is open: \(isOpen)")
          }
          if both.memberChains != set.memberChains {
            wrong.append("\(listed): \(claimer) changes members")
          }
        }
      }
    }
    #expect(wrong.isEmpty && found > 0, "\(wrong.count): \(wrong.prefix(5))")
  }

  // notes-security(7), "Persons": "A person has no rights: each device has its own role, and is certified and
  // removed separately".
  @Test("Whose a device is changes nothing of who is a member")
  func persons() throws {
    let plain = try World(issuers: [0, 0, 0, 1, 3])
    for persons in [[0, 0, 2, 3, 3], [0, 1, 1, 1, 0], [4, 4, 4, 4, 4]] {
      let world = try World(issuers: [0, 0, 0, 1, 3], persons: persons)
      for (number, listed) in Self.allListed(founders: 1).enumerated() {
        let members = plain.members(listed)
        #expect(world.members(listed) == members, "\(persons) \(listed)")
        if number % 16 == 0 { #expect(try world.membersOfSet(listed) == members, "\(listed)") }
      }
    }
  }

  // notes-security(7), "Devices of one's own".
  @Test(
    "Who lists a member also lists the device that the member asked for",
    arguments: [[0, 0, 0, 0, 0], [0, 0, 1, 0, 2], [0, 0, 1, 1, 2], [0, 0, 0, 1, 2]], [false, true])
  func asked(issuers: [Int], isAdmin: Bool) throws {
    let asker = 3
    let world = try World(issuers: issuers, asker: asker, isAskerAdmin: isAdmin)
    let plain = try World(issuers: issuers, asker: asker, isAsked: false, isAskerAdmin: isAdmin)
    var (ended, wrong) = (0, [String]())
    // Unless the asker is an admin, the founder lists 2 to 4, each admin the other one and both devices.
    let ofTwo = (0..<512).map { bits in
      [
        (bits & 7) << 2, (bits >> 3 & 1) << 2 | (bits >> 4 & 3) << 3,
        (bits >> 6 & 1) << 1 | (bits >> 7 & 3) << 3,
      ]
    }
    for (number, listed) in (isAdmin ? Self.allListed(founders: 1) : ofTwo).enumerated() {
      // Who lists the asker lists the phone.
      let both = listed.map { $0 & 1 << asker == 0 ? $0 : $0 | 1 << Self.phone }
      let expected = plain.members(both)
      if expected != plain.members(listed) { ended += 1 }
      let members = world.members(listed)
      if members != expected { wrong.append("\(listed): \(members), not \(expected)") }
      if isAdmin, number % 16 > 0 { continue }
      if try world.membersOfSet(listed) != members { wrong.append("\(listed): the set differs") }
    }
    #expect(ended > 0 && wrong.isEmpty, "\(ended) \(wrong.count): \(wrong.prefix(5))")
  }

  /// Whether three admins who are out end each other in a ring.
  private static func isRing(
    _ lists: (Int, Int) -> Bool, _ admin: Int, _ members: Set<Int>
  ) -> Bool {
    [[1, 2, 3], [1, 3, 2]].contains { ring in
      ring.indices.allSatisfy {
        !members.contains(ring[$0]) && lists(ring[$0], ring[($0 + 1) % 3])
      }
    }
  }

  @Test("The outcome is the same in whatever order the lists are learned")
  func anyOrder() throws {
    let world = try World(issuers: [0, 0, 0, 1, 0])
    var outcomes: [[Int]: Set<[[UInt8]]>] = [:]
    var learned = 0
    /// Goes on with every list of every admin that has not been learned from.
    func learn(_ listed: [Int], _ set: CertificateSet) throws {
      let members = Set(set.memberChains.values.compactMap { $0.first?.serial })
      outcomes[listed, default: []].insert(members.sorted { $0.lexicographicallyPrecedes($1) })
      learned += 1
      for admin in 1...3 where listed[admin] == 0 {
        for bits in 1..<8 {
          let others = Self.devices.filter { $0 != 0 && $0 != admin }
          let these = others.indices.reduce(0) { bits >> $1 & 1 == 0 ? $0 : $0 | 1 << others[$1] }
          var (next, more) = (listed, set)
          next[admin] = these
          _ = try more.insert(certificates: [], revocationLists: [world.lists[admin][these].der])
          try learn(next, more)
        }
      }
    }
    try learn([0, 0, 0, 0], world.set)
    #expect(outcomes.count == 512 && learned == 1 + 21 + 6 * 49 + 6 * 343)
    #expect(outcomes.values.allSatisfy { $0.count == 1 })
    for (listed, members) in outcomes {
      #expect(members.first?.count == world.members(listed).count)
    }
  }
}
