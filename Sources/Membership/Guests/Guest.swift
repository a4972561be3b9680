internal import System

/// A person who uses the notebook in a browser, as a guest of this device: notes-security(7),
/// GUESTS.
public struct Guest: Hashable, Sendable {
  /// The name that the guest gave, by the rule of `DisplayName`; unique among a device's guests.
  public let name: String
  /// Reader or writer.
  public internal(set) var role: Role
  /// When the guest joined, in seconds since 1970.
  public let since: Int64
  /// The hash of the path prefix of the guest's pages, which identifies the guest.
  public let id: String
  /// The hash of the cookie.
  let cookie: String
}

/// A link that makes one person a guest.
public struct GuestInvitation: Hashable, Sendable {
  /// The name that the guest gets; nil if the guest chooses it.
  public let name: String?
  /// Reader or writer.
  public let role: Role
  /// When the link expires, in seconds since 1970.
  public let expires: Int64
  /// The hash of the link's token.
  package let token: String

  /// How long a link is valid, in seconds.
  public static let lifetime: Int64 = 24 * 60 * 60

  /// Whether the link is valid at this time. If the clock was set back, it is valid for at most two
  /// days.
  func isGood(at now: Int64) -> Bool { expires > now && expires <= now + 2 * Self.lifetime }
}

/// The secrets that only a guest's browser stores.
public struct GuestSecrets: Sendable {
  /// The path prefix of the guest's pages.
  public let path: String
  /// The value of the cookie.
  public let cookie: String

  /// The secrets of the guest who uses a link: the path is that of the link, the cookie is random.
  static func made(by token: String) throws -> GuestSecrets {
    GuestSecrets(path: try path(of: token), cookie: SecretText.random(bytes: 32))
  }

  /// The path of the guest who used a link: notes-security(7), GUESTS. So the link leads back to
  /// the guest's pages.
  static func path(of token: String) throws -> String {
    String(try SecretText.hash("notes guest path 1 " + token).prefix(32))
  }
}

/// Random texts that give access, and their stored hashes.
public enum SecretText {
  /// A text from getrandom(2), in lower case base32.
  public static func random(bytes count: Int) -> String {
    var generator = SystemRandomNumberGenerator()
    let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    return String(base32: bytes).lowercased()
  }

  /// A short hash that distinguishes a text, such as a secret path, from others without revealing
  /// it.
  public static func mark(of text: String) throws -> String { String(try hash(text).prefix(16)) }

  /// The SHA-256, in hexadecimal digits: it gives no access.
  static func hash(_ secret: String) throws -> String {
    String(hexadecimal: try OpenSSL.sha256(Array(secret.utf8)))
  }
}

/// The reason why a guest has no access, or is not changed.
public enum GuestError: Error, Equatable, Sendable, CustomStringConvertible {
  /// There already is a guest with that name, or a link for one.
  case nameTaken(String)
  case noSuchGuest(String)
  /// The link was already used, has expired, or never existed.
  case noInvitation
  case tooMany(Int)
  /// Other users can write the file with the list of guests.
  case openToOthers(path: String)

  public var description: String {
    switch self {
    case .nameTaken(let name): "a guest is already called '\(name)'"
    case .noSuchGuest(let name): "no guest is called '\(name)'"
    case .noInvitation: "the link was already used or has expired"
    case .openToOthers(let path): "other users may write \(path), so no guest has access"
    case .tooMany(let most): "there are \(most) guests and open links, the maximum"
    }
  }
}
