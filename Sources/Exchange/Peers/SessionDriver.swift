package import Channel
internal import Membership
package import System

/// Connects this device with others: for a run of `notes sync`, which tries everybody once and ends, and for a
/// service, which keeps dialing, accepts, and stays.
///
/// It has the port and admission to it (`Acceptor`), opens connections, gives each a thread, and ends all with
/// one token. A `Dialer` decides which devices to connect to, and when; `Session` decides what a session does.
/// A run and a service differ in their `DriverPolicy`.
///
/// It knows no members, no folder, no discovery, and of invitations only that a connection may be for one.
package final class SessionDriver: Sendable {
  /// The address at which it listens; nil if it does not.
  package var address: Address? { listener?.address }

  private let policy: any DriverPolicy
  private let token: CancellationToken
  private let listener: Listener?
  private let acceptor: Acceptor?

  /// A driver that listens at an address, if there is one, and accepts nobody yet. Cancelling the token ends
  /// every handshake and every connection. Throws `ChannelError` when it cannot listen there.
  package init(
    _ policy: any DriverPolicy, listen address: Address?, timeouts: ProtocolTimeouts,
    until token: CancellationToken
  ) throws {
    let listener = try address.map { try Listener(at: $0) }
    (self.policy, self.token, self.listener) = (policy, token, listener)
    acceptor = listener.map { listener in
      Acceptor(
        listener: listener, timeouts: timeouts, cancellation: token,
        // A device that connects for a notebook that cannot be read is refused.
        credentials: { try? policy.context(of: $0)?.credentials() },
        invitation: { policy.invitation($0) },
        welcome: { connection, invitation in
          if let invitation { return policy.pair(connection, by: invitation) }
          guard case .member(let notebook, _) = connection.purpose,
            let context = policy.context(of: notebook)
          else { return }
          // Without an identity no session is held, or the session says so.
          let peer = try? context.peer(at: connection)
          policy.hold(connection, with: peer, as: context, port: listener.port, for: nil)
        }, refuse: { policy.refused($0) })
    }
  }

  /// Accepts connections on a thread of its own until cancelled, and tells of the end.
  package func accept(onEnd: @escaping @Sendable () -> Void = {}) throws {
    guard let acceptor else { return }
    try startThread {
      acceptor.run()
      onEnd()
    }
  }

  /// Opens a connection on a thread of its own, and has the policy hold it or told why there is none.
  package func open(_ attempt: Dialer.Attempt) {
    do {
      try startThread { [self] in connect(attempt) }
    } catch {
      policy.failed(attempt, error)
    }
  }

  private func connect(_ attempt: Dialer.Attempt) {
    guard let context = policy.context(of: attempt.target.notebookID) else {
      return policy.failed(attempt, SyncError.wrongNotebook)
    }
    let (device, seconds) = policy.terms(of: attempt, context.timeouts)
    do {
      let connection = try Connection.connect(
        to: attempt.addresses, as: context.credentials(for: device),
        deadline: .after(seconds: seconds), cancellation: token)
      defer { connection.close() }
      let peer = try context.peer(at: connection)
      policy.hold(connection, with: peer, as: context, port: address?.port, for: attempt)
    } catch {
      context.record(refusal: error)
      policy.failed(attempt, error)
    }
  }

  /// Waits until all connections that others opened are closed, at most so many seconds. To be called after
  /// cancelling.
  package func drain(seconds: Double) { acceptor?.drain(seconds: seconds) }
}

/// The differences between a run and a service. All is called on the connections' threads.
package protocol DriverPolicy: Sendable {
  /// This device in the notebook of that ID; nil if it is not served.
  func context(of notebookID: String) -> SessionContext?
  /// The device that must answer an attempt, nil for any member, and how many seconds it may take until
  /// then.
  func terms(
    of attempt: Dialer.Attempt, _ timeouts: ProtocolTimeouts
  ) -> (device: String?, seconds: Double)
  /// Holds a session on a connection with a member, or refuses it. The attempt is nil where the member opened
  /// it, the peer where its certificate is refused by now. The port is the one that this device listens at.
  func hold(
    _ connection: Connection, with peer: PeerIdentity?, as context: SessionContext, port: UInt16?,
    for attempt: Dialer.Attempt?)
  /// An attempt has led to no connection.
  func failed(_ attempt: Dialer.Attempt, _ error: any Error)
  /// The open invitation with this locator.
  func invitation(_ locator: String) -> Invitation?
  /// Lets somebody join who has the code of an invitation.
  func pair(_ connection: Connection, by invitation: Invitation)
  /// A connection was not admitted.
  func refused(_ refusal: Acceptor.Refusal)
}
