internal import Git
internal import History
internal import Membership
internal import Notebook
internal import State
internal import System

/// The invitations by a link at a hub, and the requests of devices that respond. An admin's device reads them at
/// a visit, and certifies the requesting devices: notes-hub(7), "Invitations".
struct HubInvitations {
  /// Each invitation has a folder named by its ID, with the offer and a reference for each
  /// requesting device.
  static let folder = "refs/invitations"
  static let (offer, request): (TreePath, TreePath) = ("offer", "request")
  /// The most invitations that are read from a hub, and the most requests for each.
  private static let limit = 64

  private let hub: Hub
  private let context: SessionContext
  private let stateFolder: StateFolder

  /// Nil if the device is not an admin's: it cannot answer requests.
  init?(at hub: Hub, _ context: SessionContext?, _ stateFolder: StateFolder) {
    guard let context, context.membership.role(ofDevice: context.key.deviceID) == .admin
    else { return nil }
    (self.hub, self.context, self.stateFolder) = (hub, context, stateFolder)
  }

  private var membership: MembershipStore { context.membership }

  /// Whether an invitation is open, as far as this device knows: then a visit fetches before it
  /// pushes.
  var areOpen: Bool {
    get throws {
      try KnownOffers(stateFolder).all(in: membership).contains { $0.status == .open }
    }
  }

  // MARK: From the hub

  /// The fetched references of the invitations.
  static func found(by transfer: Transfer) -> [String: [String: ObjectID]] {
    transfer.references(in: folder, limit: limit)
  }

  /// Reads the found invitations, and certifies the device of each open one that exactly one device
  /// requests.
  ///
  /// - Parameter ended: receives the references that are no longer needed.
  func answer(
    _ found: [String: [String: ObjectID]], in repository: Repository,
    arriving quarantine: Quarantine?, report: (Event) -> Void
  ) throws -> [String] {
    // The hub's list of members may just have changed this device's role.
    guard membership.role(ofDevice: context.key.deviceID) == .admin else { return [] }
    var ended: [String] = []
    let known = KnownOffers(stateFolder)
    for (name, references) in found.sorted(by: { $0.key < $1.key }) {
      guard let commit = references["\(Self.offer)"],
        let text = try Self.text(of: commit, Self.offer, in: repository, quarantine),
        let there = try InvitationOffer(parsing: text), there.id.description == name
      else { continue }
      if membership.status(of: there) == .void { continue }
      let hasExpired = there.expires <= WallClock.now()
      // Anybody can sign an offer with the ID of a used invitation.
      let isKept =
        membership.role(ofDevice: there.inviterID) != nil || membership.isOfAdmin(there)
      let offer = isKept ? try known.keep(there, in: membership) : there
      let status = offer.map { membership.status(of: $0) }
      if hasExpired || status == .cancelled {
        // The withdrawal, which has replaced the offer, stays: other admins' devices learn of it there.
        ended += references.keys.filter {
          hasExpired || !there.isWithdrawn || $0 != "\(Self.offer)"
        }
        .map { "\(Self.folder)/\(name)/\($0)" }
      }
      guard let offer, let status else { continue }
      let requests = try Self.requests(references, to: offer, in: repository, quarantine)
      try answer(
        requests, to: offer, status, known,
        isLetIn: !offer.isAskedFor || OwnDevices.areLetIn(in: repository), report)
    }
    return ended
  }

