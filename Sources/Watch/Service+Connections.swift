package import Channel
package import Exchange
internal import Synchronization
internal import System

// Keeps a session with every device of the watched notebooks, and accepts connections.
extension Service: DriverPolicy {
  package func context(of notebookID: String) -> SessionContext? { contexts[notebookID] }

  package func terms(
    of attempt: Dialer.Attempt, _ timeouts: ProtocolTimeouts
  ) -> (device: String?, seconds: Double) {
    (attempt.target.deviceID, timeouts.connect + timeouts.handshake)
  }

  package func hold(
    _ connection: Connection, with peer: PeerIdentity?, as context: SessionContext, port: UInt16?,
    for attempt: Dialer.Attempt?
  ) {
    guard let attempt else { return _ = converse(connection, as: context, port) }
    let sessions = watched[attempt.target.notebookID]?.sessions
    let hasSession = peer.map { sessions?.has($0.deviceID) == true } ?? false
    let outcome =
      hasSession ? .duplicate : converse(connection, as: context, port, isOpenedHere: true)
    occurrences.put(.ended(outcome, with: attempt.target))
  }

  package func failed(_ attempt: Dialer.Attempt, _ error: any Error) {
    log.debug("\(attempt.target.deviceID.prefix(8)) not reached: \(error)")
    occurrences.put(.ended(.failed, with: attempt.target))
  }

  package func invitation(_ locator: String) -> Invitation? { entry(locator)?.invitation }

  package func refused(_ refusal: Acceptor.Refusal) {
    if refusal.untold > 0 { log.warn("\(refusal.untold) more were refused") }
    let address = refusal.address.description
    if let attempt = refusal.attempt {
      occurrences.put(
        .event(
          .wrongCode(
            locator: attempt.invitation.locator, address: address, attemptsLeft: attempt.left)))
    } else {
      occurrences.put(.event(.failed(SyncFailure(address: address, error: refusal.error))))
    }
  }

  /// After how long the progress of a session is reported, and how often, in seconds.
  private static var progressPatience: Double { 1 }
  private static var progressPace: Double { 0.2 }

  private func converse(
    _ connection: Connection, as context: SessionContext, _ port: UInt16?,
    isOpenedHere: Bool = false
  ) -> Dialer.Outcome {
    guard case .member(let notebook, _) = connection.purpose else { return .refused }
    if isPaused.load(ordering: .relaxed) {
      Session.refuse(connection, as: context, because: .stopped)
      return .failed
    }
    var options = options
    options.port = port
    options.keeper = keepers[notebook]
    options.endsWhenDone = !isWatching
    options.isOpenedHere = isOpenedHere
    let address = connection.peer.description
    let start = Instant.now
    var nextProgress = start + Self.progressPatience
    do {
      let result = try Session.run(on: connection, as: context, options: options) {
        [occurrences] event in
        // Progress arrives many times a second. Only a service that waits for an invited device
        // shows it.
        if case .progress = event {
          guard self.tellsProgress.load(ordering: .relaxed), nextProgress.hasPassed else { return }
          nextProgress = .now + Self.progressPace
        }
        occurrences.put(.event(event))
      }
      occurrences.put(.event(.finished(result)))
      return .exchanged
    } catch {
      // The sharing of a key is reported once an hour, as an event of its own.
      if case SyncError.keyShared = error { return .refused }
      let duration = Instant.now.seconds - start.seconds
      // A quiet end is no failure: the session table reports it.
      if isWatching, let reason = SyncError.quietEnd(error) {
        return reason == .duplicate ? .duplicate : .lasted(seconds: duration)
      }
      let peer = try? context.peer(at: connection)
      occurrences.put(.event(.failed(SyncFailure(peer: peer, address: address, error: error))))
      if case SyncError.peerEnded(.notAMember, _) = error { return .refused }
      return .lasted(seconds: duration)
    }
  }

  package func pair(_ connection: Connection, by invitation: Invitation) {
    let address = connection.peer.description
    guard let entry = entry(invitation.locator) else { return }
    let locator = invitation.locator
    entry.held.record(.pending)
    occurrences.put(.event(.offered(locator: locator, address: address)))
    do {
      let device = try PairingServer.answer(
        connection, with: invitation, as: entry.context, discovery: finder)
      entry.held.record(.joined, name: device.name, deviceID: device.deviceID)
      occurrences.put(.event(.joined(locator: locator, device: device)))
    } catch SyncError.declined {
      entry.held.record(.declined)
      occurrences.put(.event(.declined(locator: locator, address: address)))
    } catch {
      // The device's command ended, or its connection.
      if invitation.end == nil { entry.held.record(.declined) }
      occurrences.put(.event(.failed(SyncFailure(address: address, error: error))))
    }
  }
}

extension SyncError {
  /// The reason why a session ended without a failure of either side; nil for a failure.
  static func quietEnd(_ error: any Error) -> ByeReason? {
    switch error {
    case SyncError.ended(let reason): reason
    case SyncError.duplicate: .duplicate
    case SyncError.peerEnded(let reason, _) where [.done, .stopped, .duplicate].contains(reason):
      reason
    default: nil
    }
  }
}
