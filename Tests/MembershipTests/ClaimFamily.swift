import Synchronization
import System
import TestSupport
import Testing

@testable import Membership

/// A notebook with admins whom the founder certified, and one whom it did not.
struct ClaimFamily {
  let family: Family
  /// Admins whom the founder certified, anna first; friend is an admin whom anna certified.
  let anna: DeviceKey
  let ben: DeviceKey
  let friend: DeviceKey
  let phone: DeviceKey
  /// A writer's device.
  let other: MembershipStore

  static let day: Int64 = 86_400

  init() throws {
    family = try Family()
    let store = family.store
    func add(_ name: String, _ role: Role, by admin: DeviceKey, at time: Int64) throws -> DeviceKey
    {
      let key = try DeviceKey.random()
      _ = try store.issue(
        for: CertificateRequest(name: name, key: key), role: role, by: admin,
        now: Family.start + time)
      return key
    }
    anna = try add("anna", .admin, by: family.founder, at: 1)
    ben = try add("ben", .admin, by: family.founder, at: 2)
    friend = try add("friend", .admin, by: anna, at: 3)
    phone = try add("phone", .writer, by: ben, at: 4)
    other = try family.copy("other")
  }
}

/// A suite about claims of the founder's place.
protocol ClaimSuite {
  var claims: ClaimFamily { get }
}

extension ClaimSuite {
  var family: Family { claims.family }
  var anna: DeviceKey { claims.anna }
  var ben: DeviceKey { claims.ben }
  var friend: DeviceKey { claims.friend }
  var phone: DeviceKey { claims.phone }
  var store: MembershipStore { claims.family.store }
  var other: MembershipStore { claims.other }

  func at<Value>(_ day: Int, _ body: () throws -> Value) rethrows -> Value {
    try MembershipStore.$fixedTime.withValue(Family.start + Int64(day) * ClaimFamily.day) {
      try body()
    }
  }

  func set(of store: MembershipStore) -> CertificateSet { store.state.withLock { $0.set } }

  func founder(in store: MembershipStore) -> String? {
    store.members().first(where: \.isFounder)?.name
  }

  func identifier(_ key: DeviceKey) throws -> [UInt8] {
    try PublicKey.identifier(key.publicKey)
  }

  func states(in store: MembershipStore) throws -> [String: FounderClaim.State] {
    Dictionary(uniqueKeysWithValues: try store.claims().map { ($0.claimer.name, $0.state) })
  }

  /// Hears other devices on each of these days.
  func hear(_ days: ClosedRange<Int>, in store: MembershipStore) throws {
    for day in days { try at(day) { try store.heardMembership() } }
  }

  /// A store in which anna has claimed, as the others have seen it on day 0.
  func claim(by key: DeviceKey? = nil, in name: String = "claimer") throws
    -> MembershipStore
  {
    let claimer = try family.copy(name)
    try at(0) {
      try claimer.claim(by: key ?? anna, now: Family.start + 10)
      for one in [store, other] { try one.merge(claimer) }
    }
    return claimer
  }

  /// A claim or a stop that the program would not make.
  func forged(
    _ claimed: ClaimStatement, by key: DeviceKey, issuer: Certificate? = nil, now: Int64 = 0
  ) throws -> [UInt8] {
    let set = set(of: store)
    let own = try issuer ?? set.certificates(ofKey: identifier(key)).first ?? set.root
    return try Certificate.statement(
      claimed, name: "forged", issuer: own, signedWith: key, now: now
    ).der
  }
}
