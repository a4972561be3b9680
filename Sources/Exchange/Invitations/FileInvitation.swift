internal import Git
internal import History
public import Membership
public import Notebook
public import System

/// An invitation as a file: a bundle with an additional reference. The reference's name contains the secret,
/// and it names the commit of the offer. notes-security(7), "Invitations by a file".
public struct FileInvitation: Sendable {
  /// The offer, signed by an admin's device.
  public let offer: InvitationOffer
  let secret: InvitationSecret

  private static let folder = "refs/notebook/invitation/"

  /// A new invitation by this device.
  ///
  /// - Throws: `MembershipError.notAnAdmin`.
  public init(
    to context: SessionContext, role: Role, person: InvitedPerson = .unnamed, seconds: Int64
  ) throws {
    secret = try InvitationSecret()
    offer = try InvitationOffer(
      secret, to: context.membership, role: role, person: person,
      expires: WallClock.now() + seconds, by: context.key)
  }

  /// The invitation in a bundle; nil if there is none, or if it is incomplete.
  init?(
    in header: BundleHeader, of repository: Repository, arriving quarantine: Quarantine
  ) throws {
    for (name, commit) in header.references where name.hasPrefix(Self.folder) {
      guard let secret = try InvitationSecret(text: String(name.dropFirst(Self.folder.count))),
        let text = try HubInvitations.text(
          of: commit, HubInvitations.offer, in: repository, quarantine),
        let offer = try InvitationOffer(parsing: text), offer.id == secret.id
      else { continue }
      (self.offer, self.secret) = (offer, secret)
      return
    }
    return nil
  }

  /// Stores the offer's commit, and returns the bundle's reference to it. The name is secret.
  func reference(in repository: Repository) throws -> (name: String, commit: ObjectID) {
    let commit = try HubFile.write(
      offer.text, as: HubInvitations.offer, "An invitation to a notebook", to: repository)
    return (Self.folder + secret.text, commit)
  }

  /// Records the invitation for `notes invitations`.
  public func keep(for context: SessionContext) throws {
    try KnownOffers(context.notebook().stateFolder).keep(offer, in: context.membership)
  }

  // MARK: The device that joins

  /// Reads an invitation on a device with a clone of the notebook. Only the list of members is merged.
  ///
  /// - Throws: `LinkError`, `BundleError`.
  public static func read(
    _ path: String, for context: SessionContext, cancellation: CancellationToken? = nil
  ) throws -> FileInvitation {
    let repository = try context.notebook().repository
    let bundle = try ReceivedBundle(
      BundleReader(path: path, cancellation: cancellation), for: repository, limits: .large)
    guard let invitation = bundle.invitation else { throw LinkError.noInvitation }
    try bundle.takeMembers(for: context)
    return invitation
  }

  /// Throws `LinkError` if the invitation is not open, as far as this device knows.
  public func demandOpen(in membership: MembershipStore, for device: String) throws {
    try membership.demandOpen(offer, for: device)
  }

  /// This device's request, for an admin's device. It is written to a file before it is recorded.
  public func request(for context: SessionContext, name: String) throws -> AdmissionFile {
    let tip = try context.notebook().state().tip
    let request = try AdmissionRequest(
      CertificateRequest(name: name, key: context.key), by: secret, tip: tip?.hex)
    return AdmissionFile(request, to: offer)
  }

  /// Records that this device has made a request, in the file at this path.
  public func recordRequest(at path: String, in notebook: Notebook) throws {
    let place = MembershipStore.folder(ofNotebookAt: notebook.stateFolder)
    try AskedAdmission(at: .file(path), by: offer, in: .open(in: place))
      .keep(in: notebook.stateFolder)
  }

  /// The name of the person to whom the new device will belong; nil if the person is new.
  public func owner(in membership: MembershipStore) -> String? { membership.owner(by: offer) }
}

extension AdmissionFile {
  /// Throws `LinkError` if this device must not admit the requesting one: the invitation is not open, or
  /// another device used it. A device that was already admitted may get the answer again.
  public func demandOpen(in membership: MembershipStore, of notebook: Notebook) throws {
    if membership.member(ofDevice: request.deviceID) != nil,
      case .used(by: [request.deviceID]) = membership.status(of: offer)
    {
      return
    }
    try membership.demandOpen(
      KnownOffers(notebook.stateFolder).inForce(offer), for: request.deviceID)
  }

  /// Certifies the requesting device, because a person agrees.
  ///
  /// - Throws: the errors of `demandOpen`; `MembershipError.notAnAdmin`.
  public func admit(by context: SessionContext, of notebook: Notebook) throws -> Member {
    let membership = context.membership
    try demandOpen(in: membership, of: notebook)
    _ = try membership.admit(request, to: offer, by: context.key)
    guard let member = membership.member(ofDevice: request.deviceID) else { throw LinkError.used }
    try KnownOffers(notebook.stateFolder).keep(offer, in: membership)
    return member
  }

  /// Certifies the requesting device, and plans the answer: a bundle with the members, and the versions that the
  /// device lacks.
  ///
  /// - Throws: the errors of `admit`; `BundleError`.
  public func answer(
    by context: SessionContext, of notebook: Notebook
  ) throws -> (member: Member, bundle: NewBundle) {
    let member = try admit(by: context, of: notebook)
    // If that version is not here, all versions are sent.
    let known = try request.tip.flatMap { ObjectID(hex: $0) }
      .flatMap { try notebook.repository.contains($0) ? $0 : nil }
    return (
      member, try NewBundle(of: notebook, for: context, since: [known].compactMap { $0 })
    )
  }
}
