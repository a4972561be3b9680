package import Membership
internal import System

/// What became of an invitation, as it is noted in `.git/notes/invitations`. The secret of its code is
/// not in it.
public struct InvitationRecord: Sendable, Equatable {
  /// What can have become of an invitation.
  public enum State: String, Sendable, CaseIterable {
    /// Nobody has come yet.
    case available
    /// Somebody with the code looks at the offer.
    case pending
    /// A device joined by it.
    case joined
    /// Who looked at it declined, and nobody else came.
    case declined
    /// Its time ended.
    case expired
    /// Too many wrong codes ended it.
    case exhausted
    /// It was taken back, or the command that held it open ended.
    case cancelled

    /// Whether it can still be used.
    public var isOpen: Bool { self == .available || self == .pending }
  }

  /// The first two digits of the code: what people know the invitation by.
  public let locator: String
  package let role: Role
  /// When it was made and when it ends, in seconds since 1970.
  public let created: Int64
  package let expires: Int64
  package var state = State.available
  /// The device that joined by it, or that it is meant for.
  public var name: String?
  package var deviceID: String?

  package init(_ invitation: Invitation, created: Int64) {
    locator = invitation.code.locator
    role = invitation.role
    expires = invitation.expires
    self.created = created
  }

  private static let format = "1"

  /// The file's content.
  var serialized: [UInt8] {
    StateLines([
      "format": Self.format, "locator": locator, "role": role.rawValue, "created": created,
      "expires": expires, "state": state.rawValue, "name": name?.printable, "device": deviceID,
    ]).bytes
  }

  /// Reads a file's content; nil for what is none, or of another format.
  init?(parsing content: [UInt8]) {
    let values = StateLines(parsing: content)
    guard values["format"] == Self.format, let locator = values["locator"],
      locator.utf8.count == 2, locator.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let role = values["role"].flatMap(Role.init),
      let created = values[number: "created"],
      let expires = values[number: "expires"],
      let state = values["state"].flatMap(State.init)
    else { return nil }
    self.locator = locator
    self.role = role
    self.created = created
    self.expires = expires
    self.state = state
    name = values["name"]
    deviceID = values["device"]
  }
}
