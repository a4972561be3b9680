internal import COpenSSL
internal import Glibc
public import System

/// The authority for the certificate of the page that a device serves to browsers on its network: notes-security(7),
/// THE PAGE ON THE NETWORK. Browsers do not support Ed25519, so the authority has separate keys. A root, whose key is
/// not stored, certifies one key, only for this machine's name and private addresses. The issuer's key certifies the
/// page's key.
public struct PageAuthority: Sendable {
  /// The certificate that people install, in DER.
  public let root: [UInt8]
  /// The name of this machine on its network, such as `desk.local`. The authority may issue certificates for
  /// this name.
  public let hostName: String
  private let issuer: [UInt8]
  /// The private key in PEM, which is secret.
  private let privateKey: [UInt8]

  /// The file in the data folder: the key of the issuer, its certificate and the root's, in PEM.
  public static let fileName = "page-authority.pem"
  private static let maximumFileSize = 16 << 10
  /// The length of a day, in seconds.
  private static let day: Int64 = 86_400
  private static let lifetime = 20 * 365 * day
  /// The lifetime of a page's certificate, in seconds.
  public static let certificateLifetime = 397 * day
  /// The age at which a page's certificate is replaced, in seconds.
  static let renewal = 300 * day
  /// The file in the data folder with the last page's certificate and its key.
  static let certificateName = "page-certificate.pem"

  /// The SHA-256 of the root, as browsers and phones show it.
  ///
  /// - Throws: `MembershipError.library`.
  public func fingerprint() throws -> String { try Self.fingerprint(of: root) }

  static func fingerprint(of der: [UInt8]) throws -> String {
    let digits = Array(String(hexadecimal: try OpenSSL.sha256(der)).uppercased())
    return stride(from: 0, to: digits.count, by: 2).map { String(digits[$0...$0 + 1]) }
      .joined(separator: ":")
  }

  /// The authority stored in `dataFolder` for a machine with this name, or a new one, stored before it is
  /// returned. An authority for another name is replaced, because it could not certify this name.
  ///
  /// - Throws: `PageAuthorityError` if other users may read the file, or if its content is invalid. The file is
  ///   then not changed.
  public static func loadOrCreate(
    in dataFolder: String, hostName: String, now: Int64 = WallClock.now()
  ) throws -> PageAuthority {
    let path = "\(dataFolder)/\(fileName)"
    if let kept = try load(path), kept.hostName == hostName { return kept }
    try Disk.makeFolders(dataFolder, mode: 0o700)
    let made = try make(hostName: hostName, now: now)
    // Another process of this user may do the same at this moment: both use the last one.
    try Disk.replace(path, with: made.pem(), isShared: true)
    guard let kept = try load(path) else {
      throw MembershipError.system(call: "open", path: path, code: ENOENT)
    }
    return kept
  }

  /// The authority stored in `dataFolder`; nil if there is none.
  ///
  /// - Throws: `PageAuthorityError` if the file is unusable.
  public static func kept(in dataFolder: String) throws -> PageAuthority? {
    try load("\(dataFolder)/\(fileName)")
  }

  /// Whether browsers accept the certificate if their clocks show this time.
  ///
  /// - Throws: `MembershipError.library`.
  public func isGood(at now: Int64) throws -> Bool {
    let start = try Certificate.decoding(root) { certificate, lib -> Int64 in
      var time = tm()
      guard lib.ASN1_TIME_to_tm(lib.X509_get0_notBefore(certificate), &time) == 1 else {
        throw CertificateDefect.validity
      }
      return Int64(timegm(&time))
    }
    return (start..<start + Self.day + Self.lifetime).contains(now)
  }

  private static func make(hostName: String, now: Int64) throws -> PageAuthority {
    let label = hostName.prefix { $0 != "." }
    let (rootKey, issuerKey) = (try PageKey(), try PageKey())
    let rootName = "notes page of \(label)"
    let constraints = PageExtension.constraints(name: hostName)
    let root = try PageCertificate.make(
      subject: rootName, key: rootKey, issuer: nil, signedWith: rootKey, from: now - day,
      until: now + lifetime, extensions: PageExtension.authority(above: 1) + [constraints])
    let issuer = try PageCertificate.make(
      subject: "notes page of \(label), issuer", key: issuerKey, issuer: root, signedWith: rootKey,
      from: now - day, until: now + lifetime,
      extensions: PageExtension.authority(above: 0) + [constraints])
    // The root's key is freed here and stored nowhere.
    return PageAuthority(
      root: root, hostName: hostName, issuer: issuer, privateKey: try issuerKey.pem())
  }

