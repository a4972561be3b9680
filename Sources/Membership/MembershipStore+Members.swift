internal import Synchronization
public import System

extension MembershipStore {
  /// All devices ever certified, including removed ones: the founder first, then by name.
  public func members() -> [Member] {
    state.withLock { state in
      state.set.members().map { member in
        var member = member
        member.isBlocked = state.blocked.contains(member.deviceID)
        if state.refused.contains(member.deviceID) { member.isRemoved = true }
        return member
      }
    }
  }

  /// The member that a device is; nil if it is not or no longer a member.
  public func member(ofDevice deviceID: String) -> Member? {
    state.withLock { state in
      guard let key = [UInt8](base32: deviceID), !state.refused.contains(deviceID),
        var member = state.set.member(ofKey: key), !member.isRemoved, member.deviceID == deviceID
      else { return nil }
      member.isBlocked = state.blocked.contains(deviceID)
      return member
    }
  }

  /// Whether a device was ever certified as an admin's, even if it no longer is.
  public func wasAdmin(device deviceID: String) -> Bool {
    guard let key = [UInt8](base32: deviceID) else { return false }
    return state.withLock { state in
      state.set.certificates(ofKey: key).contains { $0.role == .admin }
    }
  }

  /// A device's role; nil if it is not or no longer a member.
  public func role(ofDevice deviceID: String) -> Role? { member(ofDevice: deviceID)?.role }

  /// The certificates that this device presents in a TLS handshake, in DER: its own first, then those between
  /// it and the root, but not the root. Throws `removed` or `notAMember` if the device has no unrevoked chain.
  public func chain(for key: DeviceKey) throws -> [[UInt8]] {
    try chain(ofDevice: key.deviceID)
  }

  /// A member's certificate, then those between it and the root, like `chain(for:)`.
  public func chain(ofDevice deviceID: String) throws -> [[UInt8]] {
    guard let identifier = [UInt8](base32: deviceID) else {
      throw MembershipError.notAMember(device: deviceID)
    }
    return try state.withLock { state in
      guard let chain = state.set.memberChains[identifier] else {
        throw refusal(of: identifier, in: state.set)
      }
      return chain.filter { $0 != state.set.root }.map(\.der)
    }
  }

  /// The certificate that makes a device a member, in DER; nil if it is none.
  public func certificate(ofDevice deviceID: String) -> [UInt8]? {
    state.withLock { state in
      [UInt8](base32: deviceID).flatMap { state.set.memberChains[$0]?.first?.der }
    }
  }

  /// The device of this chain, whose own certificate comes first; it need not be a member.
  public static func deviceID(ofChain chain: [[UInt8]]) throws -> String {
    try refuse { try Certificate(der: chain.first ?? []).deviceID }
  }

  /// The member that presents this chain, its own certificate first. The presented certificates count as known
  /// only for this check; nothing is stored. Throws `blocked` for a member that is blocked here.
  ///
  /// The key needs an unrevoked chain, but not this one. A device whose role was changed while it was away
  /// still presents the old certificate, and must connect to receive the new one. Throws `certificateRefused`,
  /// `notAMember` or `removed`.
  public func verify(chain: [[UInt8]]) throws -> Member {
    guard let first = chain.first else { throw MembershipError.certificateRefused(.encoding) }
    if chain.count > CertificateSet.maximumChainLength { throw MembershipStore.chainTooLong }
    let own = try MembershipStore.refuse { try Certificate(der: first) }
    try refreshUnlessMerging()
    var (set, blocked) = state.withLock { ($0.set, $0.blocked) }
    _ = try set.insert(certificates: chain, revocationLists: [])
    guard let member = set.member(ofKey: own.keyIdentifier), !member.isRemoved else {
      throw refusal(of: own.keyIdentifier, in: set)
    }
    if blocked.contains(member.deviceID) {
      throw MembershipError.blocked(device: member.deviceID, name: member.name)
    }
    return member
  }

