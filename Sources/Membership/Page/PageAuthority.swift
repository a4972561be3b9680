internal import COpenSSL
internal import Glibc
public import System

/// The authority that certifies the page which a device serves to browsers on its network:
/// notes-security(7), THE PAGE ON THE NETWORK. Browsers take no Ed25519, so it has keys of its own.
///
/// A root, whose key nobody keeps, certifies one key, for this machine's name and private addresses alone.
/// That key certifies what the page shows.
public struct PageAuthority: Sendable {
  /// The certificate that people install, DER.
  public let root: [UInt8]
  /// The name of this machine on its network, such as `desk.local`, which it may certify.
  public let hostName: String
  private let issuer: [UInt8]
  /// PEM. Secret.
  private let privateKey: [UInt8]

  /// The file in the data folder: the key of the issuer, its certificate and the root's, in PEM.
  public static let fileName = "page-authority.pem"
  private static let maximumFileSize = 16 << 10
  /// In seconds.
  private static let day: Int64 = 86_400
  private static let lifetime = 20 * 365 * day
  /// How long what it certifies is good, in seconds.
  public static let certificateLifetime = 397 * day
  /// After so long another one takes its place, in seconds.
  static let renewal = 300 * day
  /// The file in the data folder that keeps what was certified last, with its key.
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

  /// The one kept in `dataFolder` for a machine of this name, or a new one, stored there before it is
  /// returned. One for another name is replaced: it could not certify this one.
  ///
  /// - Throws: `PageAuthorityError` for a file that others may read, or that holds
  ///   something else. It stays as it is.
  public static func loadOrCreate(
    in dataFolder: String, hostName: String, now: Int64 = WallClock.now()
  ) throws -> PageAuthority {
    let path = "\(dataFolder)/\(fileName)"
    if let kept = try load(path), kept.hostName == hostName { return kept }
    try Disk.makeFolders(dataFolder, mode: 0o700)
    let made = try make(hostName: hostName, now: now)
    // Another process of this user may do the same at this moment: the last one counts, for both.
    try Disk.replace(path, with: made.pem(), isShared: true)
    guard let kept = try load(path) else {
      throw MembershipError.system(call: "open", path: path, code: ENOENT)
    }
    return kept
  }

  /// The one kept in `dataFolder`; nil where there is none.
  ///
  /// - Throws: `PageAuthorityError` for a file that is not used.
  public static func kept(in dataFolder: String) throws -> PageAuthority? {
    try load("\(dataFolder)/\(fileName)")
  }

  /// Whether browsers take it at this time, as their clocks say.
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
    // The root's key ends here.
    return PageAuthority(
      root: root, hostName: hostName, issuer: issuer, privateKey: try issuerKey.pem())
  }

  /// Certifies a new key for this machine's name, and these addresses of it.
  ///
  /// - Parameter addresses: IPv4 and IPv6 addresses as text; what is neither is left out. Browsers refuse
  ///   all of it where one of them is not private.
  /// - Throws: `MembershipError.library`.
  public func certify(
    addresses: [String], now: Int64 = WallClock.now()
  ) throws -> PageCertificate {
    try certify(hostName, addresses: addresses, now: now)
  }

  /// The certificate for these addresses that the data folder keeps, or a new one, which it keeps from now on.
  /// So a browser whose user has accepted it is not warned again when the page is served again.
  ///
  /// - Throws: `MembershipError`, or what the system says of the file.
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

  /// Nil if there is none for the subject, if its time is over, or if others could have read its key.
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

/// Why the file of the page's authority is not used. It is not replaced either: a device that installed
/// the authority would have to be told of another one.
public struct PageAuthorityError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The file.
  public let path: String
  /// The defect of the file.
  public let defect: KeyFileDefect

  public var description: String {
    let why =
      defect == .notAKey ? "it holds no key of an authority with its certificates" : "\(defect)"
    return "the page's authority \(path) cannot be used: \(why)"
  }
}
