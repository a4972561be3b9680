public import Git
internal import History
public import Membership
public import Notebook
public import State
internal import System

/// Makes an invitation that is sent as a link, and responds to one: notes-hub(7), "Invitations".
public struct LinkInvitation: Sendable {
  private let context: SessionContext
  private let hub: Hub
  /// The git program for access to the hub.
  public var program = GitProgram()

  /// Prepares an invitation by this device, to the notebook of the context.
  public init(_ context: SessionContext, at hub: Hub) { (self.context, self.hub) = (context, hub) }

  /// Signs an invitation and pushes it to the hub.
  ///
  /// - Throws: `MembershipError.notAnAdmin`; `HubError`.
  public func make(
    role: Role, person: InvitedPerson = .unnamed, seconds: Int64
  ) throws -> InvitationLink {
    let notebook = try context.notebook()
    let secret = try InvitationSecret()
    let offer = try InvitationOffer(
      secret, to: context.membership, role: role, person: person,
      expires: WallClock.now() + seconds, by: context.key)
    let transfer = try Transfer(notebook.repository, by: program)
    try HubInvitations.give(offer, by: transfer, from: notebook.repository, at: hub)
    try KnownOffers(notebook.stateFolder).keep(offer, in: context.membership)
    let inviter = context.membership.member(ofDevice: context.key.deviceID)?.name
    return InvitationLink(
      offer, secret, inviter: inviter ?? notebook.identity.device.name, hub: hub.url)
  }

  /// Replaces an invitation of this device by its withdrawal, if it is at the hub.
  ///
  /// - Throws: `HubError`.
  func withdraw(by withdrawal: InvitationOffer) throws {
    let repository = try context.notebook().repository
    let transfer = try Transfer(repository, by: program)
    guard
      let there = try HubInvitations.offer(
        of: withdrawal.id, by: transfer, for: repository, at: hub), !there.isWithdrawn
    else { return }
    try HubInvitations.give(withdrawal, by: transfer, from: repository, at: hub)
  }

  /// Pushes this device's request to the hub.
  ///
  /// - Returns: false if the device is already a member.
  /// - Throws: `HubError`; `LinkError` if the invitation is not open.
  public func answer(_ secret: InvitationSecret, name: String) throws -> Bool {
    let notebook = try context.notebook()
    if context.membership.role(ofDevice: context.key.deviceID) != nil { return false }
    let transfer = try Transfer(notebook.repository, by: program)
    guard
      let offer = try HubInvitations.offer(
        of: secret.id, by: transfer, for: notebook.repository, at: hub)
    else { throw context.membership.reason(forMissing: secret.id.description) }
    try context.membership.demandOpen(offer, for: context.key.deviceID)
    let request = try AdmissionRequest(
      CertificateRequest(name: name, key: context.key), by: secret)
    try HubInvitations.give(
      request, to: offer, by: transfer, from: notebook.repository, at: hub)
    AskedAdmission(at: .hub(hub.name), by: offer, in: context.membership)
      .keep(in: notebook.stateFolder)
    return true
  }
}

extension MembershipStore {
  /// The name of the person to whom a device that joins by this invitation will belong; nil if the person is new.
  func owner(by offer: InvitationOffer) -> String? {
    offer.person == .own ? member(ofDevice: offer.inviterID)?.person.name : nil
  }

  /// The reason why a hub has no invitation with this ID, by the list of members: admins' devices remove what
  /// was cancelled.
  fileprivate func reason(forMissing id: String) -> LinkError {
    isCancelled(invitation: id) ? .cancelled : isUsed(invitation: id) ? .used : .missing
  }

  /// Throws `LinkError` if an invitation is not open.
  ///
  /// - Parameter device: the device that wants to join by it; nil if that is not known.
  func demandOpen(_ offer: InvitationOffer, for device: String? = nil) throws {
    switch status(of: offer) {
    case .open:
      if let device, refusesReturn(ofDevice: device, by: offer) { throw LinkError.void }
    case .expired: throw LinkError.expired
    case .cancelled: throw LinkError.cancelled
    case .used: throw LinkError.used
    case .void where offer.notebookID != notebookID: throw LinkError.anotherNotebook
    case .void: throw LinkError.void
    }
  }
}

