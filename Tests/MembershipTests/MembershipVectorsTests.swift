import FoundationEssentials
import TestSupport
import Testing

@testable import Membership

/// A set of certificates and lists, and who is a member by it.
private struct MembershipVector: Codable, Equatable {
  var about: String
  var root: Data
  var certificates: [Data]
  var lists: [Data]
  /// Names and roles; an empty role is a removed device's.
  var members: [String: String]
  /// The founder's name, if it is not the first one.
  var founder: String?
}

// The vectors of Tests/Vectors/membership: what notes-security(7) makes of a set, for whoever writes
// another program for it. With NOTES_RECORD=1 they are made anew.
@Suite("Membership: vectors", .timeLimit(.minutes(20)))
struct MembershipVectorsTests {
  private static let folder = BuiltBinary.sourceFolder + "/Tests/Vectors/membership"

  private static let scenarios: [(String, String, @Sendable (Family) throws -> Void)] = [
    ("removed", "an admin removes a writer that another had certified", removed),
    ("demoted-admin", "what an admin lists after its demotion is void", demotedAdmin),
    ("taken-over", "what a removed admin had removed stays removed", takenOver),
    ("mutual", "two admins remove each other, and one a phone besides", mutual),
    ("hit-back", "a removed admin removes everybody: one goes with it", hitBack),
    ("ring", "three admins remove each other in a ring", ring),
    ("demotion-and-rename", "a demotion and a rename made at the same time", demotionAndRename),
    ("removal-and-role", "a removal and a change of role made at the same time", removalAndRole),
    ("admin-of-admin", "an admin is removed; those below it are certified anew", adminOfAdmin),
    ("persons", "a person with two devices gets another name, and one device is removed", persons),
    ("handover", "the founder hands over twice, and the first two founders are removed", handover),
    (
      "asker",
      "two members asked for devices; one is removed without knowing of its device, one with it known",
      asker
    ),
  ]

  @Test("Every vector has its members, in whatever order they are learned")
  func vectors() throws {
    var random = SplitMix64.reported()
    for (name, about, make) in Self.scenarios {
      let path = "\(Self.folder)/\(name).json"
      if TestEnvironment.variable("NOTES_RECORD") == "1" {
        let family = try Family()
        try make(family)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let vector = MembershipVector(
          about: about, root: Data(family.store.root),
          certificates: family.store.certificates.map { Data($0) },
          lists: family.store.revocations.map { Data($0) }, members: Self.members(family.store),
          founder: Self.heir(family.store))
        try writeFile(path, Array(try encoder.encode(vector)) + [0x0A])
      }
      let vector = try JSONDecoder().decode(MembershipVector.self, from: Data(readFile(path)))
      let folder = try TemporaryFolder()
      for round in 0..<4 {
        let store = try MembershipStore.install(
          in: folder["\(round)"], root: Array(vector.root), certificates: [], revocations: [])
        var pieces =
          vector.certificates.map { ([Array($0)], [[UInt8]]()) }
          + vector.lists.map { ([[UInt8]](), [Array($0)]) }
        pieces.shuffle(using: &random)
        for (certificates, lists) in pieces + pieces + pieces {
          _ = try store.merge(certificates: certificates, revocations: lists)
        }
        #expect(store.certificates.count == vector.certificates.count)
        #expect(Self.members(store) == vector.members, "\(name): \(vector.about)")
        #expect(Self.heir(store) == vector.founder, "\(name)")
      }
    }
  }

  private static func members(_ store: MembershipStore) -> [String: String] {
    Dictionary(
      uniqueKeysWithValues: store.members().map { ($0.name, $0.isRemoved ? "" : $0.role.rawValue) })
  }

  private static func heir(_ store: MembershipStore) -> String? {
    let founder = store.members().first(where: \.isFounder)
    return founder?.issuedBy == founder?.deviceID ? nil : founder?.name
  }

  private static func persons(_ family: Family) throws {
    let laptop = try family.add("laptop", .admin)
    let phone = try family.add("phone", .writer)
    let other = try DeviceKey.random()
    _ = try family.store.issue(
      for: CertificateRequest(name: "tablet", key: other),
      person: family.store.member(laptop)?.person.id, role: .reader, by: family.founder,
      now: Family.start)
    try family.store.rename(
      person: laptop.deviceID, to: "anna", by: family.founder, now: Family.start)
    _ = try family.store.issue(
      for: CertificateRequest(name: "desk", key: .random()), personName: "ben", role: .writer,
      by: laptop, now: Family.start)
    try family.store.remove(devices: [phone.deviceID, other.deviceID], by: laptop)
  }

