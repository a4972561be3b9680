/// A notebook's certificates and revocation lists: a set that only grows, so that any two devices
/// that have seen the same end up with the same, in whatever order they saw it (notes-security(7)
/// "The growing set").
///
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
  /// All that is in the set, as it came: peers mostly send what is known, and that is not parsed.
  private(set) var encodings: Set<[UInt8]> = []

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
    encodings.insert(der)
  }

  /// Adds what verifies, whatever its order, and passes over the rest. True when something is new.
  mutating func insert(certificates: [[UInt8]], revocationLists: [[UInt8]]) throws -> Bool {
    if certificates.count > CertificateSet.maximumCertificates + 1 {
      throw MembershipError.limitExceeded(
        what: "certificates", limit: CertificateSet.maximumCertificates)
    }
    if revocationLists.count > CertificateSet.maximumRevocationLists {
      throw MembershipError.limitExceeded(
        what: "revocation lists", limit: CertificateSet.maximumRevocationLists)
    }
    var changed = try insertCertificates(certificates)
    for der in revocationLists where !encodings.contains(der) {
      guard let list = try? RevocationList(der: der) else { continue }
      if try insert(list) { changed = true }
    }
    return changed
  }

  /// In rounds: a certificate can come before the one that signed it.
  private mutating func insertCertificates(_ encoded: [[UInt8]]) throws -> Bool {
    var pending = encoded.filter { !encodings.contains($0) }.compactMap {
      try? Certificate(der: $0)
    }
    var changed = false
    while true {
      var waiting: [Certificate] = []
      for certificate in pending {
        switch try issuerDepth(of: certificate) {
        case .some(let depth) where depth < CertificateSet.maximumChainLength:
          if certificates.contains(certificate) { continue }
          if certificates.count == CertificateSet.maximumCertificates {
            throw MembershipError.limitExceeded(
              what: "certificates", limit: CertificateSet.maximumCertificates)
          }
          certificates.insert(certificate)
          encodings.insert(certificate.der)
          byKey[certificate.keyIdentifier, default: []].append(certificate)
          depths[certificate] = depth + 1
          changed = true
        case .some, .none:
          waiting.append(certificate)
        }
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
    if own.contains(where: { $0.replaces(list) }) { return false }
    let issuers = byKey[list.issuerKeyIdentifier] ?? []
    guard try issuers.contains(where: { try list.isSigned(by: $0) }) else { return false }
    for older in own where list.replaces(older) {
      revocationLists.remove(older)
      encodings.remove(older.der)
    }
    if revocationLists.count == CertificateSet.maximumRevocationLists {
      throw MembershipError.limitExceeded(
        what: "revocation lists", limit: CertificateSet.maximumRevocationLists)
    }
    revocationLists.insert(list)
    encodings.insert(list.der)
    return true
  }

  /// All serial numbers that count as revoked: the union over all admins' lists, removed admins'
  /// included; but the root's never, and those of the founder's key by the founder's own list
  /// alone. A removal takes with it what was issued in the removed certificate's place, so that it
  /// wins over a change of role or name made elsewhere at the same time.
  func revokedSerials() -> Set<[UInt8]> {
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
    var successors: [[UInt8]: [[UInt8]]] = [:]
    for certificate in certificates {
      guard let replaced = certificate.replaced else { continue }
      successors[replaced, default: []].append(certificate.serial)
    }
    var pending = Array(removed)
    while let serial = pending.popLast() {
      for successor in successors[serial] ?? [] where !founders.contains(successor) {
        if removed.insert(successor).inserted { pending.append(successor) }
      }
    }
    revoked.formUnion(removed)
    revoked.remove(root.serial)
    return revoked
  }

  /// The certificates of a key, the newest first; of several as new, the one with the lesser role,
  /// then the greater serial number.
  func certificates(ofKey identifier: [UInt8]) -> [Certificate] {
    (byKey[identifier] ?? []).filter { $0 != root }.sorted(by: CertificateSet.supersedes)
  }

  private static func supersedes(_ left: Certificate, _ right: Certificate) -> Bool {
    if left.issuedAt != right.issuedAt { return left.issuedAt > right.issuedAt }
    if case .member(_, let leftRole) = left.kind, case .member(_, let rightRole) = right.kind,
      leftRole != rightRole
    {
      return leftRole < rightRole
    }
    if left.serial != right.serial {
      return right.serial.lexicographicallyPrecedes(left.serial)
    }
    return right.der.lexicographicallyPrecedes(left.der)
  }
}
