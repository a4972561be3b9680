internal import Synchronization
public import System

/// The state of an invitation that is sent as a link, as far as this device knows.
public enum InvitationStatus: Hashable, Sendable {
  case open
  case expired
  case cancelled
  /// These devices, sorted by their IDs, have certificates by the invitation. There are several only if two
  /// admins answered two devices with the same link.
  case used(by: [String])
  /// The invitation is for another notebook, or its signer may not invite such a device.
  case void
}

extension MembershipStore {
  /// The state of an invitation. Its ID is the serial number of the certificate issued for it, or of a
  /// certificate that an admin revoked before anybody issued it.
  public func status(
    of offer: InvitationOffer, now: Int64 = WallClock.now()
  ) -> InvitationStatus {
    let inviter = role(ofDevice: offer.inviterID)
    return state.withLock { $0.set.status(of: offer, by: inviter, now) }
  }

  /// Whether an admin cancelled the invitation with this ID, as far as this device knows.
  public func isCancelled(invitation id: String) -> Bool {
    guard let serial = [UInt8](hexadecimal: id) else { return false }
    return state.withLock { $0.set.isCancelled(serial) }
  }

  /// Whether a device has, or had, a certificate by the invitation with this ID.
  public func isUsed(invitation id: String) -> Bool {
    guard let serial = [UInt8](hexadecimal: id) else { return false }
    return state.withLock { $0.set.certificates.contains { $0.serial == serial } }
  }

  /// Whether a device became a member by the invitation with this ID and was removed.
  public func isRemoved(device: String, letInBy id: String) -> Bool {
    guard let serial = [UInt8](hexadecimal: id) else { return false }
    return members().contains { $0.deviceID == device && $0.isRemoved }
      && state.withLock { state in
        state.set.certificates.contains { $0.serial == serial && $0.deviceID == device }
      }
  }

  /// Whether a device was removed, so that a member that is not an admin cannot bring it back as another device of its
  /// own: notes-security(7), "Devices of one's own".
  public func refusesReturn(ofDevice device: String, by offer: InvitationOffer) -> Bool {
    offer.isAskedFor && members().contains { $0.deviceID == device && $0.isRemoved }
  }

  /// Whether an admin or a former admin signed an invitation.
  public func isOfAdmin(_ offer: InvitationOffer) -> Bool {
    role(ofDevice: offer.inviterID) == .admin || wasAdmin(device: offer.inviterID)
  }

  /// Certifies the device that makes a request for an invitation, for the inviter's person if the offer says
  /// so. The device gets the name that it gave itself, with a number added if that is taken.
  ///
  /// - Returns: the new member. Nil if the invitation is not open, if the device is already a member, or if a
  ///   member asks for a device that was removed.
  /// - Throws: `notAnAdmin` if `key` is not an admin's; `limitExceeded` if a member asks for more devices than
  ///   a person gets in this way.
  public func admit(
    _ request: AdmissionRequest, to offer: InvitationOffer, by key: DeviceKey,
    now: Int64 = WallClock.now()
  ) throws -> Member? {
    // One at a time, so that the limits also count the devices that are being certified.
    try admitting.withLock { _ in try admitNext(request, to: offer, by: key, now) }
  }

  private func admitNext(
    _ request: AdmissionRequest, to offer: InvitationOffer, by key: DeviceKey, _ now: Int64
  ) throws -> Member? {
    try refreshUnlessMerging()
    guard status(of: offer, now: now) == .open, member(ofDevice: request.deviceID) == nil
    else { return nil }
    let inviter = member(ofDevice: offer.inviterID)
    let person = offer.person == .own ? inviter?.person : nil
    // The inviter was removed in this moment.
    if offer.person == .own, person == nil { return nil }
    var asker: [UInt8]?
    if offer.isAskedFor {
      guard let inviter, person != nil, !inviter.isBlocked,
        let serial = [UInt8](hexadecimal: inviter.serial)
      else { return nil }
      if members().contains(where: { $0.deviceID == request.deviceID }) { return nil }
      if !mayAdmit(offer) {
        throw MembershipError.limitExceeded(
          what: "devices of a person", limit: Person.mostWithoutAdmin)
      }
      asker = serial
    }
    let taken = Set(
      members().filter { $0.deviceID != request.deviceID }.names(of: person).map { $0.lowercased() }
    )
    func isTaken(_ name: String) -> Bool { taken.contains(name.lowercased()) }
    let name = request.request.name
    _ = try issue(
      for: request.request, name: isTaken(name) ? DisplayName.numbered(name, isTaken) : name,
      person: person?.id, personName: offer.person.name, role: offer.role, serial: offer.id.serial,
      asker: asker, by: key, now: now)
    return member(ofDevice: request.deviceID)
  }

  /// Whether the person of the inviter may get another device by an invitation: without an admin, it gets only
  /// `mostWithoutAdmin`.
  public func mayAdmit(_ offer: InvitationOffer) -> Bool {
    guard offer.isAskedFor, let person = member(ofDevice: offer.inviterID)?.person else {
      return true
    }
    return members().count { !$0.isRemoved && $0.person.id == person.id } < Person.mostWithoutAdmin
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

extension Person {
  /// The most devices that a person gets without an admin.
  public static let mostWithoutAdmin = 8
}

extension InvitationOffer {
  /// The longest time that a member's invitation for a device of its own is open, in seconds.
  /// It is a day more than the program allows, because the clocks of two devices differ.
  static let longestOfMember: Int64 = 31 * 86_400

  /// Whether a device with this role may make such an invitation. `role` is nil if the device is not a member.
  func isAllowed(to role: Role?, _ now: Int64) -> Bool {
    guard let role else { return false }
    return switch signer {
    case .admin: role == .admin
    case .member(let isProved):
      isProved && person == .own && self.role < .admin && self.role <= role
        && expires <= now + Self.longestOfMember
    }
  }
}

extension [Member] {
  /// The names that a new device cannot have. They are those of the person's other devices, or for a new
  /// person, the names by which members are called.
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
    if isCancelled(offer.id.serial) { return .cancelled }
    if !offer.isAllowed(to: inviter, now) { return .void }
    if offer.expires <= now { return .expired }
    return offer.isWithdrawn ? .cancelled : .open
  }

  /// Whether a serial number that no certificate has is listed as removed.
  fileprivate func isCancelled(_ serial: [UInt8]) -> Bool {
    !certificates.contains { $0.serial == serial }
      && revocationLists.contains { $0.entries[serial] == .removed }
  }
}
