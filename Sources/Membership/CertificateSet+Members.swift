internal import System

// The members, judged by a set of certificates.
extension CertificateSet {
  /// The certificates with a valid chain, each with its shortest chain: the certificate itself first, the root
  /// last.
  func chains() -> [Certificate: [Certificate]] {
    let revoked = revoked()
    // A handover only decides which device is the founder.
    let bySigner = Dictionary(
      grouping: certificates.subtracting(revoked).subtracting(succession.handovers), by: \.signer)
    let founders = succession.signing { revoked.contains($0) }
    var chains = [succession.present.anchor: succession.present.chain]
    var seen: Set<Certificate.Authority> = []
    var level: [[Certificate]] = []
    for length in 1..<CertificateSet.maximumChainLength {
      level += founders.map(\.chain).filter { $0.count == length }
      var next: [[Certificate]] = []
      // Issuers are tried in the order of their bytes, so that every device chooses the same of
      // several chains.
      for chain in level.sorted(by: { $0[0].der.lexicographicallyPrecedes($1[0].der) }) {
        guard let authority = chain[0].authority, seen.insert(authority).inserted else { continue }
        for certificate in bySigner[authority] ?? [] where chains[certificate] == nil {
          chains[certificate] = [certificate] + chain
          next.append([certificate] + chain)
        }
      }
      level = next
    }
    return chains
  }

  /// The certificates that are revoked by the lists that count, directly or through others.
  func revoked() -> Set<Certificate> {
    CountingLists(succession, certificates: certificates, lists: revocationLists).revoked()
  }

  func members() -> [Member] {
    byKey.keys.compactMap(member(ofKey:)).sorted {
      if $0.isFounder != $1.isFounder { return $0.isFounder }
      return ($0.name, $0.deviceID) < ($1.name, $1.deviceID)
    }
  }

  /// The member with a key, from its first certificate with a valid chain. If there is none, a removed member,
  /// from its first certificate.
  func member(ofKey identifier: [UInt8]) -> Member? {
    let isFounder = identifier == succession.key
    guard let certificate = current(ofKey: identifier),
      let person = people.person(ofKey: identifier)
    else { return nil }
    let deviceName = certificate.deviceName
    let isRemoved = memberChains[identifier] == nil && !isFounder
    let ending = isRemoved ? ending(ofKey: identifier) : nil
    return Member(
      name: people.name(ofKey: identifier, called: deviceName), deviceName: deviceName,
      person: person, deviceID: certificate.deviceID, role: isFounder ? .admin : certificate.role,
      isFounder: isFounder, issuedBy: certificate.issuerID, roleBy: giver(of: certificate),
      issuedAt: certificate.issuedAt,
      first: isFounder ? nil : first(before: certificate),
      removal: isRemoved && ending == nil ? removal(ofKey: identifier) : nil,
      serial: String(hexadecimal: certificate.serial), isRemoved: isRemoved, ending: ending)
  }

  /// The device that first certified this certificate's device, and when, found by following the replaced certificates
  /// back as far as they are known. Nil if this certificate replaced none, or an unknown one.
  private func first(before certificate: Certificate) -> MemberChange? {
    let first = oldest(before: certificate) { _ in true }
    return first == certificate ? nil : MemberChange(by: first.issuerID, at: first.issuedAt)
  }

  /// The device that gave the role: the issuer of the first of the consecutive certificates with this role.
  private func giver(of certificate: Certificate) -> String {
    oldest(before: certificate) { $0.role == certificate.role }.issuerID
  }

  /// Follows the replaced certificates back as long as `counts` accepts the next one, and returns the last accepted:
  /// this certificate itself if there is none.
  private func oldest(
    before certificate: Certificate, while counts: (Certificate) -> Bool
  ) -> Certificate {
    guard certificate.replaced != nil else { return certificate }
    let all = certificates(ofKey: certificate.keyIdentifier).map { ($0.serial, $0) }
    let bySerial = Dictionary(all) { first, _ in first }
    var (oldest, seen): (Certificate, Set<[UInt8]>) = (certificate, [certificate.serial])
    while let serial = oldest.replaced, seen.insert(serial).inserted, let older = bySerial[serial],
      counts(older)
    {
      oldest = older
    }
    return oldest
  }

  /// The first removal of a key's device in an admin's list. An admin who removes another admin copies that admin's
  /// entries with their dates, so the former admin counts as the maker of such a removal.
  private func removal(ofKey identifier: [UInt8]) -> MemberChange? {
    let serials = certificates(ofKey: identifier).map(\.serial)
    let all = revocationLists.compactMap { list -> (list: RevocationList, date: Int64)? in
      serials.filter { list.entries[$0] == .removed }.compactMap { list.dates[$0] }.min()
        .map { (list, $0) }
    }
    let present = all.filter { authority(ofKey: $0.list.issuerKeyIdentifier) != nil }
    guard let date = (present.isEmpty ? all : present).map(\.date).min() else { return nil }
    // If several removals have the same date, every device chooses the same one.
    let makers = all.filter { $0.date == date }.map(\.list.issuerKeyIdentifier).sorted {
      let (left, right) = (authority(ofKey: $0) == nil, authority(ofKey: $1) == nil)
      return left == right ? $0.lexicographicallyPrecedes($1) : left
    }
    return makers.first.map { MemberChange(by: String(base32: $0), at: date) }
  }

