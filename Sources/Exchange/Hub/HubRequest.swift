internal import Git
internal import Membership
internal import Notebook
internal import State
internal import System

/// This device's own request to join at a hub, while it waits for its certificate: notes-hub(7), "Invitations".
struct HubRequest {
  private let asked: AskedAdmission
  private let context: SessionContext
  private let stateFolder: StateFolder
  private let id: String

  /// Nil if this device has no request at the hub, or needs none.
  init?(at hub: Hub, _ context: SessionContext?, _ stateFolder: StateFolder) {
    guard let context, context.isGuest, let asked = AskedAdmission(in: stateFolder),
      asked.place == .hub(hub.name), let id = asked.invitation
    else { return nil }
    (self.asked, self.context, self.stateFolder, self.id) = (asked, context, stateFolder, id)
  }

  /// The folder of the invitation's references.
  var folder: String { "\(HubInvitations.folder)/\(id)" }

  /// Records whether the request can still be answered, by the fetched references of the invitations.
  func look(
    at found: [String: [String: ObjectID]], in repository: Repository,
    arriving quarantine: Quarantine?
  ) throws {
    if context.membership.isRemoved(device: context.key.deviceID, letInBy: id) {
      // It was removed before it learned that it was a member. Now its user is told of the removal.
      return AskedAdmission.forget(in: stateFolder)
    }
    let end = try end(of: found[id] ?? [:], in: repository, quarantine)
    guard end != asked.end, AskedAdmission(in: stateFolder) != nil else { return }
    var asked = asked
    asked.end = end
    asked.keep(in: stateFolder)
  }

  /// The reason why no device will answer; nil if an admin's device may.
  private func end(
    of references: [String: ObjectID], in repository: Repository, _ quarantine: Quarantine?
  ) throws -> AskedAdmission.End? {
    let membership = context.membership
    // The hub's list of members was read before this, so it would already have this device's certificate.
    if asked.expires <= WallClock.now() { return .expired }
    if membership.isCancelled(invitation: id) { return .cancelled }
    guard let commit = references["\(HubInvitations.offer)"],
      let text = try HubInvitations.text(
        of: commit, HubInvitations.offer, in: repository, quarantine),
      let offer = try InvitationOffer(parsing: text), offer.id.description == id
    else { return .missing }
    switch membership.status(of: offer) {
    case .cancelled: return .cancelled
    case .used(let devices): return devices.contains(context.key.deviceID) ? nil : .used
    case .void: return .void
    case .expired: return nil
    case .open where membership.refusesReturn(ofDevice: context.key.deviceID, by: offer):
      return .void
    case .open:
      let asking = try HubInvitations.requests(references, to: offer, in: repository, quarantine)
      if asking.count > 1 { return .shared }
      // The request of this device is gone from the hub, or was replaced by another one.
      return asking.contains { $0.deviceID == context.key.deviceID } ? nil : .missing
    }
  }
}
