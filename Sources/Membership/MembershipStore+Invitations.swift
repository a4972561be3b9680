internal import Synchronization
public import System

/// The state of an invitation that travels as a link, as far as this device knows.
public enum InvitationStatus: Hashable, Sendable {
  case open
  case expired
  case cancelled
  /// These devices have certificates by it, sorted by their IDs. There are several only where two admins answered
  /// two devices that had the same link.
  case used(by: [String])
  /// It is another notebook's, or its signer is no admin.
  case void
}

extension MembershipStore {
  /// The state of an invitation: its ID is the serial number of the certificate that it led to, or of one that
  /// an admin revoked before there was any.
  public func status(
    of offer: InvitationOffer, now: Int64 = WallClock.now()
  ) -> InvitationStatus {
    let inviter = role(ofDevice: offer.inviterID)
    return state.withLock { $0.set.status(of: offer, by: inviter, now) }
  }

  /// Certifies the device that asks by an invitation, under the name that it gave itself, or where that is taken,
  /// with a number behind.
  ///
  /// - Returns: the new member; nil where the invitation is not open, or the device is a member already.
  /// - Throws: `notAnAdmin` when `key` is not an admin's.
  public func admit(
    _ request: AdmissionRequest, to offer: InvitationOffer, by key: DeviceKey,
    now: Int64 = WallClock.now()
  ) throws -> Member? {
    try refreshUnlessMerging()
    guard status(of: offer, now: now) == .open, member(ofDevice: request.deviceID) == nil
    else { return nil }
    let taken = Set(
      members().filter { $0.deviceID != request.deviceID }.map { $0.name.lowercased() })
    func isTaken(_ name: String) -> Bool { taken.contains(name.lowercased()) }
    let name = request.request.name
    _ = try issue(
      for: request.request, name: isTaken(name) ? DisplayName.numbered(name, isTaken) : name,
      role: offer.role, serial: offer.id.serial, by: key, now: now)
    return member(ofDevice: request.deviceID)
  }

  /// Takes back an invitation, for all admins: a certificate with its serial number counts for nothing from then on.
  ///
  /// - Returns: whether it was open.
  /// - Throws: `notAnAdmin` when `key` is not an admin's.
  public func cancel(
    _ offer: InvitationOffer, by key: DeviceKey, now: Int64 = WallClock.now()
  ) throws -> Bool {
    try refreshUnlessMerging()
    guard status(of: offer, now: now) == .open else { return false }
    try revoke(serial: offer.id.serial, by: key, now: now)
    return true
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
