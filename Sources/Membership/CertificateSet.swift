/// A notebook's certificates and revocation lists: a set that only grows, so that any two devices
/// that have seen the same end up with the same, in whatever order they saw it (notes-security(7)
/// "The growing set").
/// What is in it has been verified, except for revocation: that a serial number is listed takes
/// nothing out, or the outcome would depend on the order.
struct CertificateSet: Sendable {
  /// Limits of notes-security(7) "Limits".
  static let maximumCertificates = 4096
  static let maximumRevocationLists = 128
  static let maximumChainLength = 8

  let root: Certificate
  let capacity: Int
  let notebookID: String
  let notebookName: String
  /// All but the root.
  private(set) var certificates: Set<Certificate> = []
  private(set) var revocationLists: Set<RevocationList> = []
  /// Certificates by the key they certify, the root included.
  private(set) var byKey: [[UInt8]: [Certificate]] = [:]
  /// By which each key's device is a member: the chain of its first certificate that has one, itself
  /// first, the root last.
  private(set) var memberChains: [[UInt8]: [Certificate]] = [:]
  private var depths: [Certificate: Int] = [:]

  /// Starts with a root. Throws `certificateRefused` unless it is self-signed and its common name
  /// is the notebook ID that its key and serial number make.
  /// Of more certificates than `capacity` that many are kept.
  init(root der: [UInt8], capacity: Int = maximumCertificates) throws {
    self.capacity = capacity
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
    settle()
  }

  var encodings: Set<[UInt8]> {
    Set([root.der] + certificates.map(\.der) + revocationLists.map(\.der))
  }

  /// Adds what verifies, whatever its order, and passes over the rest. True when something is new
  /// and stays: of what is too much each admin's share does.
  mutating func insert(certificates: [[UInt8]], revocationLists: [[UInt8]]) throws -> Bool {
    // Peers mostly send what is known, and that is not parsed.
    let known = encodings
    let before = self
    var changed = try insert(
      certificates.filter { !known.contains($0) }.compactMap { try? Certificate(der: $0) })
    for der in revocationLists where !known.contains(der) {
      guard let list = try? RevocationList(der: der) else { continue }
      if try insert(list) { changed = true }
    }
    if !changed { return false }
    settle()
    return self.certificates != before.certificates
      || self.revocationLists != before.revocationLists
  }

  private mutating func settle() {
    var chains = chains()
    if isTooLarge {
      (certificates, revocationLists) = withinLimits(good: Set(chains.keys))
      byKey = Dictionary(grouping: certificates.union([root]), by: \.keyIdentifier)
      depths = depths.filter { certificates.contains($0.key) || $0.key == root }
      chains = self.chains()
    }
    memberChains = byKey.compactMapValues { certificates in
      inOrder(certificates.filter { chains[$0] != nil }).first.flatMap { chains[$0] }
    }
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
      $0.authority == certificate.signer
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
    revocationLists.insert(list)
    return true
  }
}
