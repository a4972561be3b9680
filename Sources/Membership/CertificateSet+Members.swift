internal import System

// Who is a member by it.
extension CertificateSet {
  /// The certificates that have a good chain, each with its shortest: itself first, the root last.
  private func chains() -> [Certificate: [Certificate]] {
    let lists = CountingLists(root: root, certificates: certificates, lists: revocationLists)
    let revoked = lists.revoked()
    let bySigner = Dictionary(grouping: certificates.subtracting(revoked), by: \.signer)
    var chains = [root: [root]]
    var seen: Set<Certificate.Authority> = []
    var level = [root]
    for _ in 1..<CertificateSet.maximumChainLength {
      var next: [Certificate] = []
      // In the order of the bytes, so that every device picks the same of several chains.
      for issuer in level.sorted(by: { $0.der.lexicographicallyPrecedes($1.der) }) {
        guard let authority = issuer.authority, seen.insert(authority).inserted,
          let chain = chains[issuer]
        else { continue }
        for certificate in bySigner[authority] ?? [] where chains[certificate] == nil {
          chains[certificate] = [certificate] + chain
          next.append(certificate)
        }
      }
      level = next
    }
    return chains
  }

  func chainsOfMembers() -> [[UInt8]: [Certificate]] {
    let chains = chains()
    return byKey.compactMapValues { certificates in
      inOrder(certificates.filter { chains[$0] != nil }).first.flatMap { chains[$0] }
    }
  }

  func members() -> [Member] {
    byKey.keys.compactMap(member(ofKey:)).sorted {
      if $0.isFounder != $1.isFounder { return $0.isFounder }
      return ($0.name, $0.deviceID) < ($1.name, $1.deviceID)
    }
  }

  /// By its first certificate with a good chain, or else, as removed, by its first.
  func member(ofKey identifier: [UInt8]) -> Member? {
    let isFounder = identifier == root.keyIdentifier
    let valid = memberChains[identifier]?.first
    guard
      let certificate = valid ?? certificates(ofKey: identifier).first ?? (isFounder ? root : nil)
    else { return nil }
    let name: String
    let role: Role
    switch certificate.kind {
    case .member(let ownName, let ownRole): (name, role) = (ownName, isFounder ? .admin : ownRole)
    case .root: (name, role) = ("founder", .admin)
    }
    return Member(
      name: name, deviceID: certificate.deviceID, role: role, isFounder: isFounder,
      issuedBy: certificate.issuerID, issuedAt: certificate.issuedAt,
      serial: String(hexadecimal: certificate.serial), isRemoved: valid == nil && !isFounder)
  }

  /// The certificate with which this key issues: the root for the founder, else its first with a
  /// good chain, where that is an admin's.
  func authority(ofKey identifier: [UInt8]) -> Certificate? {
    if identifier == root.keyIdentifier { return root }
    guard let current = memberChains[identifier]?.first, current.isAuthority else { return nil }
    return current
  }

  func certificates(ofKey identifier: [UInt8]) -> [Certificate] {
    inOrder(byKey[identifier] ?? [])
  }

  /// What the lists of those of these keys that are admins' say of known certificates.
  func entries(byAdmins keys: Set<[UInt8]>) -> [[UInt8]: RevocationList.Reason] {
    let known = Set(certificates.map(\.serial))
    let admins = keys.filter { authority(ofKey: $0) != nil }
    return revocationLists.filter { admins.contains($0.issuerKeyIdentifier) }.reduce(into: [:]) {
      $0.merge($1.entries.filter { known.contains($0.key) }, uniquingKeysWith: max)
    }
  }

  /// Without the root: admins' first, then the newest, then the lesser role, then the greater serial
  /// number.
  private func inOrder(_ certificates: [Certificate]) -> [Certificate] {
    certificates.filter { $0 != root }.sorted { left, right in
      if left.isAuthority != right.isAuthority { return left.isAuthority }
      if left.issuedAt != right.issuedAt { return left.issuedAt > right.issuedAt }
      if left.role != right.role { return left.role < right.role }
      if left.serial != right.serial { return right.serial.lexicographicallyPrecedes(left.serial) }
      return right.der.lexicographicallyPrecedes(left.der)
    }
  }
}
