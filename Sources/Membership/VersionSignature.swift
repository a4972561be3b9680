internal import COpenSSL
internal import System

/// A device's signature over a version, in the form that git uses with ssh-keygen(1)
/// (PROTOCOL.sshsig of OpenSSH): notes-security(7), "Signatures".
public struct VersionSignature: Hashable, Sendable {
  /// The key that the signature claims, 32 bytes. The list of members decides whose key it is.
  public let publicKey: [UInt8]
  private let signature: [UInt8]

  /// The purpose of a signature: the namespace of PROTOCOL.sshsig. A signature for one purpose is
  /// invalid for any other.
  enum Purpose: String, Sendable {
    /// A version; git uses this name.
    case version = "git"
    /// An invitation that is sent as a link, and a request for it.
    case offer = "invitation@notes"
    case admission = "admission@notes"
    /// The memberships after a copy of a device key.
    case memberships = "memberships@notes"
  }

  private let purpose: Purpose

  /// Signs the content of a version's commit without its signature.
  public init(over content: [UInt8], by key: DeviceKey) throws {
    try self.init(over: content, by: key, for: .version)
  }

  init(over content: [UInt8], by key: DeviceKey, for purpose: Purpose) throws {
    publicKey = key.publicKey
    self.purpose = purpose
    let message = try Self.message(over: content, for: purpose)
    let lib = try OpenSSL.library()
    signature = try key.withKey { key in
      try Self.withDigest(lib) { context in
        try OpenSSL.check(
          "EVP_DigestSignInit", lib.EVP_DigestSignInit(context, nil, nil, nil, key))
        var bytes = [UInt8](repeating: 0, count: 64)
        var size = bytes.count
        try OpenSSL.check(
          "EVP_DigestSign", lib.EVP_DigestSign(context, &bytes, &size, message, message.count))
        return bytes
      }
    }
  }

  /// Reads the text of a signature, including its first and last line. Nil for another form, kind of
  /// key, namespace or hash, and for any other spelling of the same signature: each has exactly one
  /// text.
  public init?(armored text: [UInt8]) { self.init(armored: text, for: .version) }

  init?(armored text: [UInt8], for purpose: Purpose) {
    let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    guard lines.count > 3, lines[0].elementsEqual(Self.first.utf8) else { return nil }
    guard let blob = [UInt8](base64: Array(lines[1..<(lines.count - 2)].joined())) else {
      return nil
    }
    var reader = WireReader(rest: blob[...])
    guard reader.take(Self.magic), reader.take(Self.version), let key = reader.string(),
      reader.takeString(purpose.bytes), reader.takeString([]), reader.takeString(Self.hash),
      let signed = reader.string(), reader.rest.isEmpty
    else { return nil }
    var (keyReader, signatureReader) = (WireReader(rest: key), WireReader(rest: signed))
    guard keyReader.takeString(Self.keyType), let publicKey = keyReader.string(),
      signatureReader.takeString(Self.keyType), let signature = signatureReader.string(),
      publicKey.count == 32, signature.count == 64
    else { return nil }
    (self.publicKey, self.signature) = (Array(publicKey), Array(signature))
    self.purpose = purpose
    if armored != text { return nil }
  }

  /// The text in a commit.
  public var armored: [UInt8] {
    let key = WireReader.string(Self.keyType) + WireReader.string(publicKey)
    let signed = WireReader.string(Self.keyType) + WireReader.string(signature)
    let fields = [key, purpose.bytes, [], Self.hash, signed].flatMap(WireReader.string)
    let digits = (Self.magic + Self.version + fields).base64
    var text = Array((Self.first + "\n").utf8)
    for start in stride(from: 0, to: digits.count, by: Self.width) {
      text += digits[start..<min(start + Self.width, digits.count)] + [UInt8(ascii: "\n")]
    }
    return text + Array((Self.last + "\n").utf8)
  }

  /// The device ID of the key in the signature.
  public var deviceID: String { get throws { try PublicKey.deviceID(publicKey) } }

  /// Whether the claimed key made the signature over this content.
  public func isGood(over content: [UInt8]) throws -> Bool {
    let message = try Self.message(over: content, for: purpose)
    let lib = try OpenSSL.library()
    return try PublicKey.with(publicKey) { key in
      try Self.withDigest(lib) { context in
        try OpenSSL.check(
          "EVP_DigestVerifyInit", lib.EVP_DigestVerifyInit(context, nil, nil, nil, key))
        return lib.EVP_DigestVerify(
          context, signature, signature.count, message, message.count) == 1
      }
    }
  }

  // MARK: The form

  static let first = "-----BEGIN SSH SIGNATURE-----"
  static let last = "-----END SSH SIGNATURE-----"
  /// The number of digits in a line, as in ssh-keygen(1).
  private static let width = 70
  private static let magic = Array("SSHSIG".utf8)
  private static let version: [UInt8] = [0, 0, 0, 1]
  private static let keyType = Array("ssh-ed25519".utf8)
  private static let hash = Array("sha512".utf8)

  /// The public key as ssh writes it into files, without its type.
  static func keyText(_ publicKey: [UInt8]) -> String {
    let blob = WireReader.string(keyType) + WireReader.string(publicKey)
    return String(decoding: blob.base64, as: UTF8.self)
  }

  /// The signed message: the hash of the content, and the purpose.
  private static func message(over content: [UInt8], for purpose: Purpose) throws -> [UInt8] {
    let lib = try OpenSSL.library()
    var digest = [UInt8](repeating: 0, count: 64)
    var length: UInt32 = 0
    try OpenSSL.check(
      "EVP_Digest",
      lib.EVP_Digest(content, content.count, &digest, &length, lib.EVP_sha512(), nil))
    return magic + [purpose.bytes, [], hash, digest].flatMap(WireReader.string)
  }

  private static func withDigest<Value>(
    _ lib: libcrypto, _ body: (OpaquePointer) throws -> Value
  ) throws -> Value {
    let context = try OpenSSL.check("EVP_MD_CTX_new", lib.EVP_MD_CTX_new())
    defer { lib.EVP_MD_CTX_free(context) }
    return try body(context)
  }
}

extension VersionSignature.Purpose {
  fileprivate var bytes: [UInt8] { Array(rawValue.utf8) }
}

/// Strings in ssh's encoding (RFC 4251, section 5): their length in 4 bytes, most significant first,
/// and their bytes.
private struct WireReader {
  var rest: ArraySlice<UInt8>

  mutating func take(_ bytes: [UInt8]) -> Bool {
    guard rest.starts(with: bytes) else { return false }
    rest = rest.dropFirst(bytes.count)
    return true
  }

  mutating func string() -> ArraySlice<UInt8>? {
    guard rest.count >= 4 else { return nil }
    let count = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
    guard rest.count - 4 >= count else { return nil }
    defer { rest = rest.dropFirst(4 + count) }
    return rest.dropFirst(4).prefix(count)
  }

  mutating func takeString(_ bytes: [UInt8]) -> Bool { string()?.elementsEqual(bytes) == true }

  static func string(_ bytes: [UInt8]) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: bytes.count >> (24 - 8 * $0)) } + bytes
  }
}
