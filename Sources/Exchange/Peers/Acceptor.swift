package import Channel
internal import Glibc
internal import Membership
internal import Synchronization
internal import System

/// Answers a port: takes each connection through its handshake within the limits of
/// notes-protocol(7), and hands it on.
///
/// One thread accepts connections and waits for their first bytes. A client that sends some costs a
/// thread from the moment the handshake is computed; a silent client costs a descriptor.
package final class Acceptor: Sendable {
  /// Why somebody was not let in.
  package struct Refusal: Sendable {
    package let address: Address
    package let error: any Error
    /// The invitation that was tried in vain, and how many tries it has left.
    package let attempt: (invitation: Invitation, left: Int)?
    /// How many strangers were refused before this one without being told.
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
  /// On the connections' threads, `credentials` gives those for a notebook's ID, nil when it is not
  /// served; `invitation` the open one with a locator; `welcome` gets each connection whose handshake
  /// succeeded, with the invitation or as a member's; and `refuse` is told who was refused. Of many
  /// strangers only a few are told, so that they can't fill a log.
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

  /// Connections that are accepted before anything else is looked at. A member among them is not to
  /// wait until each stranger before it has been dealt with.
  private static let batch = 256

  /// Accepts connections until cancelled.
  package func run() {
    defer {
      _ = admission.withLock { $0.dismiss(waitingSince: nil) }
      departures.put(true)
    }
    while true {
      do {
        try attend()
      } catch ChannelError.cancelled {
        return
      } catch {
        // No descriptors left, for instance: others have to go first.
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
    for candidate in admission.withLock({ $0.dismiss(waitingSince: .after(seconds: 0)) }) {
      refuse(candidate.socket, ChannelError.timedOut(.handshake))
    }
    guard isCalled else { return }
    for socket in try listener.acceptWaiting(atMost: Self.batch) { receive(socket) }
  }

  /// Waits until all connections are closed, at most so many seconds. To be called after cancelling.
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
    // Otherwise its thread notices.
    if dropped.stage != .begun { refuse(dropped.socket, SyncError.overLimit("handshakes at once")) }
  }

  /// Computes the handshake of a candidate whose turn it is, on a thread of its own, which stays with
  /// the connection.
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
      // Its thread notices.
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
      // Stopping is nobody's wrong code.
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
  /// The notebook and the device at the other end, together; nil for one that joins.
  fileprivate var holder: String? {
    guard case .member(let notebook, let chain) = self,
      // It counts connections of one device: a chain that cannot be read has none, and the handshake refuses it.
      let device = try? MembershipStore.deviceID(ofChain: chain)
    else { return nil }
    return notebook + device
  }
}

/// How many refusals of strangers are told: whoever connects without end is not to fill a log, or to
/// push an invitation's code off a screen.
public final class RefusalQuota: Sendable {
  private let burst: Double
  private let perSecond: Double
  private let state: Mutex<State>

  private struct State: Sendable {
    var room: Double
    var last: Instant
    /// How many were not told since the last one that was.
    var untold = 0
  }

  /// So many at once, and as many a second in the long run.
  public init(burst: Double = 20, perSecond: Double = 0.2) {
    self.burst = burst
    self.perSecond = perSecond
    state = Mutex(State(room: burst, last: .now))
  }

  /// Asks whether one more may be told; how many were passed over before it, or nil for no.
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
