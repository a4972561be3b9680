internal import Synchronization
public import System

/// The state of an invitation that is sent as a link, as far as this device knows.
public enum InvitationStatus: Hashable, Sendable {
  case open
  case expired
  case cancelled
  /// These devices have certificates by the invitation, sorted by their IDs. There are several only if two
  /// admins answered two devices with the same link.
  case used(by: [String])
  /// The invitation is for another notebook, or its signer is not an admin's device.
  case void
}

extension MembershipStore {
  /// The state of an invitation: its ID is the serial number of the certificate issued for it, or of one that
  /// an admin revoked before it was issued.
  public func status(
    of offer: InvitationOffer, now: Int64 = WallClock.now()
  ) -> InvitationStatus {
    let inviter = role(ofDevice: offer.inviterID)
    return state.withLock { $0.set.status(of: offer, by: inviter, now) }
  }

  /// Certifies the device that makes a request for an invitation, for the inviter's person if the offer says so, with
  /// the name that it gave itself; if that is taken, with a number added.
  ///
  /// - Returns: the new member; nil if the invitation is not open, or if the device is already a member.
  /// - Throws: `notAnAdmin` if `key` is not an admin's.
  public func admit(
    _ request: AdmissionRequest, to offer: InvitationOffer, by key: DeviceKey,
    now: Int64 = WallClock.now()
  ) throws -> Member? {
    try refreshUnlessMerging()
    guard status(of: offer, now: now) == .open, member(ofDevice: request.deviceID) == nil
    else { return nil }
    let person = offer.person == .own ? member(ofDevice: offer.inviterID)?.person : nil
    let taken = Set(
      members().filter { $0.deviceID != request.deviceID }.names(of: person).map { $0.lowercased() }
    )
    func isTaken(_ name: String) -> Bool { taken.contains(name.lowercased()) }
    let name = request.request.name
    _ = try issue(
      for: request.request, name: isTaken(name) ? DisplayName.numbered(name, isTaken) : name,
      person: person?.id, personName: offer.person.name, role: offer.role, serial: offer.id.serial,
      by: key, now: now)
    return member(ofDevice: request.deviceID)
  }

  /// Cancels an invitation for all admins: a certificate with its serial number is invalid from then on.
  ///
  /// - Returns: whether it was open.
  /// - Throws: `notAnAdmin` if `key` is not an admin's.
  public func cancel(
    _ offer: InvitationOffer, by key: DeviceKey, now: Int64 = WallClock.now()
  ) throws -> Bool {
    try refreshUnlessMerging()
    guard status(of: offer, now: now) == .open else { return false }
    try revoke(serial: offer.id.serial, by: key, now: now)
    return true
  }
}

extension [Member] {
  /// The names that a new device cannot have: those of a person's devices, or if it becomes a person by itself,
  /// those by which members are called.
  fileprivate func names(of person: Person?) -> [String] {
    guard let person else { return map(\.name) }
    return filter { $0.person.id == person.id }.map(\.deviceName)
  }
}

extension CertificateSet {
  fileprivate func status(
    of offer: InvitationOffer, by inviter: Role?, _ now: Int64
  ) -> InvitationStatus {
    let devices = certificates.filter { $0.serial == offer.id.serial }.map(\.deviceID)
    if offer.notebookID != notebookID { return .void }
    if !devices.isEmpty { return .used(by: Set(devices).sorted()) }
    if revocationLists.contains(where: { $0.entries[offer.id.serial] == .removed }) {
      return .cancelled
    }
    if inviter != .admin { return .void }
    return offer.expires <= now ? .expired : .open
  }
}
