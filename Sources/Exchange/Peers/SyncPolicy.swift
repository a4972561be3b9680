internal import Channel
internal import Discovery
internal import Membership
internal import System

/// A run's policy for connections: one notebook, and sessions that end. The sessions' threads put events into a
/// queue, which the run's own thread reads.
final class SyncPolicy: DriverPolicy {
  enum Occurrence: Sendable {
    case event(Event)
    case discovered(DiscoveryEvent)
    case discoveryFailed(any Error)
    case arrived
    case departed(device: String, Result<SessionResult, SyncFailure>)
    case tried(Dialer.Attempt, Result<SessionResult, SyncFailure>)
  }

  let occurrences = BlockingQueue<Occurrence>()
  /// Ends all connections.
  let token: CancellationToken

  private let run: SyncRun
  /// The devices that may connect; nil for all members.
  private let allowed: Set<String>?
  private let keeper: DirectKeeper

  private var context: SessionContext { run.context }

  init(_ run: SyncRun, _ keeper: DirectKeeper, allowed: Set<String>?) throws {
    (self.run, self.keeper, self.allowed) = (run, keeper, allowed)
    token = try CancellationToken()
  }

  /// Announces this device, and looks for others. May block for long.
  func look(with discovery: any Discovery, port: UInt16?) {
    do {
      if let port {
        try discovery.publish(
          .notebook(id: context.membership.notebookID, device: context.key.deviceID, port: port))
      }
      guard run.addresses.isEmpty else { return }
      try discovery.browse(.notebook) { [occurrences] in occurrences.put(.discovered($0)) }
    } catch {
      if !token.isCancelled { occurrences.put(.discoveryFailed(error)) }
    }
  }

  func isBusy(with device: String) -> Bool { keeper.sessions.isBusy(with: device) }

  // MARK: DriverPolicy

  func context(of notebookID: String) -> SessionContext? {
    notebookID == context.membership.notebookID ? context : nil
  }

  func terms(
    of attempt: Dialer.Attempt, _ timeouts: ProtocolTimeouts
  ) -> (device: String?, seconds: Double) {
    // An attempt at a recorded address is short, because a device is rarely still there.
    let isHopeful = attempt.isAnnounced || !run.addresses.isEmpty
    return (nil, isHopeful ? timeouts.connect + timeouts.handshake : min(2, timeouts.connect))
  }

  func hold(
    _ connection: Connection, with peer: PeerIdentity?, as context: SessionContext, port: UInt16?,
    for attempt: Dialer.Attempt?
  ) {
    guard let peer else { return }
    let isOwn = peer.deviceID == context.key.deviceID
    if attempt == nil, !isOwn {
      if let allowed, !allowed.contains(peer.deviceID) {
        return MessageStream(connection: connection, timeouts: context.timeouts).close(.busy)
      }
      occurrences.put(.arrived)
    }
    // This device exchanges nothing with a device of the same ID, on whichever machine that is.
    let result = converse(connection, peer, port, isOpenedHere: attempt != nil)
    if let attempt {
      if isOwn, case .failure(let refusal) = result { return failed(attempt, refusal.error) }
      occurrences.put(.tried(attempt, result))
    } else if !isOwn {
      occurrences.put(.departed(device: peer.deviceID, result))
    }
  }

  func failed(_ attempt: Dialer.Attempt, _ error: any Error) {
    let device = attempt.target.deviceID
    let isKnown = !run.addresses.contains { $0.description == device }
    let failure = SyncFailure(
      device: isKnown ? device : nil, address: attempt.addresses.first?.description ?? "",
      error: error)
    occurrences.put(.tried(attempt, .failure(failure)))
  }

  // A run has no invitations, and ignores refused connections.
  func invitation(_ locator: String) -> Invitation? { nil }
  func pair(_ connection: Connection, by invitation: Invitation) {}
  func refused(_ refusal: Acceptor.Refusal) {}

  private func converse(
    _ connection: Connection, _ peer: PeerIdentity, _ port: UInt16?, isOpenedHere: Bool
  ) -> Result<SessionResult, SyncFailure> {
    var options = run.options
    (options.port, options.keeper, options.isOpenedHere) = (port, keeper, isOpenedHere)
    return Result {
      try Session.run(on: connection, as: context, options: options) { [occurrences] in
        occurrences.put(.event($0))
      }
    }.mapError { SyncFailure(peer: peer, address: peer.address, error: $0) }
  }
}
