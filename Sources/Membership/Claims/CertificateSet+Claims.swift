/// A claim that a device has accepted: the claimer's key, and two serial numbers. The claimer is the founder
/// with the first certificate; the former founder stays an admin with the second.
struct AcceptedClaim: Hashable, Sendable {
  let claimer: [UInt8]
  let anchor: [UInt8]
  let staying: [UInt8]
}

/// A claim in the set.
struct Claim: Hashable, Sendable {
  let founder: [UInt8]
  let accepted: AcceptedClaim
  /// When the founder certified the claimer, by the founder's clock.
  let certifiedAt: Int64

  var claimer: [UInt8] { accepted.claimer }

  /// Whether this claim has precedence: the founder certified its claimer earlier.
  func precedes(_ other: Claim) -> Bool {
    certifiedAt == other.certifiedAt
      ? claimer.lexicographicallyPrecedes(other.claimer) : certifiedAt < other.certifiedAt
  }
}

// Claims to be the founder, and stops: notes-security(7), "A lost founder".
extension CertificateSet {
  /// The most claims and stops that are kept.
  static let maximumStatements = 128

  /// Whether this is a claim or a stop, signed with the key in it, and that key was an admin's.
  func isSignedStatement(_ read: Read) throws -> Bool {
    let certificate = read.certificate
    guard certificate.keyIdentifier == certificate.issuerKeyIdentifier,
      let issuer = issuer(of: certificate)
    else { return false }
    return try isSigned(read, by: issuer)
  }

  /// The claims and stops that are kept. This depends only on the set, not on what this device accepted.
  func settledStatements() -> Set<Certificate> {
    if statements.isEmpty { return [] }
    var founders = Set(certificates.filter(\.isHandover).map(\.keyIdentifier))
    founders.insert(root.keyIdentifier)
    // On some devices a claimer is the founder.
    founders.formUnion(
      statements.filter { !anchors(ofKey: $0.keyIdentifier, by: founders).isEmpty }
        .filter { if case .claim = $0.kind { true } else { false } }.map(\.keyIdentifier))
    var first: [[UInt8]: Certificate] = [:]
    func keep(_ one: Certificate, as name: ArraySlice<UInt8>) {
      let name = one.keyIdentifier + name
      if let known = first[name], !Self.isEarlier(one, known) { return }
      first[name] = one
    }
    for one in statements {
      guard case .claim(let founder, let anchor, _) = one.claimed, founders.contains(founder),
        anchors(ofKey: one.keyIdentifier, by: founders).contains(where: { $0.serial == anchor })
      else { continue }
      keep(one, as: (founder + anchor)[...])
    }
    let claims = Set(
      first.values.compactMap { one in one.claimed.map { $0.founder + one.keyIdentifier } })
    for one in statements {
      guard case .stop = one.claimed, let bytes = one.claimed?.bytes, claims.contains(bytes),
        founders.contains(one.keyIdentifier)
          || !anchors(ofKey: one.keyIdentifier, by: founders).isEmpty
      else { continue }
      keep(one, as: bytes[...])
    }
    // Founders' stops come first, then the claims that a founder vouches for, with their stops: nobody can
    // displace these.
    let real = succession.keys
    func isFoundersAdmin(_ key: [UInt8], by anchor: [UInt8]? = nil) -> Bool {
      anchors(ofKey: key, by: real).contains { anchor == nil || $0.serial == anchor }
    }
    let vouched = Set(
      first.values.compactMap { one -> [UInt8]? in
        guard case .claim(let founder, let anchor, _) = one.claimed, real.contains(founder),
          isFoundersAdmin(one.keyIdentifier, by: anchor)
        else { return nil }
        return founder + one.keyIdentifier
      })
    func rank(_ one: Certificate) -> Int {
      switch one.claimed {
      case .claim(let founder, let anchor, _):
        real.contains(founder) && isFoundersAdmin(one.keyIdentifier, by: anchor) ? 1 : 2
      case .stop(let founder, let claimer):
        if !vouched.contains(founder + claimer) {
          2
        } else if one.keyIdentifier == founder {
          0
        } else {
          real.contains(one.keyIdentifier) || isFoundersAdmin(one.keyIdentifier) ? 1 : 2
        }
      case nil: 2
      }
    }
    let ranked = first.values.map { (rank: rank($0), one: $0) }.sorted {
      $0.rank == $1.rank ? Self.isEarlier($0.one, $1.one) : $0.rank < $1.rank
    }
    return Set(ranked.prefix(Self.maximumStatements).map(\.one))
  }

  private static func isEarlier(_ left: Certificate, _ right: Certificate) -> Bool {
    left.issuedAt == right.issuedAt
      ? left.der.lexicographicallyPrecedes(right.der) : left.issuedAt < right.issuedAt
  }

  /// The admin's certificates of a key that one of the keys `founders` issued.
  private func anchors(ofKey identifier: [UInt8], by founders: Set<[UInt8]>) -> [Certificate] {
    inOrder(byKey[identifier] ?? []).filter {
      $0.isAuthority && !$0.isHandover && founders.contains($0.issuerKeyIdentifier)
        && $0.issuerKeyIdentifier != identifier
    }
  }

  /// The serial numbers that are listed as removed or with a lesser role, by lists for which `counts` is true.
  private func ended(by counts: (RevocationList) -> Bool) -> Set<[UInt8]> {
    revocationLists.filter(counts).reduce(into: []) { ended, list in
      ended.formUnion(list.entries.filter { $0.value > .superseded }.keys)
    }
  }