  private func answer(
    _ requests: [AdmissionRequest], to offer: InvitationOffer, _ status: InvitationStatus,
    _ known: KnownOffers, isLetIn: Bool, _ report: (Event) -> Void
  ) throws {
    let peer = PeerIdentity(hub: hub.name, at: hub.url)
    var used: [String] = []
    if case .used(let devices) = status { used = devices }
    let askers = Set(requests.map(\.deviceID)).union(used).sorted()
    if askers.count > 1 {
      // The link can let nobody else in, and a member that also opened it joined in another way.
      let areMembers = askers.allSatisfy { membership.member(ofDevice: $0) != nil }
      if !used.isEmpty, areMembers { return }
      // A link is for one device. As several devices ask, another person also has the link.
      guard known.isNews(askers, of: offer) else { return }
      let names = askers.map { device in
        (membership.members().first { $0.deviceID == device }?.name
          ?? requests.first { $0.deviceID == device }?.request.name ?? "")
          + " (\(device.prefix(8)))"
      }
      return report(
        .linkShared(
          peer, invitation: offer.id.description, devices: names, isUsed: !used.isEmpty,
          notebook: offer.notebookID))
    }
    guard status == .open, let request = requests.first else { return }
    try context.answer(
      AdmissionFile(request, to: offer), from: peer, known, isLetIn: isLetIn, report)
  }

  /// The requests for an invitation among its references, in the order of the devices' IDs.
  static func requests(
    _ references: [String: ObjectID], to offer: InvitationOffer, in repository: Repository,
    _ quarantine: Quarantine?
  ) throws -> [AdmissionRequest] {
    try references.sorted { $0.key < $1.key }.compactMap { device, commit in
      let text = try Self.text(of: commit, Self.request, in: repository, quarantine)
      return try text.flatMap { try AdmissionRequest(parsing: $0, to: offer) }
        .flatMap { $0.deviceID == device ? $0 : nil }
    }
  }

  /// Nil if the content is not readable as such a file.
  static func text(
    of commit: ObjectID, _ name: TreePath, in repository: Repository, _ quarantine: Quarantine?
  ) throws -> [UInt8]? {
    try HubFile.ifReadable {
      try HubFile.content(of: commit, as: name, in: repository, arriving: quarantine)
    }
  }

  // MARK: To the hub

  /// Pushes an offer.
  static func give(
    _ offer: InvitationOffer, by transfer: Transfer, from repository: Repository, at hub: Hub
  )
    throws
  {
    let commit = try HubFile.write(
      offer.text, as: self.offer, "An invitation to a notebook", to: repository)
    try set(["\(folder)/\(offer.id)/\(self.offer)": commit], by: transfer, at: hub)
  }

  /// The offer of an invitation at the hub; nil if there is none.
  static func offer(
    of id: InvitationID, by transfer: Transfer, for repository: Repository, at hub: Hub
  ) throws -> InvitationOffer? {
    try HubVisit.talking {
      _ = try transfer.fetch(nil, from: hub.url, known: [], beside: ["\(folder)/\(id)"])
      guard let commit = transfer.reference(named: "\(folder)/\(id)/\(offer)"),
        let text = try text(
          of: commit, offer, in: repository, transfer.received()?.quarantine)
      else { return nil }
      return try InvitationOffer(parsing: text)
    }
  }

  /// Pushes a request.
  static func give(
    _ request: AdmissionRequest, to offer: InvitationOffer, by transfer: Transfer,
    from repository: Repository, at hub: Hub
  ) throws {
    let commit = try HubFile.write(
      request.text, as: self.request, "A request to join a notebook", to: repository)
    try set(["\(folder)/\(offer.id)/\(request.deviceID)": commit], by: transfer, at: hub)
  }

  /// Removes references at the hub. If the hub refuses, they stay and have no effect.
  static func remove(_ names: [String], by transfer: Transfer, at hub: Hub) {
    // The next visit tries again.
    _ = try? set(Dictionary(names.map { ($0, nil) }) { first, _ in first }, by: transfer, at: hub)
  }

  /// Sets references at a hub that this device has just read.
  private static func set(
    _ references: [String: ObjectID?], by transfer: Transfer, at hub: Hub
  ) throws {
    let refusal = try HubVisit.writing { try transfer.set(references, at: hub.url) }
    if let refusal { throw HubError(refusedWith: refusal) }
  }
}
