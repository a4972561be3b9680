internal import Exchange
internal import System

/// Decides when a command that waits for one invitation is done: when the invitation has ended, or
/// after the first session of the device that joined.
struct ServiceEnding {
  private let locator: String
  private var hasEnded = false
  private var joined: (device: String, deadline: Instant)?
  /// The devices with a session in progress: the first session may take any time.
  private var busy: Set<String> = []
  private var isSynchronised = false

  /// How long a new member may take to begin its first session, in seconds.
  private static let firstSession = 30.0

  init(of invitation: Invitation) { locator = invitation.locator }

  var isReached: Bool {
    guard let joined else { return hasEnded }
    return isSynchronised || !busy.contains(joined.device) && Instant.now >= joined.deadline
  }

  /// Whether an event is about the invitation, or about the first session after it.
  func concerns(_ event: Event) -> Bool {
    if case .finished(let session) = event { return session.peer.deviceID == joined?.device }
    return event.locator == locator
  }

  mutating func observe(_ event: Event) {
    switch event {
    case .joined(locator, let device): joined = (device.deviceID, .now + Self.firstSession)
    case .ended(locator, _): hasEnded = true
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
