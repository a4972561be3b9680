internal import Membership
internal import Notebook
package import System

/// What is done with a hub.
package struct HubOptions: Sendable {
  /// Who this device is in the notebook; where nobody says, it gives, and no list of members is
  /// exchanged.
  package var context: SessionContext?
  /// Whether a history that shares nothing with the notebook's is merged.
  package var allowsUnrelated = false
  /// Whether versions are taken that no member answers for.
  package var allowsUnsigned = false
  /// Ends it.
  package var cancellation: CancellationToken?

  /// Both ways, and nothing unrelated or unsigned.
  package init() {}

  /// Whether what is written here may go there.
  func mayGive() throws -> Bool { try context?.mayGive() != false }

  /// Which versions are taken. A history of others is theirs, and unsigned where they use git alone.
  func taking(from hub: Hub) -> VersionJudge.Taking {
    if allowsUnsigned || allowsUnrelated { return .all }
    guard hub.acceptsUnsigned, let context else { return .answered }
    let isAdmin = context.membership.role(ofDevice: context.key.deviceID) == .admin
    return isAdmin ? .ofNoMember : .answered
  }
}
