internal import COpenSSL

/// A PKCS #10 request: a device requests a certificate and proves that it has the key.
public struct CertificateRequest: Sendable {
  /// The size limit of a request, in bytes.
  public static let maximumSize = 2048

  /// The request in DER.
  public let der: [UInt8]
  /// The device's name for itself.
  public let name: String
  /// The requesting device's ID.
  public let deviceID: String
  let publicKey: [UInt8]

  /// A request for `key` with this device name.
  public init(name: String, key: DeviceKey) throws {
    try CertificateRequest.refuse { try Certificate.checkName(name) }
    let lib = try OpenSSL.library()
    let request = try OpenSSL.check("X509_REQ_new", lib.X509_REQ_new())
    defer { lib.X509_REQ_free(request) }
    try OpenSSL.check("X509_REQ_set_version", lib.X509_REQ_set_version(request, 0))
    try DistinguishedName.with([(NID_commonName, name)], lib) {
      try OpenSSL.check("X509_REQ_set_subject_name", lib.X509_REQ_set_subject_name(request, $0))
    }
    try key.withKey {
      try OpenSSL.check("X509_REQ_set_pubkey", lib.X509_REQ_set_pubkey(request, $0))
      try OpenSSL.check("X509_REQ_sign", lib.X509_REQ_sign(request, $0, nil))
    }
    der = try OpenSSL.encoding("i2d_X509_REQ") { lib.i2d_X509_REQ(request, $0) }
    self.name = name
    deviceID = key.deviceID
    publicKey = key.publicKey
  }

  /// Reads a request from a peer. Throws `requestRefused` if its form is wrong, if its name is not acceptable,
  /// or if its signature is not valid for the key in it.
  public init(der: [UInt8]) throws {
    (name, publicKey) = try CertificateRequest.refuse {
      try OpenSSL.decoding(
        der, atMost: CertificateRequest.maximumSize, { $0.d2i_X509_REQ(nil, $1, $2) },
        free: { $0.X509_REQ_free($1) }
      ) { request, lib in
        let name = lib.X509_REQ_get_subject_name(request)
        let attributes = try DistinguishedName.attributes(name, lib)
        guard attributes.count == 1, attributes[0].type == NID_commonName else {
          throw CertificateDefect.subject
        }
        try Certificate.checkName(attributes[0].value)
        let key = lib.X509_REQ_get0_pubkey(request)
        let publicKey = try PublicKey.raw(of: key, lib)
        if lib.X509_REQ_verify(request, key) != 1 { throw CertificateDefect.signature }
        return (attributes[0].value, publicKey)
      }
    }
    self.der = der
    deviceID = try PublicKey.deviceID(publicKey)
  }

  private static func refuse<Value>(_ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch let defect as CertificateDefect {
      throw MembershipError.requestRefused(defect)
    }
  }
}
