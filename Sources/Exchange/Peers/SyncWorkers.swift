internal import Channel
internal import Discovery
internal import Membership
internal import System

/// The threads of a run: one that accepts, one a session, one that talks to discovery. They put
/// what happens into a queue, which the run's own thread reads.
final class SyncWorkers: Sendable {
  enum Occurrence: Sendable {
    case event(Event)
    case discovered(DiscoveryEvent)
    case discoveryFailed(any Error)
    case arrived
    case departed(device: String, Result<SessionResult, SyncFailure>)
    case tried(Dialer.Attempt, Result<SessionResult, SyncFailure>)
  }

  let occurrences = BlockingQueue<Occurrence>()
  let listener: Listener?

  private let run: SyncRun
  /// The devices that may connect; nil: all members.
  private let allowed: Set<String>?
  private let token: CancellationToken
  private let keeper: DirectKeeper

  private var context: SessionContext { run.context }

  init(_ run: SyncRun, _ keeper: DirectKeeper, allowed: Set<String>?) throws {
    self.keeper = keeper
    self.allowed = allowed
    token = try CancellationToken()
    listener = try run.listen.map { try Listener(at: $0) }
    var run = run
    run.options.port = listener?.port
    run.options.keeper = keeper
    self.run = run
  }

  /// Starts to listen and to look for others. What it returns ends all that is under way, and waits
  /// for it.
  func begin() throws -> () -> Void {
    let acceptor = listener.map { listener in
      Acceptor(
        listener: listener, timeouts: context.timeouts, cancellation: token,
        credentials: { [context] notebook in
          notebook == context.membership.notebookID ? try? context.credentials() : nil
        }, welcome: { [self] connection, _ in welcome(connection) },
        // Whoever has no business here is none of this run's.
        refuse: { _ in })
    }
    let stop = { [token, discovery = run.discovery] in
      token.cancel()
      discovery?.stop()
      acceptor?.drain(seconds: 2)
    }
    do {
      if let acceptor { try startThread { acceptor.run() } }
      // Discovery may keep us waiting, so it has a thread of its own.
      if let discovery = run.discovery { try startThread { [self] in look(with: discovery) } }
    } catch {
      stop()
      throw error
    }
    return stop
  }

  private func look(with discovery: any Discovery) {
    do {
      if let port = listener?.port {
        try discovery.publish(
          .notebook(id: context.membership.notebookID, device: context.key.deviceID, port: port))
      }
      guard run.addresses.isEmpty else { return }
      try discovery.browse(.notebook) { [occurrences] in occurrences.put(.discovered($0)) }
    } catch {
      if !token.isCancelled { occurrences.put(.discoveryFailed(error)) }
    }
  }

  private func welcome(_ connection: Connection) {
    guard let peer = try? context.peer(at: connection) else { return }
    if peer.deviceID == context.key.deviceID {
      // Whichever machine it is, nothing is exchanged.
      _ = converse(connection, peer, isOpenedHere: false)
      return
    }
    if let allowed, !allowed.contains(peer.deviceID) {
      return MessageStream(connection: connection, timeouts: context.timeouts).close(.busy)
    }
    occurrences.put(.arrived)
    let result = converse(connection, peer, isOpenedHere: false)
    occurrences.put(.departed(device: peer.deviceID, result))
  }

  /// Connects on a thread of its own; what became of it is an occurrence.
  func start(_ attempt: Dialer.Attempt) {
    do {
      try startThread { [self] in occurrences.put(.tried(attempt, connect(attempt))) }
    } catch {
      occurrences.put(.tried(attempt, .failure(failure(of: attempt, error))))
    }
  }

  private func connect(_ attempt: Dialer.Attempt) -> Result<SessionResult, SyncFailure> {
    let timeouts = context.timeouts
    // Where a device was once, most often nobody is any more.
    let isHopeful = attempt.isAnnounced || !run.addresses.isEmpty
    let patience = isHopeful ? timeouts.connect + timeouts.handshake : min(2, timeouts.connect)
    do {
      let connection = try Connection.connect(
        to: attempt.addresses, as: context.credentials(), deadline: .after(seconds: patience),
        cancellation: token)
      defer { connection.close() }
      let peer = try context.peer(at: connection)
      let result = converse(connection, peer, isOpenedHere: true)
      if peer.deviceID == context.key.deviceID, case .failure(let refusal) = result {
        return .failure(failure(of: attempt, refusal.error))
      }
      return result
    } catch {
      context.record(refusal: error)
      return .failure(failure(of: attempt, error))
    }
  }

  private func failure(of attempt: Dialer.Attempt, _ error: any Error) -> SyncFailure {
    let device = attempt.target.deviceID
    let isKnown = !run.addresses.contains { $0.description == device }
    return SyncFailure(
      device: isKnown ? device : nil, address: attempt.addresses.first?.description ?? "",
      error: error)
  }

  func isBusy(with device: String) -> Bool { keeper.sessions.isBusy(with: device) }

  private func converse(
    _ connection: Connection, _ peer: PeerIdentity, isOpenedHere: Bool
  ) -> Result<SessionResult, SyncFailure> {
    var options = run.options
    options.isOpenedHere = isOpenedHere
    return Result {
      try Session.run(on: connection, as: context, options: options) { [occurrences] in
        occurrences.put(.event($0))
      }
    }.mapError { SyncFailure(peer: peer, address: peer.address, error: $0) }
  }
}
