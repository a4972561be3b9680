internal import System

/// A person who comes in by a browser, as a guest of this device: notes-security(7), GUESTS.
public struct Guest: Hashable, Sendable {
  /// The name that the guest gave, by the rule of `DisplayName`; unique among the guests of a device.
  public let name: String
  /// Reader or writer.
  public internal(set) var role: Role
  /// When the guest came, in seconds since 1970.
  public let since: Int64
  /// The hash of the path that the guest's pages are below: what tells guests apart.
  public let id: String
  /// The hash of the cookie.
  let cookie: String
}

/// A link that lets a guest in, once.
public struct GuestInvitation: Hashable, Sendable {
  /// The name that the guest gets; nil if the guest chooses it.
  public let name: String?
  /// Reader or writer.
  public let role: Role
  /// When the link ends, in seconds since 1970.
  public let expires: Int64
  /// The hash of the link's token.
  package let token: String

  /// How long a link is good, in seconds.
  public static let lifetime: Int64 = 24 * 60 * 60

  /// Whether it lets in at this time. If the clock was set back, it does so no longer than for two days.
  func isGood(at now: Int64) -> Bool { expires > now && expires <= now + 2 * Self.lifetime }
}

/// The secrets that a guest's browser alone keeps.
public struct GuestSecrets: Sendable {
  /// The part of the addresses that the guest's pages are below.
  public let path: String
  /// The value of the cookie.
  public let cookie: String

  /// Those of whoever comes in by a link: the path is that of the link, the cookie random.
  static func made(by token: String) throws -> GuestSecrets {
    GuestSecrets(path: try path(of: token), cookie: SecretText.random(bytes: 32))
  }

  /// The path of the guest whom a link let in: notes-security(7), GUESTS. So the link leads back to it.
  static func path(of token: String) throws -> String {
    String(try SecretText.hash("notes guest path 1 " + token).prefix(32))
  }
}

/// Random texts that let in, and what is kept of them.
public enum SecretText {
  /// From getrandom(2), in lower case base32.
  public static func random(bytes count: Int) -> String {
    var generator = SystemRandomNumberGenerator()
    let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    return String(base32: bytes).lowercased()
  }

  /// A mark that tells a text from others, such as a path that is secret: digits that tell nothing of it.
  public static func mark(of text: String) throws -> String { String(try hash(text).prefix(16)) }

  /// The SHA-256, in hexadecimal digits: who reads it learns nothing that lets in.
  static func hash(_ secret: String) throws -> String {
    String(hexadecimal: try OpenSSL.sha256(Array(secret.utf8)))
  }
}

/// Why a guest is not let in, or not changed.
public enum GuestError: Error, Equatable, Sendable, CustomStringConvertible {
  /// There is a guest of that name, or a link for one.
  case nameTaken(String)
  case noSuchGuest(String)
  /// The link was used, has ended, or never was.
  case noInvitation
  case tooMany(Int)
  /// Others may write the file that says who is let in.
  case openToOthers(path: String)

  public var description: String {
    switch self {
    case .nameTaken(let name): "a guest is already called '\(name)'"
    case .noSuchGuest(let name): "no guest is called '\(name)'"
    case .noInvitation: "the link was already used or has expired"
    case .openToOthers(let path): "other users may write \(path), so nobody is let in by it"
    case .tooMany(let most): "there are \(most) guests and open links already"
    }
  }
}
