public import Membership
public import State
internal import System

/// The invitations by a link that this admin's device made, or has seen at a hub: `.git/notes/offers`, a file for
/// each. It is a cache: the invitations are at their hubs, and the list of members shows which were used. Only the
/// withdrawals of invitations of other members may be nowhere else.
public struct KnownOffers: Sendable {
  /// An invitation, and its state.
  public struct Known: Sendable {
    public let offer: InvitationOffer
    public let status: InvitationStatus
    /// Whether several devices used the invitation or asked by it, as far as this device has seen. Then another
    /// person has it, and an open one lets no device in.
    public let isShared: Bool
    /// The request of the device that a person may let in by this invitation of a member; nil if there is none.
    public let request: AdmissionFile?
  }

  private let folder: String

  private static let (toldSuffix, requestSuffix) = (".told", ".request")
  /// How many seconds an invitation is kept after its end: one of an admin, and an unused one of another
  /// member.
  private static let remembered: Int64 = 30 * 86_400
  private static let rememberedOfMember: Int64 = 86_400
  /// Limits for one member that is not an admin: how many invitations are kept, and how many open ones are
  /// answered.
  private static let (mostOfMember, mostOpenOfMember) = (16, 4)
  /// The most devices that are reported for one invitation.
  private static let mostTold = 64

  /// The record in this state folder.
  public init(_ stateFolder: StateFolder) { folder = stateFolder[.offers] }

  /// All invitations, newest first.
  public func all(in membership: MembershipStore) throws -> [Known] {
    var offers: [InvitationOffer] = []
    for name in Disk.namesIfAny(in: folder) where !name.contains(".") {
      guard let offer = try known(name) else { continue }
      if isPast(offer, in: membership) { forget(offer) } else { offers.append(offer) }
    }
    return try offers.map { offer in
      let (status, isShared) = (membership.status(of: offer), isShared(offer))
      let isOpen = status == .open && !isShared
      return Known(
        offer: offer, status: status, isShared: isShared,
        request: try isOpen ? pending(offer, in: membership) : nil)
    }.sorted {
      ($0.offer.created, $0.offer.id.description) > ($1.offer.created, $1.offer.id.description)
    }
  }

  /// The devices that made these invitations, by the IDs of the invitations.
  public func inviters(in membership: MembershipStore) throws -> [String: String] {
    let all = try all(in: membership).map(\.offer).filter { isBelieved($0, in: membership) }
      .map { ($0.id.description, $0.inviterID) }
    return Dictionary(all) { first, _ in first }
  }

  /// Whether the device that signed an invitation also made it. Anybody can sign an invitation with the ID of
  /// another. An admin's counts without the proof, because an admin may invite any device.
  private func isBelieved(_ offer: InvitationOffer, in membership: MembershipStore) -> Bool {
    switch offer.signer {
    case .admin: membership.isOfAdmin(offer)
    case .member(let isProved): isProved
    }
  }

  /// Records an invitation. Its inviter can withdraw it; it never changes in another way, nor back.
  ///
  /// - Returns: the recorded invitation. Nil if it is not recorded and must not be answered: it ended long ago,
  ///   its inviter does not prove to have made it, or its inviter is not an admin and has too many.
  @discardableResult
  func keep(
    _ offer: InvitationOffer, in membership: MembershipStore
  ) throws -> InvitationOffer? {
    // Do not record such an invitation: its record would soon be dropped, and the next visit would report the
    // invitation again.
    if isPast(offer, in: membership) || !isBelieved(offer, in: membership) { return nil }
    if let known = try known(offer.id.description) {
      guard offer.isWithdrawn, !known.isWithdrawn, offer.inviterID == known.inviterID else {
        return known
      }
    } else if offer.isAskedFor {
      let own = try all(in: membership).filter {
        $0.offer.inviterID == offer.inviterID && $0.offer.isAskedFor
      }
      let isFull = own.count { $0.status == .open } >= Self.mostOpenOfMember
      if own.count >= Self.mostOfMember || isFull && !offer.isWithdrawn { return nil }
    }
    Disk.keep(offer.text, at: "\(folder)/\(offer.id)")
    return offer
  }

