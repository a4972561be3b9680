internal import COpenSSL
internal import System

/// A one-time code that lets a device pair with an admin's: `NN-XXXX-XXXXXX`, a locator of two
/// digits that is published, and 50 random bits in Crockford's base32 that are not.
public struct InvitationCode: Hashable, Sendable, CustomStringConvertible {
  /// Two digits: which open invitation is meant. Not secret.
  public let locator: String
  private let secret: [UInt8]

  private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
  private static let secretLength = 10

  /// A new code. The caller sees to it that no two open invitations have the same locator.
  public static func random() throws -> InvitationCode {
    var number: UInt8
    // 200 is the greatest multiple of 100 that fits: no locator is likelier than another.
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

  /// Reads what a person typed: case does not matter, spaces and dashes may stand anywhere or
  /// nowhere, O is 0, and I and L are 1. Nil for anything else.
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

  /// The code as it is shown. Secret.
  public var description: String {
    let text = String(decoding: secret, as: UTF8.self)
    return "\(locator)-\(text.prefix(4))-\(text.dropFirst(4))"
  }

  /// The 32-byte key for a TLS handshake with this identity: scrypt of the secret's ten
  /// characters, salted with the identity's bytes. Takes about 0.1 s and 32 MiB.
  public func preSharedKey(for identity: PairingIdentity) throws -> [UInt8] {
    let lib = try OpenSSL.library()
    let salt = identity.bytes
    var key = [UInt8](repeating: 0, count: 32)
    let password = secret.map { CChar(bitPattern: $0) }
    // N = 2^15, r = 8, p = 1; OpenSSL needs leave for the 32 MiB that takes.
    try OpenSSL.check(
      "EVP_PBE_scrypt",
      lib.EVP_PBE_scrypt(
        password, password.count, salt, salt.count, 32768, 8, 1, 64 << 20, &key, key.count))
    return key
  }
}

extension InvitationCode: Codable {
  /// From the code as it is shown.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let code = InvitationCode(parsing: try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a code")
    }
    self = code
  }

  /// As it is shown. Secret.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}

/// The bytes that a joining device sends in the clear to say which invitation it answers: the locator and a
/// nonce of its own, so that keys cannot be computed before a code is used.
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

  /// Reads an identity from a peer; nil when it is not one.
  public init?(bytes: [UInt8]) {
    let parts = bytes.split(separator: UInt8(ascii: " "))
    guard parts.count == 3, let nonce = [UInt8](hexadecimal: parts[2]) else { return nil }
    locator = String(decoding: parts[1], as: UTF8.self)
    self.nonce = nonce
    // Only the one spelling counts: the identity is the salt of the key.
    guard parts[1].count == 2, parts[1].allSatisfy({ (0x30...0x39).contains($0) }),
      nonce.count == PairingIdentity.nonceSize, self.bytes == bytes
    else { return nil }
  }

  /// `notes-pair/1 NN HEX`: the TLS PSK identity, and the salt of the key.
  public var bytes: [UInt8] {
    PairingIdentity.prefix + Array("\(locator) \(String(hexadecimal: nonce))".utf8)
  }
}
