// The notebook's name: notes-security(7), "The notebook's name".
extension CertificateSet {
  /// The number of admins whose names for the notebook are kept.
  static let maximumNames = 64

  /// Whether this is a name of this notebook, signed with the key in it, and that key was an admin's.
  func isSignedName(_ read: Read) throws -> Bool {
    let certificate = read.certificate
    guard case .name(notebookID, _) = certificate.kind,
      certificate.keyIdentifier == certificate.issuerKeyIdentifier,
      let issuer = issuer(of: certificate)
    else { return false }
    return try isSigned(read, by: issuer)
  }

  /// The certificate of a known key that signed a name, a claim or a stop, whether or not it was revoked.
  func issuer(of certificate: Certificate) -> Certificate? {
    byKey[certificate.issuerKeyIdentifier]?.first { $0.authority == certificate.signer }
  }

  /// The names that are kept, and the one that applies (nil if none does).
  func settledNames() -> (kept: Set<Certificate>, name: String?) {
    if names.isEmpty { return ([], nil) }
    let known = names.filter { issuer(of: $0) != nil }
    let counting = known.filter { authority(ofKey: $0.issuerKeyIdentifier) != nil }
    let all = Self.latestFirst(counting) + Self.latestFirst(known.subtracting(counting))
    return (
      Set(all.prefix(Self.maximumNames)), Self.latestFirst(counting).first?.notebookName
    )
  }

  /// The latest first; of two with the same time, the one with the greater bytes.
  static func latestFirst(_ names: Set<Certificate>) -> [Certificate] {
    names.sorted {
      $0.issuedAt == $1.issuedAt
        ? $1.der.lexicographicallyPrecedes($0.der) : $0.issuedAt > $1.issuedAt
    }
  }
}

extension Certificate {
  /// The notebook's name in this certificate; nil for a member's certificate.
  var notebookName: String? {
    switch kind {
    case .root(_, let name), .name(_, let name): name
    case .member, .claim, .stop: nil
    }
  }
}