  /// The withdrawal of an invitation if one is recorded here, else the invitation itself.
  func inForce(_ offer: InvitationOffer) throws -> InvitationOffer {
    guard let known = try known(offer.id.description), known.isWithdrawn,
      known.inviterID == offer.inviterID
    else { return offer }
    return known
  }

  /// Keeps the first request for a recorded invitation, until a person lets the device in.
  ///
  /// - Returns: the ID of the device that had already asked, if it is another one: then none is let in.
  func keep(_ file: AdmissionFile) throws -> String? {
    let (offer, asker) = (file.offer, file.request.deviceID)
    if let kept = try request(for: offer)?.deviceID { return kept == asker ? nil : kept }
    if try known(offer.id.description) != nil {
      Disk.keep(file.request.text, at: path(of: offer, Self.requestSuffix))
    }
    return nil
  }

  /// Keeps an invitation and a request for it, both for a person's answer.
  func keep(_ file: AdmissionFile, in membership: MembershipStore) throws {
    if try keep(file.offer, in: membership) != nil { _ = try keep(file) }
  }

  /// The request that a person may answer: not that of a removed device, nor by a member that is blocked here.
  private func pending(
    _ offer: InvitationOffer, in membership: MembershipStore
  ) throws -> AdmissionFile? {
    guard let request = try request(for: offer),
      !membership.members().contains(where: { $0.deviceID == request.deviceID }),
      membership.member(ofDevice: offer.inviterID)?.isBlocked == false
    else { return nil }
    return AdmissionFile(request, to: offer)
  }

  private func request(for offer: InvitationOffer) throws -> AdmissionRequest? {
    try Disk.contentIfAny(path(of: offer, Self.requestSuffix), limit: AdmissionFile.maximumSize)
      .flatMap { try AdmissionRequest(parsing: $0, to: offer) }
  }

  private func isShared(_ offer: InvitationOffer) -> Bool {
    told(of: offer).count { !$0.contains(" ") } > 1
  }

  /// Whether nobody was told yet that one of these devices used or wants to use a link.
  func isNews(_ devices: [String], of offer: InvitationOffer) -> Bool {
    let told = told(of: offer)
    let new = Set(devices).subtracting(told)
    if new.isEmpty || told.count >= Self.mostTold { return false }
    Disk.keep(
      Array((told + new.sorted()).joined(separator: "\n").utf8),
      at: path(of: offer, Self.toldSuffix))
    return true
  }

  private func path(of offer: InvitationOffer, _ suffix: String) -> String {
    "\(folder)/\(offer.id)\(suffix)"
  }

  /// The devices about which an invitation was already reported, by their IDs. Other reports have a word before the ID.
  private func told(of offer: InvitationOffer) -> [String] {
    (Disk.contentIfAny(path(of: offer, Self.toldSuffix), limit: 1 << 14) ?? []).split(
      separator: 0x0A
    )
    .map { String(decoding: $0, as: UTF8.self) }
  }

  /// Whether an invitation ended so long ago that it is not kept any more.
  private func isPast(_ offer: InvitationOffer, in membership: MembershipStore) -> Bool {
    let isUsed = if case .used = membership.status(of: offer) { true } else { false }
    let isMembers = offer.isAskedFor && !isUsed
    return offer.expires < WallClock.now()
      - (isMembers ? Self.rememberedOfMember : Self.remembered)
  }

  /// The recorded invitation. Nil if there is none, or if the record cannot be read: the hub still has the
  /// invitation.
  private func known(_ id: String) throws -> InvitationOffer? {
    guard let text = Disk.contentIfAny("\(folder)/\(id)", limit: 1 << 14),
      let offer = try InvitationOffer(parsing: text), offer.id.description == id
    else { return nil }
    return offer
  }

  private func forget(_ offer: InvitationOffer) {
    for suffix in ["", Self.toldSuffix, Self.requestSuffix] {
      Disk.removeTree(path(of: offer, suffix))
    }
  }
}
