internal import TestSupport

@testable import Membership

/// A notebook with its founder, for tests.
struct Family: Sendable {
  static let start: Int64 = 1_800_000_000

  let folder: TemporaryFolder
  let founder: DeviceKey
  let store: MembershipStore

  init(name: String = "Home") throws {
    folder = try TemporaryFolder()
    founder = try DeviceKey.random()
    store = try MembershipStore.found(
      in: folder["founder"], notebookName: name, deviceName: "Founder's laptop", key: founder,
      now: Family.start)
  }

  /// A new device, certified by the founder, or by `admin`, in the founder's store or another.
  func add(
    _ name: String, _ role: Role, by admin: DeviceKey? = nil, in other: MembershipStore? = nil
  ) throws -> DeviceKey {
    let key = try DeviceKey.random()
    _ = try (other ?? store).issue(
      for: CertificateRequest(name: name, key: key), role: role, by: admin ?? founder,
      now: Family.start)
    return key
  }

  /// Another device's store, with what `source` (or the founder) knows now.
  func copy(_ name: String, of source: MembershipStore? = nil) throws -> MembershipStore {
    let source = source ?? store
    return try MembershipStore.install(
      in: folder[name], root: source.root, certificates: source.certificates,
      revocations: source.revocations)
  }
}

extension MembershipStore {
  /// Takes in all that another store knows.
  @discardableResult
  func merge(_ other: MembershipStore) throws -> Bool {
    try merge(certificates: other.certificates, revocations: other.revocations)
  }

  func member(_ key: DeviceKey) -> Member? { members().first { $0.deviceID == key.deviceID } }
}

/// The error that `body` throws.
func failure(_ body: () throws -> Void) -> MembershipError? {
  do {
    try body()
    return nil
  } catch {
    return error as? MembershipError
  }
}
