internal import Exchange
internal import System

/// Decides when a command that waits for invitations is done: when each has ended without use, or the first
/// session of the device that used it has ended.
struct ServiceEnding {
  /// The invitations that nobody has used yet, and that have not ended, by their locators.
  private var open: Set<String>
  private let locators: Set<String>
  /// The devices that joined and have had no session, each with the time until which one must begin.
  private var joined: [String: Instant] = [:]
  private var known: Set<String> = []
  /// The devices with a session in progress: the first session may take any time.
  private var busy: Set<String> = []

  /// How long a new member may take to begin its first session, in seconds.
  private static let firstSession = 30.0

  init(of invitations: [Invitation]) {
    locators = Set(invitations.map(\.locator))
    open = locators
  }

  var isReached: Bool {
    open.isEmpty && joined.allSatisfy { !busy.contains($0.key) && Instant.now >= $0.value }
  }

  /// Whether an event is about one of the invitations, or about the first session after it.
  func concerns(_ event: Event) -> Bool {
    if case .finished(let session) = event { return known.contains(session.peer.deviceID) }
    return event.locator.map(locators.contains) ?? false
  }

  mutating func observe(_ event: Event) {
    switch event {
    case .joined(let locator, let device) where open.remove(locator) != nil:
      joined[device.deviceID] = .now + Self.firstSession
      known.insert(device.deviceID)
    case .ended(let locator, _): open.remove(locator)
    case .peer(let peer): busy.insert(peer.deviceID)
    case .finished(let session):
      busy.remove(session.peer.deviceID)
      joined[session.peer.deviceID] = nil
    case .failed(let failure):
      guard let peer = failure.peer else { return }
      busy.remove(peer.deviceID)
      if joined[peer.deviceID] != nil { joined[peer.deviceID] = .now + Self.firstSession }
    default: break
    }
  }
}
