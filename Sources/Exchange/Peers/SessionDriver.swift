package import Channel
internal import Membership
package import System

/// Connects this device with others, for a run of `notes sync` and for a service. A run tries each device once
/// and ends; a service keeps connecting, and accepts connections.
///
/// The driver has the port and admits connections to it (`Acceptor`), opens connections, gives each a thread,
/// and ends all with one token. A `Dialer` decides which devices to connect to, and when; `Session` decides the
/// steps of a session. A run and a service differ in their `DriverPolicy`.
///
/// The driver does not know members, folders and discovery. Of invitations it knows only that a connection may
/// be for one.
package final class SessionDriver: Sendable {
  /// The address at which the driver listens; nil if it does not listen.
  package var address: Address? { listener?.address }

  private let policy: any DriverPolicy
  private let token: CancellationToken
  private let listener: Listener?
  private let acceptor: Acceptor?

  /// A driver that listens at `address`, if given, and does not accept connections yet. Cancelling the token
  /// ends every handshake and every connection. Throws `ChannelError` if it cannot listen there.
  package init(
    _ policy: any DriverPolicy, listen address: Address?, timeouts: ProtocolTimeouts,
    until token: CancellationToken
  ) throws {
    let listener = try address.map { try Listener(at: $0) }
    (self.policy, self.token, self.listener) = (policy, token, listener)
    acceptor = listener.map { listener in
      Acceptor(
        listener: listener, timeouts: timeouts, cancellation: token,
        // If a notebook cannot be read, connections for it are refused.
        credentials: { try? policy.context(of: $0)?.credentials() },
        invitation: { policy.invitation($0) },
        welcome: { connection, invitation in
          if let invitation { return policy.pair(connection, by: invitation) }
          guard case .member(let notebook, _) = connection.purpose,
            let context = policy.context(of: notebook)
          else { return }
          // If the identity cannot be read, there is no session, or the session reports the error.
          let peer = try? context.peer(at: connection)
          policy.hold(connection, with: peer, as: context, port: listener.port, for: nil)
        }, refuse: { policy.refused($0) })
    }
  }

  /// Accepts connections on a thread of its own until cancelled, and then calls `onEnd`.
  package func accept(onEnd: @escaping @Sendable () -> Void = {}) throws {
    guard let acceptor else { return }
    try startThread {
      acceptor.run()
      onEnd()
    }
  }

  /// Opens a connection on a thread of its own, and passes the connection or the error to the
  /// policy.
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

  /// Waits at most `seconds` until all connections opened by others are closed. Call it after cancelling.
  package func drain(seconds: Double) { acceptor?.drain(seconds: seconds) }
}

/// The differences between a run and a service. All functions are called on the connections'
/// threads.
package protocol DriverPolicy: Sendable {
  /// This device in the notebook with that ID; nil if it does not serve the notebook.
  func context(of notebookID: String) -> SessionContext?
  /// The device that must answer an attempt, nil for any member, and how many seconds the attempt may
  /// take.
  func terms(
    of attempt: Dialer.Attempt, _ timeouts: ProtocolTimeouts
  ) -> (device: String?, seconds: Double)
  /// Holds a session on a connection with a member, or refuses it. `attempt` is nil if the member opened the
  /// connection; `peer` is nil if the member's certificate is no longer accepted. `port` is the port at which
  /// this device listens.
  func hold(
    _ connection: Connection, with peer: PeerIdentity?, as context: SessionContext, port: UInt16?,
    for attempt: Dialer.Attempt?)
  /// An attempt failed to connect.
  func failed(_ attempt: Dialer.Attempt, _ error: any Error)
  /// The open invitation with this locator.
  func invitation(_ locator: String) -> Invitation?
  /// Lets a device join that has the code of an invitation.
  func pair(_ connection: Connection, by invitation: Invitation)
  /// A connection was not admitted.
  func refused(_ refusal: Acceptor.Refusal)
}
