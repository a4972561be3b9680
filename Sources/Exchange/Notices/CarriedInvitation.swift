internal import Glibc
public import Membership
public import State
public import System

/// An invitation to another notebook, sent to a device in a session of a notebook that both share:
/// notes-protocol(7), hello. The session is authenticated, so nobody needs to type the code.
public struct CarriedInvitation: Codable, Sendable, Equatable {
  /// The invitation's code, which is secret.
  public let code: InvitationCode
  package let notebookID: String
  package let notebookName: String
  package let role: Role
  /// When the invitation ends, in seconds since 1970 by the inviter's clock.
  public internal(set) var expires: Int64
  /// The port on which the inviter waits.
  public let port: UInt16
  /// The device for which the invitation is meant; no other device receives it. Not part of the message.
  package var guest: String?

  private enum CodingKeys: String, CodingKey {
    case code, notebookName, role, expires, port
    case notebookID = "notebook"
    case guest = "device"
  }
}

extension CarriedInvitation {
  package init(_ invitation: OpenInvitation, to membership: MembershipStore, for guest: String) {
    self.init(
      code: invitation.code, notebookID: membership.notebookID,
      notebookName: membership.notebookName, role: invitation.role, expires: invitation.expires,
      port: invitation.port, guest: guest)
  }

  var message: CarriedInvitation {
    var message = self
    message.guest = nil
    return message
  }

  func validate() throws {
    for name in [notebookID, notebookName] { try MessageRules.check(name: name) }
    guard notebookID.utf8.allSatisfy({ (0x61...0x7a).contains($0) || (0x32...0x37).contains($0) })
    else { throw SyncError.protocolBroken("a notebook ID that is none") }
    try MessageRules.check(time: expires)
    guard port != 0 else { throw SyncError.protocolBroken("an invitation that nobody can answer") }
  }
}

/// An invitation that was received in a session and waits for an answer.
public struct ReceivedInvitation: Sendable, Equatable {
  package let invitation: CarriedInvitation
  /// The inviter's name when the invitation was received.
  public let inviter: String
  package let inviterID: String
  /// The inviter's address.
  public let address: Address
}

/// The invitations received in sessions of a notebook: `.git/notes/invited`, a file for each, readable only by its
/// owner. It keeps at most one invitation by the same device to the same notebook, and a few by each device.
public struct ReceivedInvitations: Sendable {
  private let folder: String

  static let maximum = 64
  static let maximumPerDevice = 4
  private static let maximumSize = 4096

  /// The record in this state folder.
  public init(stateFolder: StateFolder) { folder = stateFolder[.invited] }

  /// All invitations that have not expired, sorted by expiry.
  public func all(now: Int64 = WallClock.now()) -> [ReceivedInvitation] {
    Disk.namesIfAny(in: folder).compactMap { name -> ReceivedInvitation? in
      if name.hasSuffix(".new") || name.hasSuffix(StateDamage.suffix) { return nil }
      let path = "\(folder)/\(name)"
      let known = Disk.memory(at: path, limit: Self.maximumSize) {
        content throws(StateDamage) -> ReceivedInvitation? in
        try ReceivedInvitation(parsing: content, at: path)
      }
      guard let received = known else { return nil }
      if received.invitation.expires > now { return received }
      unlink("\(folder)/\(name)")
      return nil
    }.sorted {
      ($0.invitation.expires, $0.inviterID, $0.invitation.notebookID)
        < ($1.invitation.expires, $1.inviterID, $1.invitation.notebookID)
    }
  }

  func keep(_ received: ReceivedInvitation) throws {
    try Disk.makeFolder(folder, mode: 0o700)
    let others = all().filter { path(of: $0) != path(of: received) }
    let own = others.filter { $0.inviterID == received.inviterID }
    // Drop the invitation that expires first.
    if own.count >= Self.maximumPerDevice {
      forget(own[0])
    } else if others.count >= Self.maximum {
      forget(others[0])
    }
    try Disk.replace(path(of: received), with: received.serialized)
  }

  /// Removes an invitation that was answered.
  public func forget(_ received: ReceivedInvitation) { unlink(path(of: received)) }

  private func path(of received: ReceivedInvitation) -> String {
    // Both IDs are letters and digits: they were checked on arrival.
    "\(folder)/\(received.inviterID.prefix(16))-\(received.invitation.notebookID.prefix(16))"
  }
}

extension ReceivedInvitation {
  var serialized: [UInt8] {
    let carried = invitation
    return StateLines([
      "format": 1, "code": carried.code, "notebook": carried.notebookID,
      "notebook-name": carried.notebookName.printable, "role": carried.role.rawValue,
      "expires": carried.expires, "inviter": inviter.printable, "device": inviterID,
      "address": address,
    ]).bytes
  }

  /// Nil if the format is unknown.
  init?(parsing values: StateLines, at path: String) throws(StateDamage) {
    if let format = values["format"], format != "1" { return nil }
    guard let notebook = values["notebook"],
      let code = values["code"].flatMap(InvitationCode.init(parsing:)),
      let name = values["notebook-name"], let role = values["role"].flatMap(Role.init),
      let expires = values[number: "expires"], let inviter = values["inviter"],
      let device = values["device"], let address = values["address"].flatMap(Address.init(parsing:))
    else { throw StateDamage(path, "a line is missing") }
    self.init(
      invitation: CarriedInvitation(
        code: code, notebookID: notebook, notebookName: name, role: role, expires: expires,
        port: address.port), inviter: inviter, inviterID: device, address: address)
  }
}