  private static func handover(_ family: Family) throws {
    let first = try family.add("first", .admin)
    let second = try family.add("second", .admin)
    _ = try family.add("phone", .writer, by: second)
    try family.store.handOver(to: first.deviceID, by: family.founder, now: Family.start)
    try family.store.handOver(to: second.deviceID, by: first, now: Family.start)
    try family.store.remove(devices: [family.founder.deviceID, first.deviceID], by: second)
    _ = try family.store.issue(
      for: CertificateRequest(name: "back", key: family.founder), role: .reader, by: second,
      now: Family.start)
  }

  private static func removed(_ family: Family) throws {
    let admin = try family.add("admin", .admin)
    let phone = try family.add("phone", .writer)
    try family.store.remove(devices: [phone.deviceID], by: admin)
  }

  private static func demotedAdmin(_ family: Family) throws {
    let admin = try family.add("admin", .admin)
    let phone = try family.add("phone", .writer)
    let other = try family.copy("other")
    try other.remove(devices: [phone.deviceID], by: admin)
    try family.store.reissue(device: admin.deviceID, role: .reader, by: family.founder)
    try family.store.merge(other)
  }

  private static func takenOver(_ family: Family) throws {
    let admin = try family.add("admin", .admin)
    let phone = try family.add("phone", .writer)
    try family.store.remove(devices: [phone.deviceID], by: admin)
    try family.store.remove(devices: [admin.deviceID], by: family.founder)
  }

  /// Each removes the next, without knowing of the others, and devices besides.
  private static func each(
    _ admins: [DeviceKey], removes others: [[DeviceKey]], in family: Family
  ) throws {
    let stores = try admins.indices.map { try family.copy("admin \($0)") }
    for (index, admin) in admins.enumerated() {
      for device in others[index] {
        try stores[index].remove(devices: [device.deviceID], by: admin)
      }
    }
    for store in stores { try family.store.merge(store) }
  }

  private static func mutual(_ family: Family) throws {
    let admins = try ["first", "second"].map { try family.add($0, .admin) }
    let phone = try family.add("phone", .writer)
    try each(admins, removes: [[phone, admins[1]], [admins[0]]], in: family)
  }

  private static func hitBack(_ family: Family) throws {
    let admins = try ["hostile", "second", "third"].map { try family.add($0, .admin) }
    let phone = try family.add("phone", .writer)
    try each(
      admins, removes: [[phone, admins[1], admins[2]], [admins[0]], []], in: family)
  }

  private static func ring(_ family: Family) throws {
    let admins = try ["first", "second", "third"].map { try family.add($0, .admin) }
    let phone = try family.add("phone", .writer)
    try each(
      admins, removes: [[admins[1]], [admins[2]], [admins[0], phone]], in: family)
  }

  private static func demotionAndRename(_ family: Family) throws {
    let admin = try family.add("admin", .admin)
    let second = try family.add("second", .admin)
    let other = try family.copy("other")
    try family.store.reissue(
      device: admin.deviceID, role: .reader, by: family.founder, now: Family.start)
    try other.reissue(device: admin.deviceID, name: "new", by: second, now: Family.start + 1000)
    try family.store.merge(other)
  }

  private static func removalAndRole(_ family: Family) throws {
    let admin = try family.add("admin", .admin)
    let phone = try family.add("phone", .writer)
    let other = try family.copy("other")
    try family.store.reissue(device: phone.deviceID, role: .admin, by: family.founder)
    try other.remove(devices: [phone.deviceID], by: admin)
    try family.store.merge(other)
  }

  private static func asker(_ family: Family) throws {
    let admin = try family.add("admin", .admin)
    let members = try ["anna", "ben"].map { try family.add($0, .writer) }
    func ask(_ member: DeviceKey, in store: MembershipStore) throws {
      let secret = try InvitationSecret()
      let offer = try InvitationOffer(
        secret, to: store, role: .writer, person: .own, expires: Family.start + 60, by: member,
        now: Family.start)
      let request = try AdmissionRequest(
        CertificateRequest(name: "phone", key: .random()), by: secret)
      _ = try store.admit(request, to: offer, by: admin, now: Family.start)
    }
    try ask(members[1], in: family.store)
    let other = try family.copy("other")
    try ask(members[0], in: other)
    try family.store.remove(devices: members.map(\.deviceID), by: family.founder)
    try family.store.merge(other)
  }

  private static func adminOfAdmin(_ family: Family) throws {
    let admin = try family.add("admin", .admin)
    let second = try family.add("second", .admin, by: admin)
    _ = try family.add("phone", .writer, by: second)
    try family.store.remove(devices: [admin.deviceID], by: family.founder)
  }
}
