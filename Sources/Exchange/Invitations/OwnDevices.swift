internal import Discovery
internal import Git
internal import Membership
public import Notebook
internal import System

/// Whether this admin's device lets in other devices of members by itself: the setting `notes.ownDevices` in
/// `.git/config`. notes-security(7), "Devices of one's own".
public enum OwnDevices {
  private static let setting = "notes.ownDevices"

  /// The user's setting; nil if it is not set.
  public static func setting(in notebook: Notebook) throws -> String? {
    try notebook.repository.setting(setting)
  }

  /// Changes the user's setting; nil removes it.
  public static func set(_ text: String?, in notebook: Notebook) throws {
    try notebook.withWriterLock { _ in try notebook.repository.set(setting, to: text) }
  }

  static func areLetIn(in repository: Repository) throws -> Bool {
    // git's words for true; an unreadable value gives no permission.
    try ["true", "yes", "on", "1"].contains(repository.settings()[setting]?.lowercased())
  }
}

extension SessionContext {
  /// The setting of `OwnDevices`.
  var letsInOwnDevices: Bool {
    get throws { try OwnDevices.areLetIn(in: notebook().repository) }
  }

  /// Certifies the device of a request for an open invitation. If a member asks for the device and the setting is
  /// off, keeps the request for a person's answer, and reports it once.
  ///
  /// - Parameter place: where the request was.
  func answer(
    _ file: AdmissionFile, from place: PeerIdentity, _ known: KnownOffers, isLetIn: Bool,
    _ report: (Event) -> Void
  ) throws {
    let (request, offer) = (file.request, file.offer)
    if membership.refusesReturn(ofDevice: request.deviceID, by: offer) { return }
    let asker = PeerIdentity(
      name: request.request.name, deviceID: request.deviceID, role: offer.role, address: "")
    func tell() throws {
      let inviter = membership.member(ofDevice: offer.inviterID)?.name ?? offer.inviterID
      if let first = try known.keep(file) {
        // A person must not let in a device if another person also has the invitation.
        guard known.isNews([first, request.deviceID], of: offer) else { return }
        return report(
          .linkShared(
            place, invitation: offer.id.description,
            devices: [String(first.prefix(8)), "\(asker.name) (\(asker.deviceID.prefix(8)))"],
            isUsed: false, notebook: offer.notebookID))
      }
      guard known.isNews(["asked \(request.deviceID)"], of: offer) else { return }
      report(
        .deviceAsked(
          place, device: asker, by: inviter, invitation: offer.id.description,
          notebook: offer.notebookID))
    }
    guard isLetIn, membership.mayAdmit(offer) else { return try tell() }
    let admitted: Member?
    do {
      admitted = try membership.admit(request, to: offer, by: key)
    } catch MembershipError.limitExceeded where offer.isAskedFor {
      // A member's request does not end this device's visit or session.
      return try tell()
    }
    guard let member = admitted else { return }
    let device = PeerIdentity(
      name: member.name, deviceID: member.deviceID, role: member.role, address: "")
    report(.admitted(place, device: device, notebook: offer.notebookID))
  }
}

/// The requests of a member that admins' devices learn in a session: to let in another device of its person,
/// and the withdrawals of earlier invitations for such devices.
struct OwnDeviceNotice: Notice {
  let scene: NoticeScene

  private var known: KnownOffers { KnownOffers(scene.notebook.stateFolder) }

  func add(to hello: inout HelloMessage) throws {
    let (own, membership) = (scene.context.key.deviceID, scene.context.membership)
    guard scene.peer.role == .admin else { return }
    hello.admission = scene.options.admission.map { Base64($0.bytes) }
    // Also those from before this device became an admin's: the peer may have such a request.
    let withdrawn = try known.all(in: membership).map(\.offer).filter {
      $0.isWithdrawn && $0.isAskedFor && $0.inviterID == own
    }
    hello.withdrawn = withdrawn.isEmpty ? nil : withdrawn.map { Base64($0.text) }
  }

  func received(_ hello: HelloMessage) throws {
    let (context, membership) = (scene.context, scene.context.membership)
    for text in hello.withdrawn ?? [] {
      guard let offer = try InvitationOffer(parsing: text.bytes), offer.isWithdrawn,
        offer.inviterID == scene.peer.deviceID, offer.isAskedFor,
        membership.status(of: offer) == .cancelled
      else { continue }
      try known.keep(offer, in: membership)
    }
    guard let text = hello.admission?.bytes, let file = try AdmissionFile(parsing: text),
      file.offer.inviterID == scene.peer.deviceID, file.offer.isAskedFor,
      membership.role(ofDevice: context.key.deviceID) == .admin,
      membership.status(of: file.offer) == .open,
      let offer = try known.keep(file.offer, in: membership), !offer.isWithdrawn
    else { return }
    try context.answer(
      file, from: scene.peer, known, isLetIn: OwnDevices.areLetIn(in: scene.notebook.repository),
      scene.report)
  }
}

/// A member's request to the admins' devices in reach, to certify another device of its person:
/// notes-security(7), "Devices of one's own".
struct MemberRequest {
  let secret: InvitationSecret
  let offer: InvitationOffer

  /// How many seconds to look for the first device.
  private static let window = 5.0

  /// The certificate for a device that has the code.
  ///
  /// - Parameter discovery: makes an object that finds the admins' devices; if nil, only known addresses are tried.
  /// - Throws: `SyncError.notLetIn` if no admin's device in reach lets it in.
  func certificate(
    for request: CertificateRequest, of context: SessionContext,
    _ discovery: (() -> (any Discovery)?)?
  ) throws -> [UInt8] {
    let (membership, own) = (context.membership, context.key.deviceID)
    let file = AdmissionFile(try AdmissionRequest(request, by: secret), to: offer)
    // The admin's device certifies in one session, and sends the certificate in the next.
    for _ in 0..<2 {
      // If this device has become an admin's, it also keeps the request for a person's answer.
      let isAdmin = membership.role(ofDevice: own) == .admin
      if isAdmin { try KnownOffers(context.notebook().stateFolder).keep(file, in: membership) }
      let admins = membership.members().filter {
        !$0.isRemoved && !$0.isBlocked && $0.role == .admin && $0.deviceID != own
      }
      let isReached = try !admins.isEmpty && ask(admins, file, context, discovery)
      if let certificate = membership.certificate(ofDevice: request.deviceID) { return certificate }
      if !isReached { throw SyncError.notLetIn(isReached: isAdmin) }
    }
    throw SyncError.notLetIn(isReached: true)
  }

  /// Syncs with these devices; returns whether one was reached.
  private func ask(
    _ admins: [Member], _ file: AdmissionFile, _ context: SessionContext,
    _ discovery: (() -> (any Discovery)?)?
  ) throws -> Bool {
    var run = SyncRun(context: context)
    run.peers = admins.map(\.deviceID)
    run.options.admission = file
    run.window = Self.window
    run.discovery = discovery?()
    return try !run.run().sessions.isEmpty
  }
}
