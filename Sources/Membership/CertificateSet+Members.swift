internal import System

extension CertificateSet {
  /// The certificates that have a chain to the root free of revoked serial numbers, each with its
  /// shortest such chain: itself first, the root last.
  func chains() -> [Certificate: [Certificate]] {
    let revoked = revokedSerials()
    var chains: [Certificate: [Certificate]] = [root: [root]]
    var byIssuer: [[UInt8]: [Certificate]] = [:]
    for certificate in certificates where !revoked.contains(certificate.serial) {
      byIssuer[certificate.issuerKeyIdentifier, default: []].append(certificate)
    }
    var level = [root]
    while let first = level.first, let length = chains[first]?.count,
      length < CertificateSet.maximumChainLength
    {
      var next: [Certificate] = []
      // In the order of the bytes, so that every device picks the same of several chains.
      for issuer in level.sorted(by: { $0.der.lexicographicallyPrecedes($1.der) })
      where issuer.isAuthority {
        guard let chain = chains[issuer] else { continue }
        for certificate in byIssuer[issuer.keyIdentifier] ?? []
        where certificate.issuer == issuer.subject && chains[certificate] == nil {
          chains[certificate] = [certificate] + chain
          next.append(certificate)
        }
      }
      level = next
    }
    return chains
  }

  /// Everybody ever certified, the founder first, then by name and device ID.
  func members() -> [Member] {
    let chains = chains()
    var keys = Set(certificates.map(\.keyIdentifier))
    keys.insert(root.keyIdentifier)
    return keys.compactMap { member(ofKey: $0, chains: chains) }.sorted {
      if $0.isFounder != $1.isFounder { return $0.isFounder }
      return ($0.name, $0.deviceID) < ($1.name, $1.deviceID)
    }
  }

  /// The member with this key: by its newest certificate with an unrevoked chain, or else, as
  /// removed, by its newest. Nil when the key was never certified.
  func member(ofKey identifier: [UInt8], chains: [Certificate: [Certificate]]? = nil) -> Member? {
    let chains = chains ?? self.chains()
    let isFounder = identifier == root.keyIdentifier
    let all = certificates(ofKey: identifier)
    let valid = all.first { chains[$0] != nil }
    guard let certificate = valid ?? all.first ?? (isFounder ? root : nil) else { return nil }
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

  /// The certificate by which the device with this key is a member.
  func current(ofKey identifier: [UInt8]) -> Certificate? {
    let chains = chains()
    return certificates(ofKey: identifier).first { chains[$0] != nil }
  }

  /// The certificates by which devices are members, by their keys.
  func currentCertificates() -> [[UInt8]: Certificate] {
    let chains = chains()
    var current: [[UInt8]: Certificate] = [:]
    for identifier in Set(certificates.map(\.keyIdentifier)) {
      current[identifier] = certificates(ofKey: identifier).first { chains[$0] != nil }
    }
    return current
  }

  /// What the device with this key presents: its own certificate first, the root left out. Nil
  /// when it has no unrevoked chain.
  func chain(ofKey identifier: [UInt8]) -> [Certificate]? {
    let chains = chains()
    for certificate in certificates(ofKey: identifier) {
      if let chain = chains[certificate] { return chain.filter { $0 != root } }
    }
    return nil
  }

  /// The certificate with which this key issues: the root for the founder, else its newest
  /// unrevoked admin certificate.
  func authority(ofKey identifier: [UInt8]) -> Certificate? {
    if identifier == root.keyIdentifier { return root }
    guard let current = current(ofKey: identifier), current.isAuthority else { return nil }
    return current
  }
}