  /// Certifies the device that made `request`, and stores the certificate. `name` replaces the name that the
  /// device gave itself; `person` is the ID of the person to whom it belongs. Without `person`, a member that
  /// joins again keeps its person. Any other device stands for a new person with the name `personName` or, if
  /// that is nil, the device's name. If another member has the name, a number follows it. For the founder,
  /// returns the certificate that the founder already has, because nobody else can issue it. Throws
  /// `notAnAdmin` if `key` is not an admin's.
  public func issue(
    for request: CertificateRequest, name: String? = nil, person: String? = nil,
    personName: String? = nil, role: Role, by key: DeviceKey, now: Int64 = WallClock.now()
  ) throws -> [UInt8] {
    try issue(
      for: request, name: name, person: person, personName: personName, role: role, serial: nil,
      by: key, now: now)
  }

  func issue(
    for request: CertificateRequest, name: String?, person: String? = nil,
    personName: String? = nil,
    role: Role, serial: [UInt8]?, asker: [UInt8]? = nil, by key: DeviceKey, now: Int64
  ) throws -> [UInt8] {
    let identifier = try PublicKey.identifier(request.publicKey)
    let personName = personName.map { members().freeName($0, for: request.deviceID) }
    return try change(by: key) { set, authority in
      if identifier == set.succession.key && identifier != authority.keyIdentifier {
        guard let own = set.memberChains[identifier]?.first else {
          throw MembershipError.founderIsPermanent
        }
        return own.der
      }
      let old = set.certificates(ofKey: identifier)
      let former = set.member(ofKey: identifier)
      let owner = try person.map { id in
        guard let known = set.people.person(id) else {
          throw MembershipError.notAMember(device: id)
        }
        return known
      }
      let isBack = former?.isRemoved == false
      let certificate = try Certificate.member(
        name: name ?? request.name,
        person: owner
          ?? (isBack
            ? set.people.namedPerson(ofKey: identifier)
            : personName.flatMap { set.newPerson(ofKey: identifier, named: $0) }),
        role: role,
        publicKey: request.publicKey, serial: serial, asker: asker, issuer: authority,
        signedWith: key,
        now: Self.date(now, after: old))
      if let former, !former.isRemoved, !former.isFounder, former.role > role {
        try Self.revoke(old, .demoted, adding: [certificate], in: &set, authority, key, now)
      } else {
        try Self.add(certificate, to: &set)
      }
      return certificate.der
    }
  }

  /// Gives a member another role or name: issues a new certificate, and revokes the old serial
  /// numbers. In the same step it removes other devices. Throws like `remove`.
  public func reissue(
    device: String, name: String? = nil, role: Role? = nil, removing others: [String] = [],
    by key: DeviceKey, now: Int64 = WallClock.now()
  ) throws {
    try reissue(devices: [device], name: name, role: role, removing: others, by: key, now: now)
  }

  /// Gives several members another role or name, like `reissue(device:)`: either all of them or none.
  public func reissue(
    devices: [String], name: String? = nil, role: Role? = nil, removing others: [String] = [],
    by key: DeviceKey, now: Int64 = WallClock.now()
  ) throws {
    try change(by: key) { set, authority in
      for device in devices {
        try Self.reissue(device, name: name, role: role, in: &set, authority, key, now)
      }
      try Self.remove(others, from: &set, authority, key, now)
    }
  }

  /// Gives a person another name: makes new certificates for those of the person's devices that `key` may
  /// certify. A person who has one device, and whom no certificate names, has that device's name.
  ///
  /// - Throws: `notAMember` if the person has no device; the errors of `reissue` if `key` may certify none of
  ///   them.
  public func rename(
    person id: String, to name: String, by key: DeviceKey, now: Int64 = WallClock.now()
  ) throws {
    try change(by: key) { set, authority in
      guard let person = set.people.person(id) else {
        throw MembershipError.notAMember(device: id)
      }
      let all = set.people.keys(of: person)
      let present = all.filter { set.memberChains[$0] != nil }.map { String(base32: $0) }
      if all.count == 1, set.people.namedPerson(ofKey: all[0]) == nil {
        return try Self.reissue(present.first ?? id, name: name, in: &set, authority, key, now)
      }
      let now = Self.date(now, after: all.flatMap(set.certificates(ofKey:)))
      // No name can be later than one that is dated at the end of time.
      var refusal = MembershipError.limitExceeded(what: "later names", limit: 0)
      for device in present.sorted() {
        do {
          try Self.reissue(
            device, person: Person(identifier: person.identifier, name: name), in: &set, authority,
            key, now)
        } catch MembershipError.anotherAdminNeeded {
          refusal = .anotherAdminNeeded
        } catch MembershipError.founderIsPermanent {
          refusal = .founderIsPermanent
        }
      }
      if set.people.person(id)?.name != name { throw refusal }
    }
  }

