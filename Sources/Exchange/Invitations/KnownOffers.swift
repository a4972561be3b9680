public import Membership
public import State
internal import System

/// The invitations by a link that this admin's device made, or has seen at a hub: `.git/notes/offers`, a file for
/// each. It is a cache: the invitations are at their hubs, and the list of members shows which were used.
public struct KnownOffers: Sendable {
  /// An invitation, and its state.
  public struct Known: Sendable {
    public let offer: InvitationOffer
    public let status: InvitationStatus
  }

  private let folder: String

  private static let toldSuffix = ".told"
  /// How long an invitation is kept after its end, in seconds.
  private static let remembered: Int64 = 30 * 86_400
  /// The most invitations of one member that is not an admin that are kept and answered while they are open.
  private static let mostOfMember = 4

  /// The record in this state folder.
  public init(_ stateFolder: StateFolder) { folder = stateFolder[.offers] }

  /// All invitations, newest first.
  public func all(in membership: MembershipStore) throws -> [Known] {
    var offers: [InvitationOffer] = []
    for name in Disk.namesIfAny(in: folder) where !name.contains(".") {
      // If it cannot be read, it is still at its hub.
      guard let text = Disk.contentIfAny("\(folder)/\(name)", limit: 1 << 14),
        let offer = try InvitationOffer(parsing: text), offer.id.description == name
      else { continue }
      let isMembers = membership.isAskedFor(offer) && membership.status(of: offer) == .expired
      if offer.expires < WallClock.now() - (isMembers ? 0 : Self.remembered) {
        forget(offer)
      } else {
        offers.append(offer)
      }
    }
    return offers.map { Known(offer: $0, status: membership.status(of: $0)) }.sorted {
      ($0.offer.created, $0.offer.id.description) > ($1.offer.created, $1.offer.id.description)
    }
  }

  /// Records an invitation of a member that asks for a device of its own.
  ///
  /// - Returns: false if the member has too many open ones: this one is not recorded, and must not be answered.
  func keep(ofMember offer: InvitationOffer, in membership: MembershipStore) throws -> Bool {
    let own = try all(in: membership).filter {
      $0.offer.inviterID == offer.inviterID && $0.status == .open && $0.offer.id != offer.id
    }
    if own.count >= Self.mostOfMember { return false }
    try keep(offer)
    return true
  }

  /// Records an invitation, unless another text has its ID: an invitation never changes.
  func keep(_ offer: InvitationOffer) throws {
    let path = "\(folder)/\(offer.id)"
    if let known = Disk.contentIfAny(path, limit: 1 << 14),
      try InvitationOffer(parsing: known)?.id == offer.id
    {
      return
    }
    Disk.keep(offer.text, at: path)
  }

  /// Whether it was not yet reported that these devices used one link.
  func isNews(_ devices: [String], of offer: InvitationOffer) -> Bool {
    let path = "\(folder)/\(offer.id)\(Self.toldSuffix)"
    let text = Array(devices.joined(separator: "\n").utf8)
    if Disk.contentIfAny(path, limit: 1 << 14) == text { return false }
    Disk.keep(text, at: path)
    return true
  }

  private func forget(_ offer: InvitationOffer) {
    for suffix in ["", Self.toldSuffix] { Disk.removeTree("\(folder)/\(offer.id)\(suffix)") }
  }
}