  /// The admin's certificates of a key that the founder issued, or a former founder that still signs, and that
  /// nobody listed as removed or with a lesser role.
  private func foundersCertificates(ofKey identifier: [UInt8], ended: Set<[UInt8]>) -> [Certificate]
  {
    let revoked = succession.former.isEmpty ? [] : revoked()
    let signing = Set(
      succession.signing { revoked.contains($0) }.compactMap(\.anchor.authority))
    return inOrder(byKey[identifier] ?? []).filter {
      $0.isAuthority && !$0.isHandover && signing.contains($0.signer)
        && $0.keyIdentifier != $0.issuerKeyIdentifier && !ended.contains($0.serial)
    }
  }

  /// The certificate with which an admin may claim the founder's place: the newest that the founder issued for it.
  func anchor(ofKey identifier: [UInt8]) -> Certificate? {
    guard authority(ofKey: identifier) != nil, !succession.keys.contains(identifier) else {
      return nil
    }
    let all = foundersCertificates(
      ofKey: identifier, ended: ended { authority(ofKey: $0.issuerKeyIdentifier) != nil })
    // Prefer the present certificate: it has the name that other devices know.
    return all.first { $0 == memberChains[identifier]?.first } ?? all.first
  }

  /// The certificate with which the founder would stay an admin: one that it signed itself, or the newest.
  var stayingCertificate: Certificate? {
    let anchor = succession.present.anchor
    let all = certificates(ofKey: succession.key).filter { $0.mayStay(of: anchor) }
    return all.first { $0.signer == anchor.authority } ?? all.first
  }

  /// The claims on the present founder's place that are open unless somebody stopped them. Only admins whom the
  /// founder certified can make one.
  func openClaims() -> [Claim] {
    if statements.isEmpty || succession.former.count >= Succession.maximumHandovers { return [] }
    let founder = succession.key
    let listed = ended { authority(ofKey: $0.issuerKeyIdentifier) != nil }
    let found = statements.compactMap { one -> Claim? in
      guard case .claim(founder, let anchor, let staying) = one.claimed,
        !succession.keys.contains(one.keyIdentifier), authority(ofKey: one.keyIdentifier) != nil,
        certificates(ofKey: founder).contains(where: {
          $0.serial == staying && $0.mayStay(of: succession.present.anchor)
        }),
        let own = foundersCertificates(ofKey: one.keyIdentifier, ended: listed)
          .first(where: { $0.serial == anchor })
      else { return nil }
      return Claim(
        founder: founder,
        accepted: AcceptedClaim(claimer: one.keyIdentifier, anchor: anchor, staying: staying),
        certifiedAt: own.issuedAt)
    }
    // If one key made several claims, for instance because its device was certified again, one of them counts.
    return Dictionary(grouping: found, by: \.claimer).values.compactMap {
      $0.min { $0.accepted.anchor.lexicographicallyPrecedes($1.accepted.anchor) }
    }.sorted { $0.precedes($1) }
  }

  /// The statement of a claim on that founder's place, open or not, and the two certificates that it names; empty if
  /// the set lacks the statement.
  func grounds(of claim: AcceptedClaim, on founder: [UInt8]) -> [Certificate] {
    let statement = statements.first {
      guard case .claim(founder, claim.anchor, claim.staying) = $0.claimed else { return false }
      return $0.keyIdentifier == claim.claimer
    }
    guard let statement else { return [] }
    return [statement] + issued.filter { [claim.anchor, claim.staying].contains($0.serial) }
  }

  /// The keys that stopped the claims of that key on that founder's place, and may do so.
  func stoppers(ofClaimer claimer: [UInt8], on founder: [UInt8]) -> [[UInt8]] {
    statements.compactMap { one in
      guard case .stop(founder, claimer) = one.claimed else { return nil }
      return mayStop(one.keyIdentifier, claimer: claimer, founder: founder)
        ? one.keyIdentifier : nil
    }.sorted { $0.lexicographicallyPrecedes($1) }
  }

  /// Whether a key may stop those claims: the founder's, the claimer's own, or that of another admin whom the
  /// founder certified. An admin loses this right only by lists of the founder, and of present admins whom it
  /// certified. The claimer's lists do not count: a claimer cannot remove those who would stop it.
  func mayStop(_ key: [UInt8], claimer: [UInt8], founder: [UInt8]) -> Bool {
    if key == founder || key == claimer { return true }
    let own = foundersCertificates(ofKey: key, ended: [])
    if own.isEmpty { return false }
    let ended = ended { list in
      let issuer = list.issuerKeyIdentifier
      return issuer != claimer && issuer != key && authority(ofKey: issuer) != nil
        && (issuer == founder || !foundersCertificates(ofKey: issuer, ended: []).isEmpty)
    }
    return own.contains { !ended.contains($0.serial) }
  }

  /// Whether a list has the certificate with that serial number as removed or with a lesser role.
  func isListed(_ serial: [UInt8]) -> Bool { ended { _ in true }.contains(serial) }

  /// Whether another admin may certify the root's key, because an admin whom the root certified claims its place.
  var isRootClaimed: Bool {
    statements.contains {
      $0.claimed?.founder == root.keyIdentifier
        && !anchors(ofKey: $0.keyIdentifier, by: [root.keyIdentifier]).isEmpty
    }
  }

  /// Whether this device knows of a handover by the founder with that key to a device other than the claimer's.
  func handedOver(_ founder: [UInt8], besidesTo claimer: [UInt8]) -> Bool {
    certificates.contains {
      $0.isHandover && $0.issuerKeyIdentifier == founder && $0.keyIdentifier != claimer
    }
  }
}