  private static func reissue(
    _ deviceID: String, name: String? = nil, person: Person? = nil, role: Role? = nil,
    in set: inout CertificateSet, _ authority: Certificate, _ key: DeviceKey, _ now: Int64
  ) throws {
    let old = set.certificates.filter { $0.deviceID == deviceID }
    guard let any = old.first, let member = set.member(ofKey: any.keyIdentifier) else {
      throw MembershipError.notAMember(device: deviceID)
    }
    let role = role ?? member.role
    if member.isRemoved { throw MembershipError.removed(device: deviceID, name: member.name) }
    let isOwn = any.keyIdentifier == authority.keyIdentifier
    if isOwn && !member.isFounder { throw MembershipError.anotherAdminNeeded }
    if member.isFounder && !(isOwn && role == .admin) {
      throw MembershipError.founderIsPermanent
    }
    let current = set.memberChains[any.keyIdentifier]?.first
    let certificate = try Certificate.member(
      name: name ?? member.deviceName,
      person: person ?? set.people.namedPerson(ofKey: any.keyIdentifier), role: role,
      publicKey: any.publicKey, replacing: current?.serial,
      // An admin's device does not depend on its asker: this admin vouches for it.
      asker: role == .admin ? nil : current?.asker, issuer: authority, signedWith: key,
      now: date(now, after: Array(old)))
    let reason = role < member.role ? RevocationList.Reason.demoted : .superseded
    try revoke(Array(old), reason, adding: [certificate], in: &set, authority, key, now)
    if reason == .superseded { try demand(certificate, in: set) }
  }

  /// Gives the notebook another name, for all its members: notes-security(7), "The notebook's name".
  /// Throws `nameRefused`, or `notAnAdmin` if `key` is not an admin's.
  public func rename(
    notebook name: String, by key: DeviceKey, now: Int64 = WallClock.now()
  ) throws {
    try change(by: key) { set, authority in
      let certificate = try Certificate.name(
        name, ofNotebook: set.notebookID, issuer: authority, signedWith: key,
        now: Self.date(now, after: Array(set.names)))
      _ = try set.insert(certificates: [certificate.der], revocationLists: [])
      // The present name is dated at the end of time, so no name can be later.
      if set.notebookName != name {
        throw MembershipError.limitExceeded(what: "later names", limit: 0)
      }
    }
  }

  /// Removes devices: lists the serial numbers of all their certificates, and certifies the devices
  /// again that they had certified. Throws `founderIsPermanent`, `notAMember`, `anotherAdminNeeded`
  /// for the device itself, `ownCertifier`, or `notAnAdmin` if `key` is not an admin's.
  public func remove(
    devices: [String], by key: DeviceKey, now: Int64 = WallClock.now()
  ) throws {
    try change(by: key) { set, authority in
      try Self.remove(devices, from: &set, authority, key, now)
    }
  }

  /// Throws as `remove` does for the founder's device and for the device itself.
  public func demandRemovable(_ devices: [String], by key: DeviceKey) throws(MembershipError) {
    try Self.demandRemovable(devices, in: state.withLock { $0.set }, by: key)
  }

  private static func demandRemovable(
    _ devices: [String], in set: CertificateSet, by key: DeviceKey
  ) throws(MembershipError) {
    if devices.contains(set.succession.present.anchor.deviceID) { throw .founderIsPermanent }
    if devices.contains(key.deviceID) { throw .anotherAdminNeeded }
  }

