internal import System

/// A notebook's certificates and revocation lists: a set that only grows, so that any two devices
/// that have seen the same end up with the same, in whatever order they saw it (notes-security(7)
/// "The growing set").
/// What is in it has been verified, except for revocation: that a serial number is listed takes
/// nothing out, or the outcome would depend on the order.
struct CertificateSet: Sendable {
  /// Limits of notes-security(7) "Limits".
  static let maximumCertificates = 4096
  static let maximumRevocationLists = 512
  static let maximumChainLength = 8

  let root: Certificate
  let notebookID: String
  let notebookName: String
  /// All but the root.
  private(set) var certificates: Set<Certificate> = []
  private(set) var revocationLists: Set<RevocationList> = []
  /// Certificates by the key they certify, the root included.
  private var byKey: [[UInt8]: [Certificate]] = [:]
  private var depths: [Certificate: Int] = [:]

  /// Starts with a root. Throws `certificateRefused` unless it is self-signed and its common name
  /// is the notebook ID that its key and serial number make.
  init(root der: [UInt8]) throws {
    do {
      root = try Certificate(der: der)
      guard case .root(let identifier, let name) = root.kind else {
        throw CertificateDefect.subject
      }
      notebookID = identifier
      notebookName = name
      if try NotebookID.make(publicKey: root.publicKey, serial: root.serial) != identifier {
        throw CertificateDefect.notebookID
      }
      if try !root.isSigned(by: root) { throw CertificateDefect.signature }
    } catch let defect as CertificateDefect {
      throw MembershipError.certificateRefused(defect)
    }
    byKey[root.keyIdentifier] = [root]
    depths[root] = 1
  }

  var encodings: Set<[UInt8]> {
    Set([root.der] + certificates.map(\.der) + revocationLists.map(\.der))
  }

  /// Adds what verifies, whatever its order, and passes over the rest. True when something is new.
  mutating func insert(certificates: [[UInt8]], revocationLists: [[UInt8]]) throws -> Bool {
    // The root may be among them.
    try Self.limit(certificates.count - 1, to: Self.maximumCertificates, "certificates")
    try Self.limit(revocationLists.count, to: Self.maximumRevocationLists, "revocation lists")
    // Peers mostly send what is known, and that is not parsed.
    let known = encodings
    var changed = try insert(
      certificates.filter { !known.contains($0) }.compactMap { try? Certificate(der: $0) })
    for der in revocationLists where !known.contains(der) {
      guard let list = try? RevocationList(der: der) else { continue }
      if try insert(list) { changed = true }
    }
    return changed
  }

  private static func limit(_ count: Int, to limit: Int, _ what: String) throws {
    if count > limit { throw MembershipError.limitExceeded(what: what, limit: limit) }
  }

  /// In rounds: a certificate can come before the one that signed it.
  private mutating func insert(_ read: [Certificate]) throws -> Bool {
    var pending = read
    var changed = false
    while true {
      var waiting: [Certificate] = []
      for certificate in pending {
        guard let depth = try issuerDepth(of: certificate), depth < Self.maximumChainLength else {
          waiting.append(certificate)
          continue
        }
        if certificates.contains(certificate) { continue }
        try Self.limit(certificates.count + 1, to: Self.maximumCertificates, "certificates")
        certificates.insert(certificate)
        byKey[certificate.keyIdentifier, default: []].append(certificate)
        depths[certificate] = depth + 1
        changed = true
      }
      if waiting.count == pending.count { return changed }
      pending = waiting
    }
  }

  /// The length of the shortest known chain that can carry the certificate; nil when there is
  /// none, or its signature is wrong.
  private func issuerDepth(of certificate: Certificate) throws -> Int? {
    guard case .member = certificate.kind else { return nil }
    // Nobody but the founder certifies the founder's key.
    if certificate.keyIdentifier == root.keyIdentifier
      && certificate.issuerKeyIdentifier != root.keyIdentifier
    {
      return nil
    }
    let issuers = (byKey[certificate.issuerKeyIdentifier] ?? []).filter {
      $0.isAuthority && $0.subject == certificate.issuer
    }
    // One signature serves: they all have the same key.
    guard let any = issuers.first, try certificate.isSigned(by: any) else { return nil }
    return issuers.compactMap { depths[$0] }.min()
  }

