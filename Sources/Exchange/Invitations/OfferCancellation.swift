public import Git
public import Membership
public import Notebook

/// Cancels an invitation by a link or a file. An admin cancels it for all admins. A member cancels its own
/// invitation for another device of its person by a withdrawal. notes-security(7), "Devices of one's own".
public struct OfferCancellation: Sendable {
  private let context: SessionContext
  /// The git program for access to the hubs.
  public var program = GitProgram()

  /// Prepares a cancellation by this device.
  public init(by context: SessionContext) { self.context = context }

  /// Whether this device can cancel an invitation. It can cancel an open one, and also tell the hubs again of a
  /// cancelled one that is its own or, for an admin, anybody's.
  public func isPossible(for known: KnownOffers.Known) -> Bool {
    switch known.status {
    case .open: true
    case .cancelled:
      isAdmin || known.offer.isWithdrawn && isOwn(known.offer)
    default: false
    }
  }

  /// Whether this device withdraws an invitation, instead of cancelling it as an admin.
  public func withdraws(_ offer: InvitationOffer) -> Bool {
    isOwn(offer) && offer.isAskedFor && !isAdmin
  }

  /// Cancels an invitation.
  ///
  /// - Parameter hubs: the notebook's hubs, where the invitation may be.
  /// - Returns: whether the invitation was open; false if it was cancelled before.
  /// - Throws: `MembershipError.notAnAdmin`; `HubError` if a hub was not reached. Then the withdrawal is
  ///   recorded all the same, and a second call tells the hub.
  public func cancel(_ offer: InvitationOffer, at hubs: [Hub]) throws -> Bool {
    guard withdraws(offer) else {
      return try context.membership.cancel(offer, by: context.key)
        || context.membership.status(of: offer) == .cancelled
    }
    let known = KnownOffers(try context.notebook().stateFolder)
    let withdrawal = try offer.isWithdrawn ? offer : offer.withdrawn(by: context.key)
    guard try known.keep(withdrawal, in: context.membership) != nil else { return false }
    var failure: (any Error)?
    for hub in hubs {
      var link = LinkInvitation(context, at: hub)
      link.program = program
      do { try link.withdraw(by: withdrawal) } catch { failure = failure ?? error }
    }
    if let failure { throw failure }
    return true
  }

  private var isAdmin: Bool { context.membership.role(ofDevice: context.key.deviceID) == .admin }

  private func isOwn(_ offer: InvitationOffer) -> Bool {
    offer.inviterID == context.key.deviceID
  }
}
