/// The rights of a member; the organizational unit of its certificate.
public enum Role: String, Codable, Sendable, CaseIterable, Comparable {
  /// Receives versions.
  case reader
  /// Receives and sends versions.
  case writer
  /// Also invites and removes devices, and changes roles.
  case admin

  /// Orders roles by their rights.
  public static func < (left: Role, right: Role) -> Bool {
    left != right && (left == .reader || right == .admin)
  }

  /// The role with its article: `a reader`, `an admin`.
  public var withArticle: String { self == .admin ? "an admin" : "a \(rawValue)" }
}

/// A device that an admin has certified, as this device knows it.
public struct Member: Hashable, Sendable {
  /// The name by which people call the device: the person's, or `PERSON (DEVICE)` if the person has or had
  /// several devices. Not unique.
  public let name: String
  /// The device's own name, by the rule of `DisplayName`; not unique.
  public let deviceName: String
  /// The person whose device it is.
  public let person: Person
  /// The device ID.
  public let deviceID: String
  /// The device's present role. If the device was removed, its last role.
  public let role: Role
  /// Whether the device is the founder's now: by the root, or by a handover or a claim.
  public let isFounder: Bool
  /// The device ID of the admin that certified it last.
  public let issuedBy: String
  /// The device ID of the issuer that gave the device this role. Later certificates may have given it other
  /// names.
  public let roleBy: String
  /// The time, in seconds since 1970 by that admin's clock.
  public let issuedAt: Int64
  /// The first certification since the device became a member without a break: when, and by which device. Nil if the
  /// device was certified only once.
  public internal(set) var first: MemberChange?
  /// When the device was removed, and by which device, by the lists that count; nil if none removed it.
  public internal(set) var removal: MemberChange?
  /// The serial number of its certificate, 32 hexadecimal digits.
  public let serial: String
  /// Whether the device was removed.
  public internal(set) var isRemoved: Bool
  /// Whether this device has blocked the member: the two exchange nothing.
  public internal(set) var isBlocked = false
  /// Set if the device is no longer a member although no admin removed it: its asker was removed, or got a
  /// lesser role.
  public internal(set) var ending: AskerEnding?
}

/// An action of a device that changed a member, such as its removal.
public struct MemberChange: Hashable, Sendable {
  /// The ID of the device that acted.
  public let by: String
  /// The time, in seconds since 1970 by that device's clock.
  public let at: Int64
}

extension Member {
  /// The admission of the member: when, and by which device.
  public var admission: MemberChange { first ?? MemberChange(by: issuedBy, at: issuedAt) }
}

/// The end of a membership of a device that a member had asked for, without a removal by an admin: notes-security(7),
/// "Devices of one's own".
public struct AskerEnding: Hashable, Sendable {
  /// The device ID of the member's device that asked for it.
  public let asker: String
  /// Whether that device was removed, or ended in the same way; otherwise it got a lesser role.
  public let wasRemoved: Bool
}

/// A member that a device invited, let in or made an admin.
public struct InvitedMember: Hashable, Sendable {
  public let member: Member
  /// The device ID of the device that made this device's link or file, or that asked for this device; nil if it
  /// is not known.
  public let invitedBy: String?
  /// The device ID of the admin that certified it.
  public let issuedBy: String
  /// The time, in seconds since 1970 by that admin's clock.
  public let issuedAt: Int64
  /// Whether the device was already a member, and was made an admin.
  public let wasMadeAdmin: Bool

  /// The deed and its devices in words; `name` returns the name of a device.
  public func deed(_ name: (String) -> String) -> String {
    if wasMadeAdmin { return "made an admin by \(name(issuedBy))" }
    guard let invitedBy else { return "let in by \(name(issuedBy))" }
    return "invited by \(name(invitedBy))"
      + (invitedBy == issuedBy ? "" : ", let in by \(name(issuedBy))")
  }
}
