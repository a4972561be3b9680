public import Channel
public import Discovery
internal import Git
internal import History
public import Membership
internal import Notebook
internal import System

/// The notebook to which a person with a code is invited, in the form of notes-protocol(7).
public struct PairingOffer: Sendable, Codable, Equatable {
  /// The supported versions of the protocol.
  let versions: [Int]
  /// The notebook's ID and name.
  public let notebookID: String
  package let notebookName: String
  /// How many notes the notebook has, and their total size in bytes.
  public let notes: Int
  let bytes: Int
  /// How many other files the notebook has, and their total size. Nil if the inviter does not know: an earlier build
  /// counts only notes, and a device may have joined and got no versions yet.
  package let files: Int?
  let fileBytes: Int?
  /// The inviting device's name.
  public let inviter: String
  let device: String
  /// The offered role.
  public let role: Role
  /// When the invitation ends, in seconds since 1970 by the inviter's clock.
  public let expires: Int64
  /// The notebook's branch, the same on every device; nil from an earlier build, or if HEAD is detached.
  var branch: String?
  /// The members whose names the new device cannot have; nil from an earlier build.
  var members: [OfferedMember]?
  /// The name of the person to whom the new device will belong; nil if the device stands for a new person.
  public var person: String?
  /// The inviter's name for the new device's person; nil if the inviter gave none.
  public var called: String?
  /// The IDs that the notebook had before its membership was started over.
  public let formerly: [String]?
  /// The notebook's root, sent with those IDs.
  var root: Base64?
  /// Set if the folder has a notebook with one of those IDs. Not sent.
  public internal(set) var renewal: Renewal?

  /// A member of the notebook, in an offer.
  struct OfferedMember: Sendable, Codable, Equatable {
    let device: String
    let name: String
  }

  /// Whether a device is among the members that the offer names.
  public func names(device: String) -> Bool { members?.contains { $0.device == device } ?? false }

  /// The names of all members except the device with that ID.
  public func names(besides deviceID: String) -> [String] {
    (members ?? []).filter { $0.device != deviceID }.map(\.name)
  }

  /// The proof that a notebook is a former one with its membership started over.
  public enum Renewal: Sendable, Equatable {
    /// An admin of the folder's notebook made the new root; the admin's name.
    case proved(by: String)
    /// Only the inviter claims it: this device has no proof.
    case claimed
  }

  /// The total size of all files, in bytes.
  package var allBytes: Int { bytes.addingReportingOverflow(fileBytes ?? 0).partialValue }

  private enum CodingKeys: String, CodingKey {
    case versions, notebookName, notes, bytes, files, fileBytes, inviter, device, role, expires,
      formerly, root
    case members, person, called, branch
    case notebookID = "notebook"
  }
}

/// The inviting side of notes-protocol(7), PAIRING.
public enum PairingServer {
  /// How many bytes of certificates are sent; the rest follows in the first session.
  static let certificateBytes = 512 << 10

  /// Makes the offer to a device that has the code, and certifies the device when it accepts. A device that is not an
  /// admin's asks those in reach to certify it. If this throws, the peer has received the error.
  ///
  /// - Parameter discovery: finds admins' devices; if nil, only known addresses are tried.
  public static func answer(
    _ connection: Connection, with invitation: Invitation, as context: SessionContext,
    discovery: (@Sendable () -> (any Discovery)?)? = nil
  ) throws -> PeerIdentity {
    var timeouts = context.timeouts
    timeouts.message = max(0.1, min(timeouts.answer, invitation.deadline - .now))
    let stream = MessageStream(connection: connection, timeouts: timeouts)
    do {
      let device = try hold(stream, invitation, context, discovery)
      stream.close(.done)
      return device
    } catch SyncError.timedOut where invitation.end != nil {
      stream.close(.expired)
      throw SyncError.invitationExpired
    } catch {
      stream.close(after: error)
      throw error
    }
  }

