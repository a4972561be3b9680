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
  /// The notebook's name: by the last of its admins who named it, or else by the root.
  private(set) var notebookName: String
  /// The members': all but the root and the names.
  private(set) var certificates: Set<Certificate> = []
  /// The names that admins gave the notebook, of each key the latest: notes-security(7), "The notebook's
  /// name".
  private(set) var names: Set<Certificate> = []
  private(set) var revocationLists: Set<RevocationList> = []
  /// Certificates by the key they certify, the root included.
  private(set) var byKey: [[UInt8]: [Certificate]] = [:]
  /// By which each key's device is a member: the chain of its first certificate that has one, itself
  /// first, the root last.
  private(set) var memberChains: [[UInt8]: [Certificate]] = [:]
  /// The certificates that may sign: each with its least depth, the length of a chain that ends with it.
  private var authorities: [Certificate.Authority: (certificate: Certificate, depth: Int)] = [:]
  private var fingerprints: Set<Fingerprint> = []
  /// Copies share it.
  let signatures = SignatureMemory()

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
    authorities = reachable()
    fingerprints = [root.fingerprint]
    settle()
  }

  /// All certificates but the root.
  var issued: Set<Certificate> { certificates.union(names) }

  var encodings: Set<[UInt8]> {
    Set([root.der] + issued.map(\.der) + revocationLists.map(\.der))
  }

  /// Adds what verifies, whatever its order, and passes over the rest. True when something is new
  /// and stays: of what is too much each admin's share does.
  mutating func insert(certificates: [[UInt8]], revocationLists: [[UInt8]]) throws -> Bool {
    let before = fingerprints
    var changed = try insert(
      unknown(certificates).compactMap { der in
        try Self.unlessRefused { try Certificate(der: der) }
      })
    for der in try unknown(revocationLists) {
      guard let list = try Self.unlessRefused({ try RevocationList(der: der) }) else { continue }
      if try insert(list) { changed = true }
    }
    if !changed { return false }
    settle()
    recordFingerprints()
    return fingerprints != before
  }

  /// Adds what this device has just signed with a certificate of the set: that is not read or verified again.
  mutating func insert(signedHere certificates: [Certificate]) throws {
    for certificate in certificates { signatures.rememberGood(certificate.fingerprint) }
    if try !insert(certificates) { return }
    settle()
    recordFingerprints()
  }

  private mutating func recordFingerprints() {
    fingerprints = Set(
      [root.fingerprint] + issued.map(\.fingerprint) + revocationLists.map(\.fingerprint))
  }

  /// The value that was read; nil for bytes that are no certificate or list of ours, whoever sent them.
  ///
  /// - Throws: where this machine can read none, which says nothing of what was sent.
  static func unlessRefused<Value>(_ read: () throws -> Value) throws -> Value? {
    do {
      return try read()
    } catch is CertificateDefect {
      return nil
    } catch MembershipError.library {
      return nil
    }
  }

  /// Those of a peer's that are not here: it mostly sends what is, and that is not parsed.
  func unknown(_ encodings: [[UInt8]]) throws -> [[UInt8]] {
    try encodings.filter { !fingerprints.contains(try Fingerprint(of: $0)) }
  }

  private mutating func settle() {
    var chains = chains()
    if isTooLarge {
      (certificates, revocationLists) = withinLimits(good: Set(chains.keys))
      byKey = Dictionary(grouping: certificates.union([root]), by: \.keyIdentifier)
      authorities = reachable()
      chains = self.chains()
    }
    memberChains = byKey.compactMapValues { certificates in
      inOrder(certificates.filter { chains[$0] != nil }).first.flatMap { chains[$0] }
    }
    let (kept, name) = settledNames()
    (names, notebookName) = (kept, name ?? root.notebookName ?? "")
  }

  private func reachable() -> [Certificate.Authority: (certificate: Certificate, depth: Int)] {
    let bySigner = Dictionary(grouping: certificates.filter(\.isAuthority), by: \.signer)
    var found: [Certificate.Authority: (certificate: Certificate, depth: Int)] = [:]
    var (level, depth) = ([root], 1)
    while !level.isEmpty {
      let new = level.compactMap(\.authority).enumerated().filter { index, authority in
        if found[authority] != nil { return false }
        found[authority] = (level[index], depth)
        return true
      }
      level = new.flatMap { bySigner[$0.element] ?? [] }
      depth += 1
    }
    return found
  }

  /// In rounds: a certificate can come before the one that signed it.
  private mutating func insert(_ read: [Certificate]) throws -> Bool {
    var pending = read
    var changed = false
    while true {
      var waiting: [Certificate] = []
      var hasNewAuthority = false
      for certificate in pending {
        if certificate.notebookName != nil {
          guard try isSignedName(certificate) else {
            waiting.append(certificate)
            continue
          }
          if addName(certificate) { changed = true }
          continue
        }
        guard try isIssued(certificate) else {
          waiting.append(certificate)
          continue
        }
        guard certificates.insert(certificate).inserted else { continue }
        byKey[certificate.keyIdentifier, default: []].append(certificate)
        changed = true
        if certificate.isAuthority { hasNewAuthority = true }
      }
      if !hasNewAuthority { return changed }
      authorities = reachable()
      pending = waiting
    }
  }

  /// Whether a known chain can carry the certificate, and its signature is right.
  private func isIssued(_ certificate: Certificate) throws -> Bool {
    guard case .member = certificate.kind else { return false }
    // Only the founder certifies the founder's key.
    if certificate.keyIdentifier == root.keyIdentifier
      && certificate.issuerKeyIdentifier != root.keyIdentifier
    {
      return false
    }
    guard let issuer = authorities[certificate.signer],
      issuer.depth < Self.maximumChainLength
    else { return false }
    return try signatures.isGood(certificate.fingerprint) {
      try certificate.isSigned(by: issuer.certificate)
    }
  }

  /// Adds a name, unless the set has a later one by that key.
  private mutating func addName(_ certificate: Certificate) -> Bool {
    let own = names.filter { $0.issuerKeyIdentifier == certificate.issuerKeyIdentifier }
    guard Self.latestFirst(own.union([certificate])).first == certificate else { return false }
    names.subtract(own)
    return names.insert(certificate).inserted
  }

  private mutating func insert(_ list: RevocationList) throws -> Bool {
    let own = revocationLists.filter { $0.issuerKeyIdentifier == list.issuerKeyIdentifier }
    // Sent twice, it is here already.
    if own.contains(where: { $0 == list || $0.replaces(list) }) { return false }
    guard let issuer = authorities[list.signer],
      try signatures.isGood(
        list.fingerprint, verify: { try list.isSigned(by: issuer.certificate) })
    else { return false }
    for older in own where list.replaces(older) { revocationLists.remove(older) }
    revocationLists.insert(list)
    return true
  }
}
