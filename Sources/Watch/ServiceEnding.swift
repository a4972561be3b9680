internal import Sync
internal import System

/// When a service that waits for one invitation is done.
struct ServiceEnding {
  let invitation: Invitation
  /// How long a new member may take to begin its first session, in seconds.
  private static let firstSession = 30.0
  private var joined: (device: String, deadline: Instant)?
  /// The devices with a session under way: the first one may take as long as it takes.
  private var busy: Set<String> = []
  private var isSynchronised = false

  init(invitation: Invitation) { self.invitation = invitation }

  var isReached: Bool {
    guard let joined else {
      // Used, and the event is on its way.
      return invitation.end != nil && invitation.end != .used
    }
    return isSynchronised || !busy.contains(joined.device) && Instant.now >= joined.deadline
  }

  /// Whether it is the device that joined.
  func isGuest(_ device: String) -> Bool { joined?.device == device }

  mutating func note(_ event: Event) {
    switch event {
    case .joined(invitation.locator, let device):
      joined = (device.deviceID, .now + Self.firstSession)
    case .peer(let peer): busy.insert(peer.deviceID)
    case .finished(let session):
      busy.remove(session.peer.deviceID)
      if session.peer.deviceID == joined?.device { isSynchronised = true }
    case .failed(let failure):
      guard let peer = failure.peer else { return }
      busy.remove(peer.deviceID)
      if let device = joined?.device { joined = (device, .now + Self.firstSession) }
    default: break
    }
  }
}
