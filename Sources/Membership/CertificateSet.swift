/// A notebook's certificates and revocation lists: a set that only grows. Any two devices that have received
/// the same items have the same set, whatever the order (notes-security(7) "The growing set"). Everything in
/// the set was verified, except for revocation: if a listed serial number removed items, the result would
/// depend on the order.
struct CertificateSet: Sendable {
  /// Limits of notes-security(7) "Limits".
  static let maximumCertificates = 4096
  static let maximumRevocationLists = 128
  static let maximumChainLength = 8

  let root: Certificate
  let capacity: Int
  let notebookID: String
  /// The notebook's name: the last one that an admin gave it, or the root's.
  private(set) var notebookName: String
  /// The members' certificates: all except the root and the names.
  private(set) var certificates: Set<Certificate> = []
  /// The names that admins gave the notebook, the latest of each key: notes-security(7), "The notebook's
  /// name".
  private(set) var names: Set<Certificate> = []
  private(set) var revocationLists: Set<RevocationList> = []
  /// Certificates by the key that they certify, including the root.
  private(set) var byKey: [[UInt8]: [Certificate]] = [:]
  /// The chain that makes each key's device a member, its own certificate first, the root last. It is the chain
  /// of the key's first certificate that has one.
  private(set) var memberChains: [[UInt8]: [Certificate]] = [:]
  /// The persons of the devices.
  private(set) var people = People()
  /// The founder, and those before it.
  private(set) var succession: Succession
  /// The handover of each key that signed one: the first that this device received.
  private var handovers: [[UInt8]: Certificate] = [:]
  /// A second handover of such a key, to another device: it does not count, but is proof that the key handed over twice.
  private(set) var secondHandovers: [[UInt8]: Certificate] = [:]
  /// The claims to be the founder, and the stops of these.
  private(set) var statements: Set<Certificate> = []
  /// The claims that this device has accepted, by the key of the founder whose place was claimed.
  private(set) var accepted: [[UInt8]: AcceptedClaim] = [:]
  /// The certificates that may sign, each with its smallest depth: the length of a chain that ends with it.
  private var authorities: [Certificate.Authority: (certificate: Certificate, depth: Int)] = [:]
  private var fingerprints: Set<Fingerprint> = []
  /// Copies of the set share this memory.
  let signatures = SignatureMemory()

  /// Starts with a root. Throws `certificateRefused` unless it is self-signed and its common name
  /// is the notebook ID of its key and serial number. At most `capacity` certificates are kept.
  init(root der: [UInt8], capacity: Int = maximumCertificates) throws {
    self.capacity = capacity
    do {
      let decoded = try DecodedCertificate(der: der)
      root = decoded.certificate
      succession = Succession(root: root, handovers: [:], certificates: [:])
      guard case .root(let identifier, let name) = root.kind else {
        throw CertificateDefect.subject
      }
      notebookID = identifier
      notebookName = name
      if try NotebookID.make(publicKey: root.publicKey, serial: root.serial) != identifier {
        throw CertificateDefect.notebookID
      }
      if try !decoded.isSigned(by: root) { throw CertificateDefect.signature }
    } catch let defect as CertificateDefect {
      throw MembershipError.certificateRefused(defect)
    }
    byKey[root.keyIdentifier] = [root]
    authorities = reachable()
    fingerprints = [root.fingerprint]
    settle()
  }

  /// All certificates except the root.
  var issued: Set<Certificate> { certificates.union(names).union(statements) }

  var encodings: Set<[UInt8]> {
    Set([root.der] + issued.map(\.der) + revocationLists.map(\.der))
  }

  /// Adds valid items, in any order, and ignores the rest. Returns true if something is new and
  /// kept: of a set that is too large, each admin's share is kept.
  mutating func insert(certificates: [[UInt8]], revocationLists: [[UInt8]]) throws -> Bool {
    let before = fingerprints
    var changed = try insert(
      unknown(certificates).compactMap { der in
        try Self.unlessRefused { try DecodedCertificate(der: der) }
      }.map { ($0.certificate, $0) })
    for der in try unknown(revocationLists) {
      guard let list = try Self.unlessRefused({ try RevocationList(der: der) }) else { continue }
      if try insert(list) { changed = true }
    }
    if !changed { return false }
    settle()
    recordFingerprints()
    return fingerprints != before
  }

  /// Adds certificates that this device has just signed with a key of the set. They need not be decoded or
  /// verified again.
  mutating func insert(signedHere certificates: [Certificate]) throws {
    for certificate in certificates { signatures.rememberGood(certificate.fingerprint) }
    if try !insert(certificates.map { ($0, nil) }) { return }
    settle()
    recordFingerprints()
  }

  private mutating func recordFingerprints() {
    fingerprints = Set(
      [root.fingerprint] + issued.map(\.fingerprint) + revocationLists.map(\.fingerprint))
  }

