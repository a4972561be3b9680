internal import Sync

/// When a service that waits for one invitation is done.
struct ServiceEnding {
  let invitation: Invitation
  /// How long a new member may take to begin and end its first session, in seconds.
  private static let firstSession = 30.0
  private var joined: (device: String, deadline: Moment)?
  private var isSynchronised = false

  init(invitation: Invitation) { self.invitation = invitation }

  var isReached: Bool {
    guard let joined else {
      // Used, and the event is on its way.
      return invitation.end != nil && invitation.end != .used
    }
    return isSynchronised || Moment.now >= joined.deadline
  }

  /// Whether it is the device that joined.
  func isGuest(_ device: String) -> Bool { joined?.device == device }

  mutating func note(_ event: ServiceEvent) {
    switch event {
    case .joined(let used, let device) where used === invitation:
      joined = (device.deviceID, .now + Self.firstSession)
    case .finished(let session) where session.peer.deviceID == joined?.device:
      isSynchronised = true
    default: break
    }
  }
}
