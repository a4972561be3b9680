extension MembershipStore {
  /// Adds certificates to the admin's own revocation list. If one of them is a former admin's, also adds the
  /// entries of that admin's lists that count. Then certifies again the devices that lose their chain. No limit
  /// prevents the revocation: if there is no space, some devices are not certified. `unissued` are serial
  /// numbers without a certificate.
  static func revoke(
    _ certificates: [Certificate], _ reason: RevocationList.Reason, adding new: [Certificate],
    unissued: [[UInt8]] = [], in set: inout CertificateSet, _ authority: Certificate,
    _ key: DeviceKey, _ now: Int64
  ) throws {
    let before = set.memberChains
    let own = set.revocationLists.filter { $0.issuerKeyIdentifier == authority.keyIdentifier }
    var entries: [[UInt8]: RevocationList.Reason] = [:]
    // A handover to a former founder still leads to the founder.
    let listed = certificates.filter { !set.succession.handovers.contains($0) }
    let staying = set.succession.stayingSerials(ofKeys: Set(certificates.map(\.keyIdentifier)))
    for serial in listed.map(\.serial) + unissued + staying { entries[serial] = reason }
    for list in own { entries.merge(list.entries, uniquingKeysWith: max) }
    let meant = Set(certificates.map(\.keyIdentifier)).subtracting([authority.keyIdentifier])
    entries = set.entries(byAdmins: reason > .superseded ? meant : [], besides: entries)
    // The first date of a removal is kept.
    var dates: [[UInt8]: Int64] = [:]
    for list in set.revocationLists
    where list.issuerKeyIdentifier == authority.keyIdentifier
      || meant.contains(list.issuerKeyIdentifier)
    {
      for (serial, date) in list.dates where list.entries[serial] == entries[serial] {
        dates[serial] = min(dates[serial] ?? date, date)
      }
    }
    let list = try RevocationList.make(
      entries: entries, dates: dates, number: (own.map(\.number).max() ?? 0) + 1, issuer: authority,
      signedWith: key, now: now)
    _ = try set.insert(certificates: new.map(\.der), revocationLists: [list.der])
    if set.authority(ofKey: authority.keyIdentifier) == nil { throw MembershipError.ownCertifier }

    let after = set.memberChains
    let lost = before.filter { after[$0.key] == nil && !meant.contains($0.key) }.compactMap {
      $0.value.first
    }
    let lessened = reason == .demoted ? new.first : nil
    try set.insert(signedHere: certified(lost, besides: lessened, in: set, authority, key, now))
  }

  /// Certifies devices again that lose their chain. If a device's asker was removed, this admin vouches for the
  /// device instead. If the asker got a lesser role, the device stays the asker's, and its role becomes no
  /// greater than the asker's.
  private static func certified(
    _ lost: [Certificate], besides lessened: Certificate?, in set: CertificateSet,
    _ authority: Certificate, _ key: DeviceKey, _ now: Int64
  ) throws -> [Certificate] {
    let revoked = set.revoked()
    var made: [Certificate] = []
    // The present certificates of askers whose role has become a lesser one. They are found by the serial number of any
    // certificate of the asker.
    var askers: [[UInt8]: Certificate] = [:]
    func add(_ asker: Certificate) {
      for old in set.certificates(ofKey: asker.keyIdentifier) { askers[old.serial] = asker }
    }
    lessened.map(add)
    var pending = lost
    while !pending.isEmpty {
      // Askers come before what they asked for.
      let waiting = Set(
        pending.flatMap { set.certificates(ofKey: $0.keyIdentifier) }.map(\.serial))
      let isReady = { (old: Certificate) in old.asker.map { !waiting.contains($0) } ?? true }
      let ready = pending.contains(where: isReady) ? pending.filter(isReady) : pending
      pending.removeAll(where: ready.contains)
      for old in ready {
        guard case .member(_, let role) = old.kind else { continue }
        let asker = old.asker.flatMap { askers[$0] }
        let certificate = try Certificate.member(
          name: old.deviceName, person: old.person, role: min(role, asker?.role ?? role),
          publicKey: old.publicKey, replacing: old.serial,
          asker: asker?.serial ?? (revoked.contains(old) ? nil : old.asker), issuer: authority,
          signedWith: key, now: date(now, after: set.certificates(ofKey: old.keyIdentifier)))
        made.append(certificate)
        if asker != nil { add(certificate) }
      }
    }
    return made
  }
}
