internal import COpenSSL
internal import System

/// A one-time code by which a device pairs with an admin's: `NN-XXXX-XXXXXX`, a public locator of
/// two digits, and 50 secret random bits in Crockford's base32.
public struct InvitationCode: Hashable, Sendable, CustomStringConvertible {
  /// Two digits that identify an open invitation. Not secret.
  public let locator: String
  private let secret: [UInt8]

  private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
  private static let secretLength = 10

  /// A new code. The caller makes sure that no two open invitations have the same locator.
  public static func random() throws -> InvitationCode {
    var number: UInt8
    // 200 is the greatest multiple of 100 in a byte: all locators are equally likely.
    repeat { number = try OpenSSL.random(1)[0] } while number >= 200
    let symbols = try OpenSSL.random(secretLength).map { alphabet[Int($0 & 31)] }
    let digits = [alphabet[Int(number / 10 % 10)], alphabet[Int(number % 10)]]
    return InvitationCode(locator: String(decoding: digits, as: UTF8.self), secret: symbols)
  }

  private init(locator: String, secret: [UInt8]) {
    _ = CoreDumps.off
    self.locator = locator
    self.secret = secret
  }

  /// Reads a typed code: case does not matter, spaces and dashes are ignored anywhere, O is read as
  /// 0, and I and L as 1. Nil for anything else.
  public init?(parsing text: String) {
    var symbols: [UInt8] = []
    for scalar in text.unicodeScalars {
      switch scalar {
      case " ", "\t", "\n", "\r", "-", "\u{A0}", "\u{2010}"..."\u{2015}", "\u{2212}": continue
      case "O", "o": symbols.append(UInt8(ascii: "0"))
      case "I", "i", "L", "l": symbols.append(UInt8(ascii: "1"))
      default:
        guard scalar.isASCII else { return nil }
        let byte = UInt8(scalar.value)
        let upper = (0x61...0x7A).contains(byte) ? byte - 0x20 : byte
        guard InvitationCode.alphabet.contains(upper) else { return nil }
        symbols.append(upper)
      }
      if symbols.count > 2 + InvitationCode.secretLength { return nil }
    }
    guard symbols.count == 2 + InvitationCode.secretLength,
      symbols[..<2].allSatisfy({ (0x30...0x39).contains($0) })
    else { return nil }
    locator = String(decoding: symbols[..<2], as: UTF8.self)
    secret = Array(symbols[2...])
  }

  /// The code in its usual form. Secret.
  public var description: String {
    let text = String(decoding: secret, as: UTF8.self)
    return "\(locator)-\(text.prefix(4))-\(text.dropFirst(4))"
  }

  /// The 32-byte key for a TLS handshake with this identity: scrypt of the secret's ten characters,
  /// with the identity's bytes as salt. Takes about 0.1 s and 32 MiB.
  public func preSharedKey(for identity: PairingIdentity) throws -> [UInt8] {
    let lib = try OpenSSL.library()
    let salt = identity.bytes
    var key = [UInt8](repeating: 0, count: 32)
    let password = secret.map { CChar(bitPattern: $0) }
    // N = 2^15, r = 8, p = 1; OpenSSL must be allowed to use the 32 MiB.
    try OpenSSL.check(
      "EVP_PBE_scrypt",
      lib.EVP_PBE_scrypt(
        password, password.count, salt, salt.count, 32768, 8, 1, 64 << 20, &key, key.count))
    return key
  }
}

extension InvitationCode: Codable {
  /// Decodes the usual form.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let code = InvitationCode(parsing: try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a code")
    }
    self = code
  }

  /// Encodes the usual form. Secret.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}

/// The bytes that a joining device sends unencrypted to identify the invitation: the locator and a new nonce.
/// Because of the nonce, nobody can compute keys before a code is used.
public struct PairingIdentity: Hashable, Sendable {
  /// The invitation's two digits.
  public let locator: String
  /// 16 random bytes.
  public let nonce: [UInt8]

  private static let prefix = Array("notes-pair/1 ".utf8)
  private static let nonceSize = 16

  /// A new identity for one attempt.
  public init(locator: String) throws {
    self.locator = locator
    nonce = try OpenSSL.random(PairingIdentity.nonceSize)
  }

  /// Reads an identity from a peer; nil if it is invalid.
  public init?(bytes: [UInt8]) {
    let parts = bytes.split(separator: UInt8(ascii: " "))
    guard parts.count == 3, let nonce = [UInt8](hexadecimal: parts[2]) else { return nil }
    locator = String(decoding: parts[1], as: UTF8.self)
    self.nonce = nonce
    // Only one spelling is accepted: the identity is the salt of the key.
    guard parts[1].count == 2, parts[1].allSatisfy({ (0x30...0x39).contains($0) }),
      nonce.count == PairingIdentity.nonceSize, self.bytes == bytes
    else { return nil }
  }

  /// `notes-pair/1 NN HEX`: the TLS PSK identity, and the salt of the key.
  public var bytes: [UInt8] {
    PairingIdentity.prefix + Array("\(locator) \(String(hexadecimal: nonce))".utf8)
  }
}
