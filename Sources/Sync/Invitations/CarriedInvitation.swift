public import Channel
internal import Glibc
public import Membership
public import System

/// An invitation to another notebook, told to a device within a session of a notebook that both share:
/// notes-protocol(7), hello. The session is authenticated, so no person has to carry the code.
public struct CarriedInvitation: Codable, Sendable, Equatable {
  /// Secret.
  public let code: InvitationCode
  package let notebookID: String
  package let notebookName: String
  package let role: Role
  /// When it ends, in seconds since 1970 by the inviter's clock.
  public let expires: Int64
  /// The port on which the inviter waits.
  public let port: UInt16
  /// The device that it is for: no other is told.
  package let guest: String

  private enum CodingKeys: String, CodingKey {
    case code, notebookName, role, expires, port
    case notebookID = "notebook"
    case guest = "device"
  }

  package init(
    _ invitation: OpenInvitation, to membership: MembershipStore, for guest: String
  ) {
    self.guest = guest
    code = invitation.code
    notebookID = membership.notebookID
    notebookName = membership.notebookName
    role = invitation.role
    expires = invitation.expires
    port = invitation.port
  }

  package init(
    code: InvitationCode, notebookID: String, notebookName: String, role: Role, expires: Int64,
    port: UInt16, guest: String
  ) {
    self.code = code
    self.notebookID = notebookID
    self.notebookName = notebookName
    self.role = role
    self.expires = expires
    self.port = port
    self.guest = guest
  }

  init(_ message: HelloInvitation, for guest: String) throws {
    self.guest = guest
    guard let code = InvitationCode(parsing: message.code), let role = Role(rawValue: message.role)
    else { throw SyncError.protocolBroken("an invitation without a code or role") }
    self.code = code
    self.role = role
    notebookID = message.notebook
    notebookName = message.notebookName
    expires = message.expires
    port = message.port
  }

  var message: HelloInvitation {
    HelloInvitation(
      code: code.description, notebook: notebookID, notebookName: notebookName,
      role: role.rawValue, expires: expires, port: port)
  }
}

/// An invitation that came in a session and waits for an answer.
public struct ReceivedInvitation: Sendable, Equatable {
  package let invitation: CarriedInvitation
  /// Who invites, as it was called then.
  public let inviter: String
  package let inviterID: String
  /// Where it was.
  public let address: Address
}

/// The invitations that came in sessions of a notebook: `.git/notes/invited`, a file each, readable by
/// its owner alone. At most one of a device and notebook is kept.
public struct ReceivedInvitations: Sendable {
  private let folder: String

  /// How many are kept; further ones are passed over.
  static let maximum = 64
  private static let maximumSize = 4096

  /// Those of the notebook with this state folder.
  public init(stateFolder: String) { folder = stateFolder + "/invited" }

  /// All that have not ended, by their end.
  public func all(now: Int64 = WallClock.now()) -> [ReceivedInvitation] {
    Disk.namesIfAny(in: folder).compactMap { name -> ReceivedInvitation? in
      guard !name.hasSuffix(".new"),
        let content = try? Disk.read(
          "\(folder)/\(name)", limit: Self.maximumSize, followsLink: false),
        let received = ReceivedInvitation(parsing: content)
      else { return nil }
      if received.invitation.expires > now { return received }
      unlink("\(folder)/\(name)")
      return nil
    }
    .sorted { ($0.invitation.expires, $0.inviterID) < ($1.invitation.expires, $1.inviterID) }
  }

  /// Keeps one until it ends or is answered.
  func keep(_ received: ReceivedInvitation) throws {
    try Disk.makeFolder(folder, mode: 0o700)
    let others = all().filter { !Self.isSame($0, received) }
    guard others.count < Self.maximum else { throw SyncError.overLimit("invitations") }
    try Disk.replace(path(of: received), with: received.serialized)
  }

  /// Forgets one that was answered.
  public func forget(_ received: ReceivedInvitation) { unlink(path(of: received)) }

  private func path(of received: ReceivedInvitation) -> String {
    // Both IDs are letters and digits: they were checked when they came.
    "\(folder)/\(received.inviterID.prefix(16))-\(received.invitation.notebookID.prefix(16))"
  }

  private static func isSame(_ one: ReceivedInvitation, _ other: ReceivedInvitation) -> Bool {
    one.inviterID == other.inviterID && one.invitation.notebookID == other.invitation.notebookID
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

  init?(parsing content: [UInt8]) {
    let values = StateLines(parsing: content)
    guard values["format"] == "1", let code = values["code"], let notebook = values["notebook"],
      let name = values["notebook-name"], let role = values["role"],
      let expires = values[number: "expires"], let inviter = values["inviter"],
      let device = values["device"],
      let address = values["address"].flatMap(Address.init(parsing:)),
      let carried = try? CarriedInvitation(
        HelloInvitation(
          code: code, notebook: notebook, notebookName: name, role: role, expires: expires,
          port: address.port), for: "")
    else { return nil }
    self.init(invitation: carried, inviter: inviter, inviterID: device, address: address)
  }
}
