package import Channel
internal import Glibc
internal import Membership
internal import Synchronization
internal import System

/// Accepts connections at a port, performs the handshake within the limits of notes-protocol(7),
/// and passes each connection on.
///
/// One thread accepts connections and waits for their first bytes. A client that sends bytes gets a
/// thread when its handshake is computed; a silent client uses only a descriptor.
package final class Acceptor: Sendable {
  /// A connection that was refused, and the reason.
  package struct Refusal: Sendable {
    package let address: Address
    package let error: any Error
    /// The invitation for which a wrong code was tried, and the number of attempts left.
    package let attempt: (invitation: Invitation, left: Int)?
    /// The number of earlier refusals of strangers that were not reported.
    package let untold: Int
  }

  private let listener: Listener
  private let timeouts: ProtocolTimeouts
  private let cancellation: CancellationToken
  private let credentials: @Sendable (String) -> MemberCredentials?
  private let invitation: @Sendable (String) -> Invitation?
  private let welcome: @Sendable (Connection, Invitation?) -> Void
  private let tell: @Sendable (Refusal) -> Void
  let admission: Mutex<HandshakeAdmission>
  private let isClosing = Atomic(false)
  private let departures = BlockingQueue<Bool>()
  private let strangers = RefusalQuota()

  /// Cancelling the token ends `run`, every handshake and every connection.
  ///
  /// The functions are called on the connections' threads: `credentials` returns those for a
  /// notebook's ID, nil if it is not served; `invitation` returns the open one with a locator;
  /// `welcome` gets each connection with a successful handshake, as a member's or with the
  /// invitation; and `refuse` is called for refused connections. Only a few refusals of strangers are
  /// reported, so that they cannot fill a log.
  package init(
    listener: Listener, timeouts: ProtocolTimeouts, cancellation: CancellationToken,
    limits: HandshakeAdmission.Limits = .standard,
    credentials: @escaping @Sendable (String) -> MemberCredentials?,
    invitation: @escaping @Sendable (String) -> Invitation? = { _ in nil },
    welcome: @escaping @Sendable (Connection, Invitation?) -> Void,
    refuse: @escaping @Sendable (Refusal) -> Void
  ) {
    admission = Mutex(HandshakeAdmission(limits: limits))
    self.listener = listener
    self.timeouts = timeouts
    self.cancellation = cancellation
    self.credentials = credentials
    self.invitation = invitation
    self.welcome = welcome
    tell = refuse
  }

  /// How many connections are accepted before anything else is done. A member among them must not
  /// wait until each stranger before it has been handled.
  private static let batch = 256

  /// Accepts connections until cancelled.
  package func run() {
    defer {
      _ = admission.withLock { $0.dismiss(dueBy: nil) }
      departures.put(true)
    }
    while true {
      do {
        try attend()
      } catch ChannelError.cancelled {
        return
      } catch {
        // For example, there are no descriptors left: other connections must end first.
        if let untold = strangers.take() {
          tell(Refusal(address: listener.address, error: error, attempt: nil, untold: untold))
        }
        _ = departures.take(until: .now + 0.2)
        if cancellation.isCancelled { return }
      }
    }
  }

  private func attend() throws {
    let (silent, deadline) = admission.withLock { ($0.silent, $0.nextDeadline) }
    let (heard, isCalled) = try listener.wait(
      orFor: silent.map(\.socket), deadline: deadline, cancellation: cancellation)
    for candidate in heard.map({ silent[$0] }) {
      if candidate.socket.isDeserted {
        leave(candidate.ticket)
        refuse(candidate.socket, ChannelError.connectionLost)
      } else {
        compute(admission.withLock { $0.hear(candidate.ticket) })
      }
    }
    for candidate in admission.withLock({ $0.dismiss(dueBy: .after(seconds: 0)) }) {
      refuse(candidate.socket, ChannelError.timedOut(.handshake))
    }
    guard isCalled else { return }
    for socket in try listener.acceptWaiting(atMost: Self.batch) { receive(socket) }
  }

  /// Waits at most `seconds` until all connections are closed. Call it after cancelling.
  package func drain(seconds: Double) {
    let end = Instant.now + seconds
    isClosing.store(true, ordering: .sequentiallyConsistent)
    while admission.withLock({ $0.count > 0 }), Instant.now < end {
      _ = departures.take(until: end)
    }
  }

  private func receive(_ socket: Socket) {
    let dropped = admission.withLock {
      $0.arrive(socket, until: .after(seconds: timeouts.handshake)).dropped
    }
    guard let dropped else { return }
    dropped.socket.abandon()
    // If the handshake has begun, its thread notices that the connection was dropped.
    if dropped.stage != .begun { refuse(dropped.socket, SyncError.overLimit("handshakes at once")) }
  }

  /// Computes the next candidate's handshake on a new thread, which then serves the connection.
  private func compute(_ candidate: HandshakeAdmission.Candidate?) {
    guard let candidate else { return }
    do {
      try startThread { [self] in
        serve(candidate)
        leave(candidate.ticket)
      }
    } catch {
      leave(candidate.ticket)
      tell(Refusal(address: candidate.socket.peer, error: error, attempt: nil, untold: 0))
    }
  }

  private func serve(_ candidate: HandshakeAdmission.Candidate) {
    let (socket, ticket) = (candidate.socket, candidate.ticket)
    let attempt = PairingAttempt()
    let offer = ServerOffer(
      member: credentials, pairing: { [invitation] in attempt.key(for: $0, find: invitation) },
      answered: { [self] in compute(admission.withLock { $0.answered(ticket) }) })
    do {
      let connection = try Connection.accept(
        socket, offering: offer, deadline: candidate.deadline, cancellation: cancellation)
      attempt.invitation?.attemptSucceeded()
      let (isLetIn, dropped) = admission.withLock {
        $0.begin(ticket, for: connection.purpose.holder)
      }
      // The thread of the dropped handshake notices the end.
      dropped?.abandon()
      if isLetIn {
        welcome(connection, attempt.invitation)
        connection.close()
      } else {
        MessageStream(connection: connection, timeouts: timeouts)
          .close(.busy, "too many sessions at once")
        refuse(socket, SyncError.overLimit("sessions at once"))
      }
    } catch {
      // A cancelled attempt does not count as a wrong code.
      if cancellation.isCancelled {
        attempt.invitation?.attemptSucceeded()
        return
      }
      let wasDropped = admission.withLock { $0.wasDropped(ticket) }
      refuse(
        socket, wasDropped ? SyncError.overLimit("handshakes at once") : error,
        attempt: attempt.invitation.map { ($0, $0.attemptFailed()) })
    }
  }

  private func refuse(
    _ socket: Socket, _ error: any Error, attempt: (invitation: Invitation, left: Int)? = nil
  ) {
    guard let untold = attempt == nil ? strangers.take() : 0 else { return }
    tell(Refusal(address: socket.peer, error: error, attempt: attempt, untold: untold))
  }

  private func leave(_ ticket: HandshakeAdmission.Ticket) {
    compute(admission.withLock { $0.leave(ticket) })
    if isClosing.load(ordering: .sequentiallyConsistent) { departures.put(true) }
  }
}

