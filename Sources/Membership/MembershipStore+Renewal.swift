internal import Synchronization
public import System

// Machines whose key another machine also uses: notes-security(7), "A key of its own".
extension MembershipStore {
  /// Certifies the new key of a member's machine. The person and the role are the member's; the name is the
  /// member's with a number added.
  ///
  /// - Parameter former: the member. It stays a member beside the new one.
  /// - Returns: the new member.
  /// - Throws: `notAMember` if `former` is not a member; the errors of `issue`.
  public func certify(
    _ request: CertificateRequest, of former: String, by key: DeviceKey,
    now: Int64 = WallClock.now()
  ) throws -> Member {
    try refresh()
    let present = members().filter { !$0.isRemoved }
    guard let member = present.first(where: { $0.deviceID == former }) else {
      throw MembershipError.notAMember(device: former)
    }
    let name = DisplayName.numbered(member.deviceName) { name in
      present.contains { $0.deviceName.lowercased() == name.lowercased() }
    }
    _ = try issue(
      for: request, name: name, person: member.person.id, role: member.role, serial: nil,
      asker: asker(ofDevice: former), by: key, now: now)
    guard let new = members().first(where: { $0.deviceID == request.deviceID }) else {
      throw MembershipError.notAMember(device: request.deviceID)
    }
    return new
  }

  /// The serial number of the certificate of the device that asked for a member; nil if none did.
  private func asker(ofDevice deviceID: String) -> [UInt8]? {
    state.withLock { state in
      [UInt8](base32: deviceID).flatMap { state.set.memberChains[$0]?.first?.asker }
    }
  }

  /// Records the key for which this device requests a certificate in `membership/renewal`, which a watcher
  /// notices; nil for no request.
  public func setRenewal(_ deviceID: String?) throws {
    let list = Set([deviceID].compactMap { $0 })
    guard try DeviceList.renewal.read(in: folder) != list else { return }
    try DeviceList.renewal.write(list, in: folder)
  }
}