  /// The result of `read`. Nil for bytes that are not a valid certificate or list, no matter which device sent
  /// them.
  ///
  /// - Throws: an error if this machine cannot decode at all, which proves nothing about the bytes.
  static func unlessRefused<Value>(_ read: () throws -> Value) throws -> Value? {
    do {
      return try read()
    } catch is CertificateDefect {
      return nil
    } catch MembershipError.library {
      return nil
    }
  }

  /// The encodings of items that are not in this set. A peer mostly sends known items; these are not decoded.
  func unknown(_ encodings: [[UInt8]]) throws -> [[UInt8]] {
    try encodings.filter { !fingerprints.contains(try Fingerprint(of: $0)) }
  }

  /// Follows these claims, and no others.
  mutating func accept(_ claims: [[UInt8]: AcceptedClaim]) {
    if claims == accepted { return }
    accepted = claims
    settle()
  }

  private mutating func settle() {
    succession = Succession(
      root: root, handovers: handovers, accepted: accepted, certificates: byKey)
    var chains = chains()
    if isTooLarge {
      (certificates, revocationLists) = withinLimits(good: Set(chains.keys))
      byKey = Dictionary(grouping: certificates.union([root]), by: \.keyIdentifier)
      handovers = handovers.filter { certificates.contains($0.value) }
      authorities = reachable()
      chains = self.chains()
    }
    memberChains = byKey.compactMapValues { certificates in
      inOrder(certificates.filter { chains[$0] != nil && succession.mayName($0) }).first
        .flatMap { chains[$0] }
    }
    let (kept, name) = settledNames()
    (names, notebookName) = (kept, name ?? root.notebookName ?? "")
    statements = settledStatements()
    people = settledPeople()
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

  /// A certificate to insert; decoded unless this device has just signed it.
  typealias Read = (certificate: Certificate, decoded: DecodedCertificate?)

  /// Works in rounds, because a certificate can be listed before that of its signer. Of several handovers by
  /// one key in `read` it keeps the earliest, and none if the set already has one.
  private mutating func insert(_ read: [Read]) throws -> Bool {
    var pending = read.contains(where: \.certificate.isHandover) ? Self.earliestFirst(read) : read
    var changed = false
    while true {
      var waiting: [Read] = []
      // Set if an authority or a claim was added: certificates that are listed before it may be valid now.
      var hasNewGround = false
      for read in pending {
        let certificate = read.certificate
        if certificate.notebookName != nil {
          guard try isSignedName(read) else {
            waiting.append(read)
            continue
          }
          if addName(certificate) { changed = true }
          continue
        }
        if certificate.claimed != nil {
          guard try isSignedStatement(read) else {
            waiting.append(read)
            continue
          }
          if statements.insert(certificate).inserted { (changed, hasNewGround) = (true, true) }
          continue
        }
        guard try isIssued(read) else {
          waiting.append(read)
          continue
        }
        if certificate.isHandover {
          let first = handovers[certificate.issuerKeyIdentifier] ?? certificate
          if first != certificate {
            if first.keyIdentifier != certificate.keyIdentifier,
              secondHandovers[certificate.issuerKeyIdentifier] == nil
            {
              secondHandovers[certificate.issuerKeyIdentifier] = certificate
            }
            continue
          }
          handovers[certificate.issuerKeyIdentifier] = certificate
        }
        guard certificates.insert(certificate).inserted else { continue }
        byKey[certificate.keyIdentifier, default: []].append(certificate)
        changed = true
        if certificate.isAuthority { hasNewGround = true }
      }
      if !hasNewGround { return changed }
      authorities = reachable()
      pending = waiting
    }
  }

  /// Whether a known chain can be extended by the certificate, and its signature is valid.
  private func isIssued(_ read: Read) throws -> Bool {
    let certificate = read.certificate
    guard case .member = certificate.kind else { return false }
    // Only the founder can certify the founder's key, until it has handed over, or its place is claimed.
    if certificate.keyIdentifier == root.keyIdentifier
      && certificate.issuerKeyIdentifier != root.keyIdentifier
      && handovers[root.keyIdentifier] == nil
      && !isRootClaimed
    {
      return false
    }
    guard let issuer = authorities[certificate.signer],
      issuer.depth < Self.maximumChainLength
    else { return false }
    return try isSigned(read, by: issuer.certificate)
  }

  func isSigned(_ read: Read, by issuer: Certificate) throws -> Bool {
    try signatures.isGood(read.certificate.fingerprint) {
      let decoded = try read.decoded ?? DecodedCertificate(der: read.certificate.der)
      return try decoded.isSigned(by: issuer)
    }
  }

  private static func earliestFirst(_ read: [Read]) -> [Read] {
    read.sorted { left, right in
      let (left, right) = (left.certificate, right.certificate)
      return left.issuedAt == right.issuedAt
        ? left.der.lexicographicallyPrecedes(right.der) : left.issuedAt < right.issuedAt
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
    // The list was sent twice, and is already here.
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
