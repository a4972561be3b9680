public import Membership
internal import Synchronization
internal import System

/// Why an invitation is no longer open.
public enum InvitationEnd: String, Codable, Sendable {
  case used
  /// Too many attempts with a wrong code.
  case exhausted
  case expired
  case withdrawn
}

/// An invitation that waits for a device: its code, and what was tried with it. All calls may come
/// from any thread.
///
/// The rules are notes-protocol(7), PAIRING: it ends 10 min after it was made, when it was used, or
/// with the third wrong attempt, counted over all addresses.
public final class Invitation: Sendable {
  /// The code that the joining device's user is told. Secret but for its locator.
  public let code: InvitationCode
  /// Tells the open invitations of a device apart. No secret.
  public var locator: String { code.locator }
  /// The role the device gets.
  public let role: Role
  /// When it ends, in seconds since 1970.
  public let expires: Int64

  package let deadline: Instant
  private let state = Mutex(State())

  private struct State {
    /// Handshakes that were given the key and are not over.
    var pending = 0
    var wrong = 0
    var end: InvitationEnd?
    /// The device that was certified; no other is from then on.
    var device: String?
  }

  /// How many wrong attempts end an invitation.
  static let attempts = 3

  /// A new invitation that lives for so many seconds, with another locator than those.
  package init(
    role: Role, lifetime: Double = ProtocolTimeouts.standard.invitation,
    avoiding locators: Set<String> = []
  ) throws {
    // Of the hundred locators there are.
    guard locators.count < 64 else { throw SyncError.failed("too many invitations are open") }
    var code = try InvitationCode.random()
    while locators.contains(code.locator) { code = try InvitationCode.random() }
    self.code = code
    self.role = role
    expires = WallClock.now() + Int64(lifetime)
    deadline = .now + lifetime
  }

  /// Why it is no longer open; nil while it is.
  public var end: InvitationEnd? {
    state.withLock { $0.end } ?? (Instant.now >= deadline ? .expired : nil)
  }

  /// Ends it, unless it has ended.
  package func finish(_ end: InvitationEnd) {
    if self.end == nil { state.withLock { $0.end = $0.end ?? end } }
  }

  /// Takes one of the attempts, if one is left. Those under way count, so that many at the same time
  /// get no more tries than many in turn.
  func beginAttempt() -> Bool {
    guard end == nil else { return false }
    return state.withLock { state in
      guard state.wrong + state.pending < Self.attempts else { return false }
      state.pending += 1
      return true
    }
  }

  func attemptSucceeded() { state.withLock { $0.pending -= 1 } }

  func attemptFailed() -> Int {
    state.withLock { state in
      state.pending -= 1
      state.wrong += 1
      if state.wrong >= Self.attempts, state.end == nil { state.end = .exhausted }
      return max(0, Self.attempts - state.wrong)
    }
  }

  /// Sets the invitation aside for the device that is about to be certified. The same device may
  /// come again, in case the answer was lost.
  func grant(to device: String) throws {
    let hasEnded = end != nil
    try state.withLock { state in
      if hasEnded || state.device ?? device != device { throw SyncError.invitationExpired }
      state.device = device
    }
  }
}

/// The attempt of one handshake: at most one identity, and so one guess.
final class PairingAttempt: Sendable {
  private let tried = Mutex<(identity: [UInt8], invitation: Invitation?, key: [UInt8]?)?>(nil)

  /// The invitation that the handshake named; nil when it named none that is open.
  var invitation: Invitation? { tried.withLock { $0?.invitation } }

  /// The key for an identity, if `find` knows its invitation and an attempt is left.
  func key(for identity: [UInt8], find: (String) -> Invitation?) -> [UInt8]? {
    tried.withLock { tried in
      if let tried { return tried.identity == identity ? tried.key : nil }
      guard let named = PairingIdentity(bytes: identity), let invitation = find(named.locator),
        invitation.beginAttempt()
      else {
        tried = (identity, nil, nil)
        return nil
      }
      do {
        let key = try invitation.code.preSharedKey(for: named)
        tried = (identity, invitation, key)
        return key
      } catch {
        // Without a key nobody is let in; the handshake, which cannot be told more, says so.
        tried = (identity, invitation, nil)
        return nil
      }
    }
  }
}
