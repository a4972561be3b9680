internal import COpenSSL
internal import System

/// A device's Ed25519 key pair. Its description shows only the device ID.
public struct DeviceKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  /// The private key, 32 bytes (RFC 8032 section 5.1.5). Secret.
  public let privateKey: [UInt8]
  /// The public key, 32 bytes.
  public let publicKey: [UInt8]
  /// Base32 of SHA-256 of the public key's SubjectPublicKeyInfo: 52 upper-case characters.
  public let deviceID: String
  /// The folder in which the key is stored, without symbolic links; nil if it is not stored.
  public let folder: String?

  init(privateKey: [UInt8], in folder: String? = nil) throws {
    _ = CoreDumps.off
    self.privateKey = privateKey
    self.folder = folder.map { realPath(of: $0) ?? $0 }
    publicKey = try DeviceKey.with(privateKey) { try PublicKey.raw(of: $0, $1) }
    deviceID = try PublicKey.deviceID(publicKey)
  }

  static func random() throws -> DeviceKey { try DeviceKey(privateKey: OpenSSL.random(32)) }

  public var description: String { deviceID }
  public var debugDescription: String { deviceID }
  public var customMirror: Mirror { Mirror(self, children: ["deviceID": deviceID]) }

  func withKey<Value>(_ body: (OpaquePointer) throws -> Value) throws -> Value {
    try DeviceKey.with(privateKey) { key, _ in try body(key) }
  }

  private static func with<Value>(
    _ privateKey: [UInt8], _ body: (OpaquePointer, libcrypto) throws -> Value
  ) throws -> Value {
    let lib = try OpenSSL.library()
    let key = try OpenSSL.check(
      "EVP_PKEY_new_raw_private_key",
      lib.EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, privateKey, privateKey.count))
    defer { lib.EVP_PKEY_free(key) }
    return try body(key, lib)
  }
}

/// Ed25519 public keys and their device IDs.
enum PublicKey {
  /// RFC 8410 section 4: every Ed25519 SubjectPublicKeyInfo is this prefix and the 32 key bytes.
  private static let prefix: [UInt8] = [
    0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00,
  ]

  /// SHA-256 of the SubjectPublicKeyInfo: the key identifier in certificates.
  static func identifier(_ publicKey: [UInt8]) throws -> [UInt8] {
    try OpenSSL.sha256(subjectPublicKeyInfo(publicKey))
  }

  static func deviceID(_ publicKey: [UInt8]) throws -> String {
    String(base32: try identifier(publicKey))
  }

  static func subjectPublicKeyInfo(_ publicKey: [UInt8]) -> [UInt8] { prefix + publicKey }

  /// The 32 bytes of an Ed25519 key; throws for a key of any other kind.
  static func raw(of key: OpaquePointer?, _ lib: libcrypto) throws -> [UInt8] {
    guard let key, lib.EVP_PKEY_get_id(key) == EVP_PKEY_ED25519 else {
      throw CertificateDefect.algorithm
    }
    var bytes = [UInt8](repeating: 0, count: 32)
    var size = bytes.count
    try OpenSSL.check(
      "EVP_PKEY_get_raw_public_key", lib.EVP_PKEY_get_raw_public_key(key, &bytes, &size))
    return bytes
  }

  static func with<Value>(_ publicKey: [UInt8], _ body: (OpaquePointer) throws -> Value) throws
    -> Value
  {
    let lib = try OpenSSL.library()
    let key = try OpenSSL.check(
      "EVP_PKEY_new_raw_public_key",
      lib.EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, publicKey, publicKey.count))
    defer { lib.EVP_PKEY_free(key) }
    return try body(key)
  }
}
