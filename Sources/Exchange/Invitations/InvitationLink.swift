public import Membership
internal import System

/// An invitation as a link, which a person sends to another: notes-security(7), "Invitations by a link".
///
///     notes://join/NOTEBOOK/ROLE/END/SECRET/INVITER/HUB
///
/// Inviter and hub are percent-encoded, so a shell does not change them. Only the secret and the notebook
/// count; the rest is for people, and the offer at the hub proves it.
public struct InvitationLink: Sendable {
  /// The notebook's ID.
  public let notebookID: String
  /// The role of the new member.
  public let role: Role
  /// When the invitation ends, in seconds since 1970.
  public let expires: Int64
  public let secret: InvitationSecret
  /// The inviter's name.
  public let inviter: String
  /// The address of the hub, without a password.
  public let hub: String

  /// The beginning of every link.
  public static let beginning = "notes://join/"
  /// The length of the longest link, in bytes.
  public static let maximumSize = 4096

  /// A link for an invitation at a hub.
  init(
    _ offer: InvitationOffer, _ secret: InvitationSecret, inviter: String, hub: String
  ) {
    notebookID = offer.notebookID
    (role, expires, self.secret, self.inviter) = (offer.role, offer.expires, secret, inviter)
    self.hub = AddressText.withoutSecrets(hub) == hub ? hub : Self.withoutUser(hub)
  }

  /// Whether a text is meant as a link, complete or not.
  public static func isMeant(by text: String) -> Bool {
    let text = plain(text)
    return text.prefix(6).lowercased() == "notes:" || text.contains("://join/")
  }

  /// The text without what mail programs and people put around a link or break it with, and with its beginning in
  /// lower case.
  private static func plain(_ text: String) -> String {
    let marks = "\"'`<>()[]“”„‘’«»"
    var text = text.filter { !$0.isWhitespace }[...]
    while let first = text.first, marks.contains(first) { text.removeFirst() }
    while let last = text.last, (marks + ".,;!?").contains(last) { text.removeLast() }
    let start = text.prefix(beginning.count)
    return start.lowercased() == beginning
      ? beginning + text.dropFirst(beginning.count) : String(text)
  }

  /// Reads a link; nil for any other text. The hub's address is checked when it is used.
  public init?(parsing text: String) throws {
    let text = Self.plain(text)
    guard text.utf8.count <= Self.maximumSize, text.hasPrefix(Self.beginning) else { return nil }
    let parts = text.dropFirst(Self.beginning.count)
      .split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 6, let role = Role(rawValue: parts[1]), let expires = Int64(parts[2]),
      let secret = try InvitationSecret(text: parts[3]),
      let inviter = String(percentEncoded: Array(parts[4].utf8)),
      let hub = String(percentEncoded: Array(parts[5].utf8))
    else { return nil }
    notebookID = parts[0]
    (self.role, self.expires, self.secret, self.inviter) = (role, expires, secret, inviter)
    self.hub = hub
  }

  /// The link. Secret.
  public var text: String {
    var parts = [
      notebookID, role.rawValue, "\(expires)", secret.text, inviter.percentEncoded,
      hub.percentEncoded,
    ]
    // A dot at the end would count as the end of a sentence.
    if hub.hasSuffix(".") { parts[5] = parts[5].dropLast() + "%2E" }
    return Self.beginning + parts.joined(separator: "/")
  }

  private static func withoutUser(_ url: String) -> String {
    guard let mark = url.firstRange(of: "://"),
      let at = url[mark.upperBound...].lastIndex(of: "@")
    else { return url }
    return String(url[..<mark.upperBound] + url[url.index(after: at)...])
  }
}