  private mutating func insert(_ list: RevocationList) throws -> Bool {
    let own = revocationLists.filter { $0.issuerKeyIdentifier == list.issuerKeyIdentifier }
    // Sent twice, it is here already.
    if own.contains(where: { $0 == list || $0.replaces(list) }) { return false }
    let issuers = byKey[list.issuerKeyIdentifier] ?? []
    guard try issuers.contains(where: { try list.isSigned(by: $0) }) else { return false }
    for older in own where list.replaces(older) { revocationLists.remove(older) }
    try Self.limit(revocationLists.count + 1, to: Self.maximumRevocationLists, "revocation lists")
    revocationLists.insert(list)
    return true
  }
}

// Who is a member by it.
extension CertificateSet {
  /// All serial numbers that count as revoked: the union over all admins' lists, removed admins'
  /// included; but the root's never, and those of the founder's key by the founder's own list
  /// alone. A removal takes with it what was issued in the removed certificate's place, so that it
  /// wins over a change of role or name made elsewhere at the same time.
  private func revokedSerials() -> Set<[UInt8]> {
    let founders = Set((byKey[root.keyIdentifier] ?? []).map(\.serial))
    var revoked: Set<[UInt8]> = []
    var removed: Set<[UInt8]> = []
    for list in revocationLists {
      let isFounders = list.issuerKeyIdentifier == root.keyIdentifier
      for (serial, reason) in list.entries where isFounders || !founders.contains(serial) {
        revoked.insert(serial)
        if reason == .removed { removed.insert(serial) }
      }
    }
    let successors = Dictionary(grouping: certificates, by: \.replaced)
    var pending = Array(removed)
    while let serial = pending.popLast() {
      for successor in (successors[serial] ?? []).map(\.serial)
      where !founders.contains(successor) && removed.insert(successor).inserted {
        pending.append(successor)
      }
    }
    return revoked.union(removed).subtracting([root.serial])
  }

  /// The certificates that have a chain to the root free of revoked serial numbers, each with its
  /// shortest such chain: itself first, the root last.
  private func chains() -> [Certificate: [Certificate]] {
    let revoked = revokedSerials()
    let byIssuer = Dictionary(
      grouping: certificates.filter { !revoked.contains($0.serial) }, by: \.issuerKeyIdentifier)
    var chains = [root: [root]]
    var level = [root]
    for _ in 1..<CertificateSet.maximumChainLength {
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

  /// By which each key's device is a member: the chain of its newest certificate that has one.
  func memberChains() -> [[UInt8]: [Certificate]] {
    let chains = chains()
    return byKey.compactMapValues { certificates in
      newestFirst(certificates).lazy.compactMap { chains[$0] }.first
    }
  }

  func members() -> [Member] {
    let chains = memberChains()
    return byKey.keys.compactMap { member(ofKey: $0, chains) }.sorted {
      if $0.isFounder != $1.isFounder { return $0.isFounder }
      return ($0.name, $0.deviceID) < ($1.name, $1.deviceID)
    }
  }

  func member(ofKey identifier: [UInt8]) -> Member? { member(ofKey: identifier, memberChains()) }

  /// By its newest certificate with an unrevoked chain, or else, as removed, by its newest.
  private func member(ofKey identifier: [UInt8], _ chains: [[UInt8]: [Certificate]]) -> Member? {
    let isFounder = identifier == root.keyIdentifier
    let valid = chains[identifier]?.first
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

  /// The certificate with which this key issues: the root for the founder, else its newest
  /// unrevoked admin certificate.
  func authority(ofKey identifier: [UInt8]) -> Certificate? {
    if identifier == root.keyIdentifier { return root }
    guard let current = memberChains()[identifier]?.first, current.isAuthority else { return nil }
    return current
  }

  func certificates(ofKey identifier: [UInt8]) -> [Certificate] {
    newestFirst(byKey[identifier] ?? [])
  }

  /// Without the root. Of several as new, the one with the lesser role comes first, then the greater
  /// serial number.
  private func newestFirst(_ certificates: [Certificate]) -> [Certificate] {
    certificates.filter { $0 != root }.sorted { left, right in
      if left.issuedAt != right.issuedAt { return left.issuedAt > right.issuedAt }
      if case .member(_, let leftRole) = left.kind, case .member(_, let rightRole) = right.kind,
        leftRole != rightRole
      {
        return leftRole < rightRole
      }
      if left.serial != right.serial { return right.serial.lexicographicallyPrecedes(left.serial) }
      return right.der.lexicographicallyPrecedes(left.der)
    }
  }
}