  /// Set if a device is no longer a member because the device that asked for it was removed, or got a lesser
  /// role.
  private func ending(ofKey identifier: [UInt8]) -> AskerEnding? {
    let own = certificates(ofKey: identifier)
    guard own.contains(where: { $0.asker != nil }) else { return nil }
    var reasons: [[UInt8]: RevocationList.Reason] = [:]
    for list in revocationLists where authority(ofKey: list.issuerKeyIdentifier) != nil {
      reasons.merge(list.entries, uniquingKeysWith: max)
    }
    if own.contains(where: { reasons[$0.serial] == .removed }) { return nil }
    let bySerial = Dictionary(certificates.map { ($0.serial, $0) }) { first, _ in first }
    for certificate in own {
      guard let asker = certificate.asker, let direct = bySerial[asker] else { continue }
      // The asker itself may have lost its membership with the device that asked for it.
      var (next, seen): ([UInt8]?, Set<[UInt8]>) = (asker, [])
      while let serial = next, seen.insert(serial).inserted {
        if let reason = reasons[serial], reason > .superseded {
          return AskerEnding(
            asker: direct.deviceID, wasRemoved: reason == .removed || serial != asker)
        }
        next = bySerial[serial]?.asker
      }
    }
    return nil
  }

  /// The certificate that names a device: its first certificate with a valid chain, or else its first.
  func current(ofKey identifier: [UInt8]) -> Certificate? {
    memberChains[identifier]?.first ?? certificates(ofKey: identifier).first
      ?? (identifier == root.keyIdentifier ? root : nil)
  }

  /// The certificate with which this key issues. For the founder it is the root, or the handover to it. For
  /// others it is the first with a valid chain, if that is an admin's.
  func authority(ofKey identifier: [UInt8]) -> Certificate? {
    if identifier == succession.key { return succession.present.anchor }
    guard let current = memberChains[identifier]?.first, current.isAuthority else { return nil }
    return current
  }

  func certificates(ofKey identifier: [UInt8]) -> [Certificate] {
    inOrder(byKey[identifier] ?? [])
  }

  /// The entries of the lists by these keys, if they are admins' keys. If one list cannot contain all entries,
  /// those of known certificates have priority.
  func entries(
    byAdmins keys: Set<[UInt8]>, besides own: [[UInt8]: RevocationList.Reason]
  ) -> [[UInt8]: RevocationList.Reason] {
    let admins = keys.filter { authority(ofKey: $0) != nil }
    let lists = revocationLists.filter { admins.contains($0.issuerKeyIdentifier) }
    let all = lists.reduce(into: own) { $0.merge($1.entries, uniquingKeysWith: max) }
    if all.count <= RevocationList.maximumEntries { return all }
    let known = Set(certificates.map(\.serial))
    let first = all.sorted {
      let (left, right) = (known.contains($0.key), known.contains($1.key))
      return left == right ? $0.key.lexicographicallyPrecedes($1.key) : left
    }
    return Dictionary(first.prefix(RevocationList.maximumEntries).map { ($0.key, $0.value) }) { $1 }
  }

  /// The devices that the device of this key invited, let in, asked for or made admins, directly or through
  /// others. Each has the first certificate that shows this. The founder is not among them.
  ///
  /// - Parameter inviters: the keys of the devices that made invitations, by the invitations' serial numbers.
  func invited(
    byKey identifier: [UInt8], inviters: [[UInt8]: [UInt8]] = [:]
  ) -> [(key: [UInt8], Certificate)] {
    let linked = Dictionary(grouping: certificates) { inviters[$0.serial] }
    let issued = Dictionary(grouping: certificates, by: \.issuerKeyIdentifier)
    let keys = Dictionary(certificates.map { ($0.serial, $0.keyIdentifier) }) { first, _ in first }
    let asked = Dictionary(grouping: certificates) { $0.asker.flatMap { keys[$0] } }
    let roles = Dictionary(certificates.map { ($0.serial, $0.role) }, uniquingKeysWith: max)
    var found: [(key: [UInt8], Certificate)] = []
    var seen: Set = [identifier, succession.key]
    var pending = [identifier]
    while let issuer = pending.popLast() {
      let all = Set((issued[issuer] ?? []) + (asked[issuer] ?? []) + (linked[issuer] ?? []))
      let first = all.sorted { $0.issuedAt < $1.issuedAt }.filter {
        guard let replaced = $0.replaced else { return true }
        return $0.isAuthority && roles[replaced] != .admin
      }
      for certificate in first where seen.insert(certificate.keyIdentifier).inserted {
        found.append((certificate.keyIdentifier, certificate))
        pending.append(certificate.keyIdentifier)
      }
    }
    return found
  }

  /// The certificates except the root: admins' first, then the newest, then the lesser role, then
  /// the greater serial number.
  func inOrder(_ certificates: [Certificate]) -> [Certificate] {
    certificates.filter { $0 != root }.sorted { left, right in
      if left.isAuthority != right.isAuthority { return left.isAuthority }
      if left.issuedAt != right.issuedAt { return left.issuedAt > right.issuedAt }
      if left.role != right.role { return left.role < right.role }
      if left.serial != right.serial { return right.serial.lexicographicallyPrecedes(left.serial) }
      return right.der.lexicographicallyPrecedes(left.der)
    }
  }
}
