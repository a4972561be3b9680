package import Channel
internal import Discovery
package import Membership
internal import Synchronization
internal import System

/// The threads of a run: one that accepts, one a session, one that talks to discovery. They put
/// what happens into a mailbox, which the run's own thread reads.
final class SyncWorkers: Sendable {
  enum Occurrence: Sendable {
    case event(Event)
    case discovered(DiscoveryEvent)
    case discoveryFailed(any Error)
    /// A device has connected to us, and is a member.
    case arrived(device: String)
    /// A session that it opened is over.
    case departed(device: String, Result<SessionResult, SyncFailure>)
    /// What became of a target.
    case tried(SyncTarget, Result<SessionResult, SyncFailure>)
  }

  let occurrences = BlockingQueue<Occurrence>()
  /// Where we listen, if we do.
  let listener: Listener?

  private let context: SessionContext
  private let options: SessionOptions
  private let discovery: (any Discovery)?
  private let allowed: Set<String>?
  private let token: CancellationToken
  private let reception: Mutex<Acceptor?> = Mutex(nil)
  private let acceptEnded = BlockingQueue<Bool>()
  private let keeper: DirectKeeper

  init(_ run: SyncRun, allowed: Set<String>?) throws {
    context = run.context
    discovery = run.discovery
    self.allowed = allowed
    token = try CancellationToken()
    listener = try run.listen.map { try Listener(at: $0) }
    var options = run.options
    options.port = listener?.port
    keeper = DirectKeeper(context, allowsMassDeletion: options.allowsMassDeletion)
    options.keeper = keeper
    self.options = options
    if let listener { try accept(on: listener) }
    if discovery != nil { try startThread { [self] in look(for: run) } }
  }

  /// Ends all that is under way and waits for it.
  func stop() {
    token.cancel()
    discovery?.stop()
    // The reception refers back to here: without it the port is closed with the last thread.
    let reception = reception.withLock { reception in
      defer { reception = nil }
      return reception
    }
    if let reception {
      _ = acceptEnded.take(until: .now + 2)
      reception.drain(seconds: 2)
    }
  }

  // MARK: Discovery. It may keep us waiting, so it has a thread of its own.

  private func look(for run: SyncRun) {
    guard let discovery else { return }
    do {
      if let port = listener?.port {
        try discovery.publish(
          .notebook(
            id: context.membership.notebookID, device: context.key.deviceID, port: port))
      }
      if run.addresses.isEmpty {
        try discovery.browse(.notebook) { [occurrences] event in
          if case .interrupted(let error) = event {
            occurrences.put(.discoveryFailed(error))
          } else {
            occurrences.put(.discovered(event))
          }
        }
      }
    } catch {
      if !token.isCancelled { occurrences.put(.discoveryFailed(error)) }
    }
  }

  // MARK: Connections that others open

  private func accept(on listener: Listener) throws {
    let rules = Acceptor.Rules(
      credentials: { [context] notebook in
        notebook == context.membership.notebookID ? try? context.credentials() : nil
      },
      welcome: { [self] connection, _ in welcome(connection) },
      // Whoever has no business here is none of this run's.
      refuse: { _ in })
    let reception = Acceptor(
      listener: listener, timeouts: context.timeouts, cancellation: token, rules: rules)
    self.reception.withLock { $0 = reception }
    try startThread { [acceptEnded] in
      reception.run()
      acceptEnded.put(true)
    }
  }

  private func welcome(_ connection: Connection) {
    guard let member = try? context.member(at: connection) else { return }
    let stream = MessageStream(connection: connection, timeouts: context.timeouts)
    let device = member.deviceID
    if device == context.key.deviceID { return stream.close(.duplicate) }
    if let allowed, !allowed.contains(device) { return stream.close(.busy) }
    occurrences.put(.arrived(device: device))
    let result = converse(connection, member)
    occurrences.put(.departed(device: device, result))
  }

  // MARK: Connections that we open

  /// Tries a target on a thread of its own; what became of it is an occurrence.
  func start(_ target: SyncTarget) {
    do {
      try startThread { [self] in attempt(target) }
    } catch {
      occurrences.put(.tried(target, .failure(target.failure(error))))
    }
  }

  private func attempt(_ target: SyncTarget) {
    do {
      let connection = try Connection.connect(
        to: target.addresses, as: context.credentials(),
        deadline: .after(seconds: target.patience(context.timeouts)), cancellation: token)
      defer { connection.close() }
      let member = try context.member(at: connection)
      if member.deviceID == context.key.deviceID { throw SyncError.ownAddress }
      let result = converse(connection, member, isOpenedHere: true)
      occurrences.put(.tried(target, result))
    } catch {
      occurrences.put(.tried(target, .failure(target.failure(error))))
    }
  }

  /// Whether a session with a device is under way.
  func isBusy(with device: String) -> Bool { keeper.sessions.isBusy(with: device) }

  private func converse(
    _ connection: Connection, _ member: Member, isOpenedHere: Bool = false
  ) -> Result<SessionResult, SyncFailure> {
    var options = options
    options.isOpenedHere = isOpenedHere
    do {
      return .success(
        try Session.run(on: connection, as: context, options: options) { [occurrences] in
          occurrences.put(.event($0))
        })
    } catch {
      return .failure(
        SyncFailure(
          PeerIdentity(
            name: member.name, deviceID: member.deviceID, role: member.role,
            address: connection.peer.description), error))
    }
  }
}

extension SessionContext {
  /// The member at the other end.
  package func member(at connection: Connection) throws -> Member {
    guard case .member(_, let chain) = connection.purpose else {
      throw SyncError.protocolBroken("not a member's connection")
    }
    return try membership.verify(chain: chain)
  }
}