  private static func hold(
    _ stream: MessageStream, _ invitation: Invitation, _ context: SessionContext,
    _ discovery: (() -> (any Discovery)?)?
  ) throws -> PeerIdentity {
    try stream.send(offer(of: invitation, context))
    let (frame, type) = try stream.receive()
    if type == .decline { throw SyncError.declined }
    let accept = try frame.decode(AcceptMessage.self)
    let request = try CertificateRequest(der: accept.request.bytes)
    try invitation.grant(to: request.deviceID)
    let membership = context.membership
    let certificate = try stream.working {
      let isAdmin = membership.role(ofDevice: context.key.deviceID) == .admin
      if let asked = invitation.request, try !(isAdmin && context.letsInOwnDevices) {
        return try asked.certificate(for: request, of: context, discovery)
      }
      guard isAdmin else { throw MembershipError.notAnAdmin(device: context.key.deviceID) }
      // A member that lost its folder keeps its name, its person and a greater role.
      let present = membership.member(ofDevice: request.deviceID)
      return try membership.issue(
        for: request, name: present?.deviceName ?? accept.name,
        person: (person(of: invitation, context) ?? present?.person)?.id,
        personName: present == nil ? invitation.person.name : nil,
        role: max(present?.role ?? .reader, invitation.role), by: context.key)
    }
    try stream.send(package(certificate, of: request.deviceID, context))
    var brief = stream
    brief.timeouts = context.timeouts
    _ = try brief.receive(InstalledMessage.self)
    invitation.finish(.used)
    let member = context.membership.member(ofDevice: request.deviceID)
    return PeerIdentity(
      name: member?.name ?? accept.name, deviceID: request.deviceID,
      role: member?.role ?? invitation.role, address: stream.connection.peer.description)
  }

  /// The person to whom the new device will belong; nil if the device stands for a new person.
  private static func person(of invitation: Invitation, _ context: SessionContext) -> Person? {
    invitation.person == .own
      ? context.membership.member(ofDevice: context.key.deviceID)?.person : nil
  }

  private static func offer(
    of invitation: Invitation, _ context: SessionContext
  ) throws -> PairingOffer {
    let notebook = try Notebook.open(at: context.folder)
    let repository = notebook.repository
    var notes = (count: 0, bytes: 0)
    var others = notes
    let tree = try notebook.state().tip.map { try repository.commit($0).tree }
    try repository.forEachChange(from: nil, to: tree) { file in
      let size = try file.new.map { try repository.header(of: $0.id).size } ?? 0
      if file.path.isNote {
        notes = (notes.count + 1, notes.bytes + size)
      } else {
        others = (others.count + 1, others.bytes + size)
      }
    }
    let former = try context.membership.formerIDsLatestFirst().prefix(ProtocolLimits.formerIDs)
    let person = person(of: invitation, context)
    let inviter = context.membership.member(ofDevice: context.key.deviceID)?.name
    let members = context.membership.members().filter { !$0.isRemoved }
      .filter { person == nil || $0.person.id == person?.id }
    return PairingOffer(
      versions: ProtocolLimits.versions(
        obeying: try notebook.history.obeyed()?.forgettings.sorted() ?? []),
      notebookID: context.membership.notebookID,
      notebookName: context.membership.notebookName, notes: notes.count, bytes: notes.bytes,
      files: notebook.awaitsVersions ? nil : others.count, fileBytes: others.bytes,
      inviter: inviter ?? notebook.identity.device.name, device: context.key.deviceID,
      role: invitation.role, expires: invitation.expires, branch: try repository.head().branch,
      members: members.prefix(ProtocolLimits.offeredMembers).map {
        PairingOffer.OfferedMember(
          device: $0.deviceID, name: person == nil ? $0.name : $0.deviceName)
      }, person: person?.name, called: invitation.person.name,
      formerly: former.isEmpty ? nil : Array(former),
      root: former.isEmpty ? nil : Base64(context.membership.root))
  }

  /// The certificate with everything needed to verify it, and as many other certificates as fit.
  private static func package(
    _ certificate: [UInt8], of device: String, _ context: SessionContext
  ) throws -> CertificateMessage {
    let membership = context.membership
    var room = certificateBytes
    func fitting(_ all: [[UInt8]]) -> [Base64] {
      all.prefix {
        room -= $0.count
        return room >= 0
      }.map { Base64($0) }
    }
    let claims = try membership.acceptedClaims()
    let chain = try membership.chain(ofDevice: device)
    // Without the grounds of the claims, the device refuses to join.
    let needed = chain + membership.grounds(ofAcceptedClaims: claims).filter { !chain.contains($0) }
    return CertificateMessage(
      certificate: Base64(certificate), root: Base64(membership.root),
      certificates: fitting(needed + membership.certificates.filter { !needed.contains($0) }),
      revocations: fitting(membership.revocations),
      claims: claims.isEmpty ? nil : claims.map { Base64($0) })
  }
}