  /// Lists a serial number without a known certificate.
  func revoke(serial: [UInt8], by key: DeviceKey, now: Int64) throws {
    try change(by: key) { set, authority in
      try Self.revoke(
        [], .removed, adding: [], unissued: [serial], in: &set, authority, key, now)
    }
  }

  private static func remove(
    _ devices: [String], from set: inout CertificateSet, _ authority: Certificate,
    _ key: DeviceKey, _ now: Int64
  ) throws {
    if devices.isEmpty { return }
    try demandRemovable(devices, in: set, by: key)
    let all = Dictionary(grouping: set.certificates, by: \.deviceID)
    for device in devices where all[device] == nil {
      throw MembershipError.notAMember(device: device)
    }
    let certificates = devices.flatMap { all[$0] ?? [] }
    try revoke(certificates, .removed, adding: [], in: &set, authority, key, now)
  }

  /// The members that a device invited, let in, asked for or made admins, directly or through others, in the
  /// order of time.
  ///
  /// - Parameter inviters: the devices that made invitations by a link or a file, by the invitations' IDs.
  public func invited(by deviceID: String, inviters: [String: String] = [:]) -> [InvitedMember] {
    let keys = inviters.compactMap { id, device in
      [UInt8](hexadecimal: id).flatMap { id in [UInt8](base32: device).map { (id, $0) } }
    }
    let inviters = Dictionary(keys) { first, _ in first }
    return state.withLock { state in
      let set = state.set
      guard let inviter = set.certificates.first(where: { $0.deviceID == deviceID }) else {
        return []
      }
      return set.invited(byKey: inviter.keyIdentifier, inviters: inviters).compactMap {
        key, certificate in
        guard let member = set.member(ofKey: key), !member.isRemoved else { return nil }
        let asker = certificate.asker.flatMap { serial in
          set.certificates.first { $0.serial == serial }?.deviceID
        }
        return InvitedMember(
          member: member,
          invitedBy: asker ?? inviters[certificate.serial].map { String(base32: $0) },
          issuedBy: certificate.issuerID, issuedAt: certificate.issuedAt,
          wasMadeAdmin: certificate.replaced != nil)
      }.sorted { ($0.issuedAt, $0.member.deviceID) < ($1.issuedAt, $1.member.deviceID) }
    }
  }

  /// Runs `body` with the present set and the certificate with which `key` may sign, and stores the
  /// additions.
  func change<Value: Sendable>(
    by key: DeviceKey, _ body: (inout CertificateSet, Certificate) throws -> Value
  ) throws -> Value {
    let identifier = try PublicKey.identifier(key.publicKey)
    return try changing.withLock { _ in
      try readChanges()
      var set = state.withLock { $0.set }
      guard let authority = set.authority(ofKey: identifier) else {
        throw MembershipError.notAnAdmin(device: key.deviceID)
      }
      let value = try MembershipStore.refuse { try body(&set, authority) }
      try save(set)
      return value
    }
  }

  private static let chainTooLong = MembershipError.limitExceeded(
    what: "certificates in a chain", limit: CertificateSet.maximumChainLength)

  static func add(_ certificate: Certificate, to set: inout CertificateSet) throws {
    _ = try set.insert(certificates: [certificate.der], revocationLists: [])
    try demand(certificate, in: set)
  }

  private static func demand(_ certificate: Certificate, in set: CertificateSet) throws {
    if set.certificates.contains(certificate) { return }
    throw set.issued.count < set.capacity
      ? chainTooLong : .limitExceeded(what: "certificates", limit: set.capacity)
  }

  /// A certificate is newer than those that it replaces, whatever the clock says.
  static func date(_ now: Int64, after older: [Certificate]) -> Int64 {
    older.map { $0.issuedAt + 1 }.reduce(now, max)
  }

  private func refusal(of identifier: [UInt8], in set: CertificateSet) -> MembershipError {
    let deviceID = String(base32: identifier)
    return set.member(ofKey: identifier).map { .removed(device: deviceID, name: $0.name) }
      ?? .notAMember(device: deviceID)
  }
}
