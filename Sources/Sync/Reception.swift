package import Channel
internal import Glibc
internal import Synchronization

/// Answers a port: takes each connection through its handshake on a thread of its own, within the
/// limits of notes-protocol(7), and hands it on.
///
/// Whoever connects, and whatever they send or do not send, costs one thread for as long as the
/// handshake may take, and nobody else notices.
package final class Reception: Sendable {
  /// Who is let in, and what happens then. All closures are called on the visitor's thread.
  package struct Rules: Sendable {
    /// The notebook with this ID; nil when it is not served.
    package var credentials: @Sendable (String) -> MemberCredentials?
    /// The open invitation with this locator.
    package var invitation: @Sendable (String) -> Invitation?
    /// A connection whose handshake succeeded; the invitation is nil for a member's.
    package var welcome: @Sendable (Connection, Invitation?) -> Void
    /// Somebody was refused. Of many strangers only a few are told, so that they can't fill a log.
    package var refuse: @Sendable (Refusal) -> Void

    package init(
      credentials: @escaping @Sendable (String) -> MemberCredentials?,
      invitation: @escaping @Sendable (String) -> Invitation? = { _ in nil },
      welcome: @escaping @Sendable (Connection, Invitation?) -> Void,
      refuse: @escaping @Sendable (Refusal) -> Void
    ) {
      self.credentials = credentials
      self.invitation = invitation
      self.welcome = welcome
      self.refuse = refuse
    }
  }

  /// Why somebody was not let in.
  package struct Refusal: Sendable {
    package let address: Address
    package let error: any Error
    /// The invitation that was tried in vain, and how many tries it has left.
    package let attempt: (invitation: Invitation, left: Int)?
    /// How many strangers were refused before this one without being told.
    package var untold = 0
  }

  private let listener: Listener
  private let timeouts: ProtocolTimeouts
  private let cancellation: CancellationToken
  private let rules: Rules
  private let visitors: Mutex<Visitors>
  private let isClosing = Atomic(false)
  private let departures = Mailbox<Bool>()
  private let strangers = RefusalQuota()

  /// Cancelling the token ends `run`, every handshake and every connection.
  package convenience init(
    listener: Listener, timeouts: ProtocolTimeouts, cancellation: CancellationToken, rules: Rules
  ) {
    self.init(
      listener: listener, timeouts: timeouts, cancellation: cancellation, rules: rules,
      limits: Visitors.Limits())
  }

  init(
    listener: Listener, timeouts: ProtocolTimeouts, cancellation: CancellationToken, rules: Rules,
    limits: Visitors.Limits
  ) {
    visitors = Mutex(Visitors(limits: limits))
    self.listener = listener
    self.timeouts = timeouts
    self.cancellation = cancellation
    self.rules = rules
  }

  /// Accepts connections until cancelled.
  package func run() {
    while true {
      do {
        receive(try listener.accept(cancellation: cancellation))
      } catch ChannelError.cancelled {
        return
      } catch {
        // No descriptors left, for instance: others have to go first.
        rules.refuse(Refusal(address: listener.address, error: error, attempt: nil))
        _ = departures.take(until: .now + 0.2)
        if cancellation.isCancelled { return }
      }
    }
  }

  /// Waits until all visitors have gone, at most so many seconds. To be called after cancelling.
  package func drain(seconds: Double) {
    let end = Moment.now + seconds
    isClosing.store(true, ordering: .sequentiallyConsistent)
    while visitors.withLock({ $0.count > 0 }), Moment.now < end {
      _ = departures.take(until: end)
    }
  }

  private func receive(_ socket: Socket) {
    let (ticket, dropped) = visitors.withLock { $0.arrive(socket) }
    dropped?.abandon()
    do {
      try startThread { [self] in
        serve(socket, ticket)
        leave(ticket)
      }
    } catch {
      leave(ticket)
      rules.refuse(Refusal(address: socket.peer, error: error, attempt: nil))
    }
  }

  private func serve(_ socket: Socket, _ ticket: Visitors.Ticket) {
    let attempt = PairingAttempt()
    let offer = ServerOffer(
      member: rules.credentials,
      pairing: { [rules] in attempt.key(for: $0, find: rules.invitation) },
      begin: { [self] in try awaitTurn(ticket) },
      answered: { [self] in visitors.withLock { $0.answered(ticket) } })
    do {
      let connection = try Connection.accept(
        socket, offering: offer, deadline: .after(seconds: timeouts.handshake),
        cancellation: cancellation)
      attempt.invitation?.attemptSucceeded()
      if visitors.withLock({ $0.begin(ticket) }) {
        rules.welcome(connection, attempt.invitation)
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
      let wasDropped = visitors.withLock { $0.wasDropped(ticket) }
      refuse(
        socket, wasDropped ? SyncError.overLimit("handshakes at once") : error,
        attempt: attempt.invitation.map { ($0, $0.attemptFailed()) })
    }
  }

  /// Waits until this handshake may be computed; throws when it has been dropped.
  private func awaitTurn(_ ticket: Visitors.Ticket) throws {
    _ = visitors.withLock { $0.ask(ticket) }?.take(until: .now + timeouts.handshake)
    if visitors.withLock({ $0.wasDropped(ticket) }) {
      throw SyncError.overLimit("handshakes at once")
    }
  }

  private func refuse(
    _ socket: Socket, _ error: any Error, attempt: (invitation: Invitation, left: Int)? = nil
  ) {
    var refusal = Refusal(address: socket.peer, error: error, attempt: attempt)
    if attempt == nil {
      guard let untold = strangers.take() else { return }
      refusal.untold = untold
    }
    rules.refuse(refusal)
  }

  private func leave(_ ticket: Visitors.Ticket) {
    visitors.withLock { $0.leave(ticket) }
    if isClosing.load(ordering: .sequentiallyConsistent) { departures.put(true) }
  }
}