  /// Certifies a new key for this machine's name and these addresses.
  ///
  /// - Parameter addresses: IPv4 and IPv6 addresses as text; invalid ones are left out. If one address is
  ///   not private, browsers refuse the whole certificate.
  /// - Throws: `MembershipError.library`.
  public func certify(
    addresses: [String], now: Int64 = WallClock.now()
  ) throws -> PageCertificate {
    try certify(hostName, addresses: addresses, now: now)
  }

  /// The stored certificate for these addresses, or a new one, which is then stored. So a browser whose user
  /// has accepted it shows no warning the next time.
  ///
  /// - Throws: `MembershipError`, or the system's error for the file.
  public func certificate(
    for addresses: [String], keptIn dataFolder: String, now: Int64 = WallClock.now()
  ) throws -> PageCertificate {
    let path = "\(dataFolder)/\(Self.certificateName)"
    let subject = try ([Self.fingerprint(of: issuer), hostName] + Set(addresses).sorted())
      .joined(separator: " ")
    if let kept = try kept(at: path, for: subject, now: now) { return kept }
    let made = try certify(addresses: addresses, now: now)
    let content =
      try Array("\(now) \(subject)\n".utf8) + made.privateKey
      + PageCertificate.pem(made.chain[0])
    try Disk.replace(path, with: content, isShared: true)
    return made
  }

  /// The stored certificate. Nil if there is none for the subject, if it has expired, or if other users could
  /// have read its key.
  private func kept(at path: String, for subject: String, now: Int64) throws -> PageCertificate? {
    let content: [UInt8]?
    do {
      content = try SecretFile.read(path, limit: Self.maximumFileSize) {
        PageAuthorityError(path: path, defect: $0)
      }
    } catch is PageAuthorityError {
      return nil
    }
    let parts = content?.split(separator: UInt8(ascii: "\n"), maxSplits: 1) ?? []
    guard parts.count == 2,
      let words = String(validating: parts[0], as: UTF8.self)?.split(separator: " ", maxSplits: 1),
      words.count == 2, words[1] == subject, let made = Int64(words[0]),
      (made..<made + Self.renewal).contains(now),
      let (key, certificates) = try PageKey.parts(of: Array(parts[1])), certificates.count == 1,
      try PageKey.with(pem: key, { try $0.isKey(of: certificates[0]) })
    else { return nil }
    return PageCertificate(chain: [certificates[0], issuer, root], privateKey: key)
  }

  func certify(
    _ name: String, addresses: [String], now: Int64 = WallClock.now()
  ) throws -> PageCertificate {
    let key = try PageKey()
    let der = try PageKey.with(pem: privateKey) { issuerKey in
      try PageCertificate.make(
        subject: name, key: key, issuer: issuer, signedWith: issuerKey, from: now - Self.day,
        until: now + Self.certificateLifetime,
        extensions: PageExtension.server(name: name, addresses: addresses))
    }
    return PageCertificate(chain: [der, issuer, root], privateKey: try key.pem())
  }

  // MARK: The file

  private func pem() throws -> [UInt8] {
    try privateKey + PageCertificate.pem(issuer) + PageCertificate.pem(root)
  }

  private static func load(_ path: String) throws -> PageAuthority? {
    func unusable(_ defect: KeyFileDefect) -> PageAuthorityError {
      PageAuthorityError(path: path, defect: defect)
    }
    guard let bytes = try SecretFile.read(path, limit: maximumFileSize, unusable) else {
      return nil
    }
    guard let (key, certificates) = try PageKey.parts(of: bytes), certificates.count == 2,
      try PageKey.with(pem: key, { try $0.isKey(of: certificates[0]) }),
      let name = try PageExtension.constrainedName(of: certificates[0])
    else { throw unusable(.notAKey) }
    return PageAuthority(
      root: certificates[1], hostName: name, issuer: certificates[0], privateKey: key)
  }
}

/// The reason why the file of the page's authority is unusable. The file is not replaced: devices that have
/// installed the authority would have to install another one.
public struct PageAuthorityError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The path of the file.
  public let path: String
  /// The defect of the file.
  public let defect: KeyFileDefect

  public var description: String {
    let why =
      defect == .notAKey
      ? "it does not contain the key and certificates of an authority" : "\(defect)"
    return "the page's authority \(path) cannot be used: \(why)"
  }
}