/// The reason why an invitation by a link or a file cannot be used.
public enum LinkError: Error, Hashable, Sendable {
  /// The hub has no such invitation.
  case missing
  case expired
  case cancelled
  /// Another device used the invitation.
  case used
  /// The device that signed it may not invite such a device, for instance because it is no longer an admin's.
  case void
  /// The invitation is for another notebook.
  case anotherNotebook
  /// The bundle has no invitation, or an altered one.
  case noInvitation
  /// The file is not a request to join, is incomplete, or was altered.
  case noRequest
}

extension LinkError: CustomStringConvertible {
  /// The message for people: lower case, no full stop.
  public var description: String {
    switch self {
    case .missing: "the hub has no such invitation: it may have been cancelled"
    case .expired: "the invitation has expired"
    case .cancelled: "the invitation was cancelled"
    case .used: "another device has used the invitation"
    case .void: "the role of the inviting device does not allow this invitation"
    case .anotherNotebook: "the invitation is to another notebook"
    case .noInvitation: "this bundle contains no invitation"
    case .noRequest: "this is not a request to join, or it was cut short or altered"
    }
  }
}

/// The invitation by a link or a file to which this device has responded: `.git/notes/asked`.
public struct AskedAdmission: Sendable {
  /// The place of the request.
  public enum Place: Hashable, Sendable {
    /// A hub, by its name.
    case hub(String)
    /// A file, by its path.
    case file(String)
  }

  /// The place of the request.
  public let place: Place
  /// The role that the invitation gives.
  public let role: Role
  /// When the invitation ends, in seconds since 1970.
  public let expires: Int64
  /// The name of the person to whom this device will belong; nil if the person is new, or if an older program made the
  /// record.
  public let owner: String?
  /// The invitation's ID; nil if an older program made the record.
  let invitation: String?
  /// Whether a member that is not an admin made the invitation, so that admins' devices do not answer it unless they
  /// are told to.
  public let needsLeave: Bool
  /// The reason why no device will answer, as far as this one has seen at the hub; nil if an admin's device
  /// may.
  public var end: End?

  /// The reason why a request will not be answered.
  public enum End: String, Sendable {
    case cancelled
    /// Another device was let in by the invitation.
    case used
    /// Several devices ask by the invitation, so none of them is let in.
    case shared
    /// The hub has no such invitation any more.
    case missing
    /// The device that signed the invitation may no longer invite this one.
    case void
    /// The invitation has expired, and a later visit to the hub found no certificate for this device.
    case expired
  }

  /// Whether this device can still become a member by the request: an answer that an admin's device gave earlier can
  /// arrive until a visit to the hub after the expiry finds none. The answer to a request by a file can always arrive.
  public var isOpen: Bool { end != .expired }

  init(at place: Place, by offer: InvitationOffer, in membership: MembershipStore) {
    (self.place, role, expires) = (place, offer.role, offer.expires)
    (invitation, owner) = (offer.id.description, membership.owner(by: offer))
    // A person answers a file, so no setting matters.
    if case .file = place { needsLeave = false } else { needsLeave = offer.isAskedFor }
  }

  /// The record in this state folder; nil if the device has not responded to an invitation.
  public init?(in stateFolder: StateFolder) {
    let found = Disk.memory(at: stateFolder[.asked]) { AskedAdmission(parsing: $0) }
    guard let found else { return nil }
    self = found
  }

  private init?(parsing lines: StateLines) {
    let place = lines["hub"].map(Place.hub) ?? lines["file"].map(Place.file)
    guard let place, let role = lines["role"].flatMap(Role.init),
      let expires = lines[number: "expires"]
    else { return nil }
    (self.place, self.role, self.expires) = (place, role, expires)
    (invitation, needsLeave) = (lines["invitation"], lines["leave"] != nil)
    owner = lines["owner"]
    end = lines["end"].flatMap(End.init)
  }

  func keep(in stateFolder: StateFolder) {
    var lines = StateLines([
      "role": role.rawValue, "expires": expires, "invitation": invitation,
      "leave": needsLeave ? "needed" : nil, "end": end?.rawValue, "owner": owner?.printable,
    ])
    switch place {
    case .hub(let name): lines.append("hub", name)
    case .file(let path): lines.append("file", path)
    }
    Disk.keep(lines.bytes, at: stateFolder[.asked])
  }

  /// Removes the record: the device is a member now, or will not become one by this invitation.
  static func forget(in stateFolder: StateFolder) { Disk.removeTree(stateFolder[.asked]) }
}
