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
    /// Somebody was refused.
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
  }

  private let listener: Listener
  private let timeouts: ProtocolTimeouts
  private let cancellation: CancellationToken
  private let rules: Rules
  private let visitors = Mutex(Visitors())
  private let departures = Mailbox<Bool>()

  private struct Visitors {
    var count = 0
    var byHost: [String: Int] = [:]
    var isClosing = false
  }

  /// Cancelling the token ends `run`, every handshake and every connection.
  package init(
    listener: Listener, timeouts: ProtocolTimeouts, cancellation: CancellationToken, rules: Rules
  ) {
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
    while visitors.withLock({
      $0.isClosing = true
      return $0.count > 0
    }), Moment.now < end {
      _ = departures.take(until: end)
    }
  }

  private func receive(_ socket: Socket) {
    let host = socket.peer.host
    guard admit(host) else {
      let error = SyncError.overLimit("connections at once")
      return rules.refuse(Refusal(address: socket.peer, error: error, attempt: nil))
    }
    do {
      try startThread { [self] in
        serve(socket)
        leave(host)
      }
    } catch {
      leave(host)
      rules.refuse(Refusal(address: socket.peer, error: error, attempt: nil))
    }
  }

  private func serve(_ socket: Socket) {
    let attempt = PairingAttempt()
    let offer = ServerOffer(
      member: rules.credentials,
      pairing: { [rules] in attempt.key(for: $0, find: rules.invitation) })
    do {
      let connection = try Connection.accept(
        socket, offering: offer, deadline: .after(seconds: timeouts.handshake),
        cancellation: cancellation)
      attempt.invitation?.attemptSucceeded()
      rules.welcome(connection, attempt.invitation)
      connection.close()
    } catch {
      // Stopping is nobody's wrong code.
      if cancellation.isCancelled {
        attempt.invitation?.attemptSucceeded()
      } else {
        rules.refuse(
          Refusal(
            address: socket.peer, error: error,
            attempt: attempt.invitation.map { ($0, $0.attemptFailed()) }))
      }
    }
  }

  private func admit(_ host: String) -> Bool {
    visitors.withLock { visitors in
      guard visitors.count < ProtocolLimits.sessions,
        visitors.byHost[host, default: 0] < ProtocolLimits.sessionsPerAddress
      else { return false }
      visitors.count += 1
      visitors.byHost[host, default: 0] += 1
      return true
    }
  }

  private func leave(_ host: String) {
    let isWaitedFor = visitors.withLock { visitors in
      visitors.count -= 1
      visitors.byHost[host, default: 1] -= 1
      if visitors.byHost[host] == 0 { visitors.byHost[host] = nil }
      return visitors.isClosing
    }
    if isWaitedFor { departures.put(true) }
  }
}
