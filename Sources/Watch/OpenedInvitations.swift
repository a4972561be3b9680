package import Exchange
package import Membership
internal import Synchronization
internal import System

/// The invitations to a notebook that this process opened, with their codes, which are stored nowhere else.
/// Their states are in the notebook's book of invitations.
package final class OpenedInvitations: Sendable {
  /// An invitation that a device can still join with.
  package struct Opened: Sendable {
    /// The invitation's code, role and expiry, and the port at which the joining device reaches this one.
    package let open: OpenInvitation
    /// Whether this device cannot be discovered on the network.
    package let isHidden: Bool
    /// The number of attempts left, after a wrong one.
    package var attemptsLeft: Int?
  }

  /// A running operation that keeps an invitation open: a token to cancel it, and a queue that gets an item
  /// at its end.
  private final class Hold: Sendable {
    let token: CancellationToken
    let ended = BlockingQueue<Bool>()

    init() throws { token = try CancellationToken() }
  }

  private struct State {
    /// The invitations, by the first two digits of the code.
    var opened: [String: Opened] = [:]
    var holds: [Hold] = []
  }

  private let state = Mutex(State())
  private let changed = Mutex<@Sendable () -> Void>({})

  /// How many may be open at once: each may need a thread and a port.
  private static let most = 8
  /// How long to wait until an invitation is open, in seconds.
  private static let patience = 30.0

  /// A list without invitations.
  package init() {}

  /// Calls `body` when an invitation changes.
  package func whenChanged(_ body: @escaping @Sendable () -> Void) {
    changed.withLock { $0 = body }
  }

  /// The invitation with these first digits; nil if no device can use it any longer.
  package subscript(_ locator: String) -> Opened? { state.withLock { $0.opened[locator] } }

  /// Opens an invitation for this many seconds. When it is open, returns the first digits of its code. Throws
  /// like `InvitationHost.invite`.
  package func open(role: Role, by host: InvitationHost, seconds: Double) throws -> String {
    let (hold, first) = (try Hold(), BlockingQueue<Result<String, any Error>>())
    try state.withLock { state in
      guard state.holds.count < Self.most else {
        throw SyncError.failed("too many invitations are open")
      }
      state.holds.append(hold)
    }
    do {
      try startThread { [self] in
        first.put(.failure(keepOpen(role, by: host, seconds, hold) { first.put(.success($0)) }))
      }
    } catch {
      end(hold)
      throw error
    }
    guard let locator = first.take(until: .now + Self.patience) else {
      hold.token.cancel()
      throw SyncError.failed("the invitation did not open in time")
    }
    return try locator.get()
  }

  /// Keeps an invitation open until it ends, and calls `whenOpen` with its first digits. Returns the reason
  /// why it ended.
  private func keepOpen(
    _ role: Role, by host: InvitationHost, _ seconds: Double, _ hold: Hold,
    whenOpen: (String) -> Void
  ) -> any Error {
    defer { end(hold) }
    var (isHidden, own) = (false, String?.none)
    // Forgets the code: no device can use it any longer.
    func forget() { if let own { state.withLock { $0.opened[own] = nil } } }
    defer { forget() }
    do {
      try host.invite(role: role, seconds: seconds, cancellation: hold.token) { event in
        switch event {
        case .discoveryFailed: isHidden = true
        case .invitation(let open):
          let locator = open.code.locator
          own = locator
          state.withLock { $0.opened[locator] = Opened(open: open, isHidden: isHidden) }
          whenOpen(locator)
        case .wrongCode(let locator, _, let left) where locator == own:
          state.withLock { state -> Void in state.opened[locator]?.attemptsLeft = left }
        case .joined(let locator, _), .ended(let locator, _): if locator == own { forget() }
        default: break
        }
        tell()
      }
      return SyncError.failed("the invitation has expired")
    } catch {
      return error
    }
  }

  private func end(_ hold: Hold) {
    state.withLock { $0.holds.removeAll { $0 === hold } }
    hold.ended.put(true)
    tell()
  }

  private func tell() { changed.withLock { $0 }() }

  /// Ends all invitations.
  package func stop() {
    let holds = state.withLock { $0.holds }
    for hold in holds { hold.token.cancel() }
    for hold in holds { _ = hold.ended.take(until: .now + 3) }
  }
}