extension Connection.Purpose {
  /// The notebook and the device on the other side, as one string; nil for a joining device.
  fileprivate var holder: String? {
    guard case .member(let notebook, let chain) = self,
      // A device's connections are counted by this string. An unreadable chain has none; the handshake refuses
      // it.
      let device = try? MembershipStore.deviceID(ofChain: chain)
    else { return nil }
    return notebook + device
  }
}

/// Limits the reports about refused strangers: their connections must not fill a log, or scroll an
/// invitation's code off the screen.
public final class RefusalQuota: Sendable {
  private let burst: Double
  private let perSecond: Double
  private let state: Mutex<State>

  private struct State: Sendable {
    var room: Double
    var last: Instant
    /// How many refusals were not reported since the last reported one.
    var untold = 0
  }

  /// How many are reported at once, and how many a second in the long run.
  public init(burst: Double = 20, perSecond: Double = 0.2) {
    self.burst = burst
    self.perSecond = perSecond
    state = Mutex(State(room: burst, last: .now))
  }

  /// Whether another refusal may be reported now: the number of refusals before it that were not reported, or nil
  /// if this refusal may not be reported either.
  public func take() -> Int? { take(.now) }

  func take(_ now: Instant) -> Int? {
    state.withLock { state in
      state.room = min(burst, state.room + max(0, now.seconds - state.last.seconds) * perSecond)
      state.last = now
      guard state.room >= 1 else {
        state.untold += 1
        return nil
      }
      state.room -= 1
      defer { state.untold = 0 }
      return state.untold
    }
  }
}
