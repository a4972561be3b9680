public import Membership
internal import Synchronization
internal import System

/// The reason why an invitation is no longer open.
public enum InvitationEnd: String, Codable, Sendable {
  case used
  /// Too many attempts with a wrong code.
  case exhausted
  case expired
  case withdrawn
}

/// An invitation that waits for a device: its code, and the attempts to use it. All functions may be called
/// from any thread.
///
/// By notes-protocol(7), PAIRING, it ends 10 min after it was made, when it was used, or with the third wrong
/// attempt. Attempts from all addresses count together.
public final class Invitation: Sendable {
  /// The code for the joining device's user. Secret except for its locator.
  public let code: InvitationCode
  /// Identifies an open invitation of a device. Not secret.
  public var locator: String { code.locator }
  /// The role the device gets.
  public let role: Role
  /// The person to whom the joining device will belong.
  package let person: InvitedPerson
  /// When the invitation ends, in seconds since 1970.
  public let expires: Int64

  package let deadline: Instant
  private let state = Mutex(State())

  private struct State {
    /// Handshakes that were given the key and are not finished.
    var pending = 0
    var wrong = 0
    var end: InvitationEnd?
    /// The device that was certified; no other can be.
    var device: String?
    var request: MemberRequest?
  }

  /// How many invitations one command may open at once.
  public static let mostAtOnce = 10

  /// How many wrong attempts end an invitation.
  static let attempts = 3

  /// A new invitation with this lifetime in seconds, and with a locator that is not in `locators`.
  package init(
    role: Role, person: InvitedPerson = .unnamed,
    lifetime: Double = ProtocolTimeouts.standard.invitation, avoiding locators: Set<String> = []
  ) throws {
    // A code has one of only a hundred locators.
    guard locators.count < 64 else { throw SyncError.failed("too many invitations are open") }
    var code = try InvitationCode.random()
    while locators.contains(code.locator) { code = try InvitationCode.random() }
    self.code = code
    (self.role, self.person) = (role, person)
    expires = WallClock.now() + Int64(lifetime)
    deadline = .now + lifetime
  }

  /// The reason why the invitation is no longer open; nil while it is open.
  public var end: InvitationEnd? {
    state.withLock { $0.end } ?? (Instant.now >= deadline ? .expired : nil)
  }

  /// The request to the admins' devices, if a member that is not an admin made the invitation; otherwise nil.
  var request: MemberRequest? { state.withLock { $0.request } }

  /// Decides by this device's role now whether the invitation is an admin's or a member's request, which it stays.
  /// A request is signed here, so the admins know one invitation for a code, however often the new device tries.
  /// Throws `MembershipError.notAnAdmin` if this device may not invite.
  package func open(as context: SessionContext) throws {
    let (membership, key) = (context.membership, context.key)
    let own = membership.role(ofDevice: key.deviceID)
    guard let own, own == .admin || person == .own && role <= own else {
      throw MembershipError.notAnAdmin(device: key.deviceID)
    }
    guard own != .admin else { return }
    let secret = try InvitationSecret()
    let offer = try InvitationOffer(
      secret, to: membership, role: role, person: .own, expires: expires, by: key)
    state.withLock { $0.request = MemberRequest(secret: secret, offer: offer) }
  }

  /// Closes the invitation, unless it is closed.
  package func finish(_ end: InvitationEnd) {
    if self.end == nil { state.withLock { $0.end = $0.end ?? end } }
  }

  /// Uses up one attempt; returns false if none is left. Attempts in progress count, so parallel attempts get
  /// no more guesses than consecutive ones.
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

  /// Reserves the invitation for the device that will be certified. The same device may return, in
  /// case the answer was lost.
  func grant(to device: String) throws {
    let hasEnded = end != nil
    try state.withLock { state in
      if hasEnded || state.device ?? device != device { throw SyncError.invitationExpired }
      state.device = device
    }
  }
}

/// The attempt of one handshake. It names at most one identity, so it is at most one guess.
final class PairingAttempt: Sendable {
  private let tried = Mutex<(identity: [UInt8], invitation: Invitation?, key: [UInt8]?)?>(nil)

  /// The invitation that the handshake named; nil if it named no open invitation.
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
        // Without a key the handshake fails. The callback has no other way to report an error.
        tried = (identity, invitation, nil)
        return nil
      }
    }
  }
}
