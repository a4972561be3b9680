internal import Channel
internal import Exchange
internal import Synchronization
internal import System

// Connections, each on a thread of its own.
extension Service {
  func acceptor(for listener: Listener) -> Acceptor {
    Acceptor(
      listener: listener, timeouts: contexts.values.first?.timeouts ?? .standard,
      cancellation: token,
      credentials: { [contexts] notebook in try? contexts[notebook]?.credentials() },
      invitation: { [self] locator in entry(locator)?.invitation },
      welcome: { [self] connection, invitation in
        if let invitation {
          pair(connection, by: invitation)
        } else {
          hold(connection, port: listener.port)
        }
      },
      refuse: { [occurrences, log] refusal in
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
      })
  }

  /// After how long the progress of a session is told, and how often, in seconds.
  private static var progressPatience: Double { 1 }
  private static var progressPace: Double { 0.2 }

  @discardableResult
  func hold(_ connection: Connection, port: UInt16, isOpenedHere: Bool = false) -> Dialer.Outcome {
    guard case .member(let notebook, _) = connection.purpose, let context = contexts[notebook]
    else { return .refused }
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
        // It comes many times a second. Nobody watches a service, but for one that waits for a guest.
        if case .progress = event {
          guard self.tellsProgress.load(ordering: .relaxed), nextProgress.hasPassed else { return }
          nextProgress = .now + Self.progressPace
        }
        occurrences.put(.event(event))
      }
      occurrences.put(.event(.finished(result)))
      return .exchanged
    } catch {
      // Told once an hour, as an event of its own.
      if case SyncError.keyShared = error { return .refused }
      let duration = Instant.now.seconds - start.seconds
      // How a session that went on is left is told by its keeper.
      if isWatching, let reason = SyncError.quietEnd(error) {
        return reason == .duplicate ? .duplicate : .lasted(seconds: duration)
      }
      let peer = try? context.peer(at: connection)
      occurrences.put(.event(.failed(SyncFailure(peer: peer, address: address, error: error))))
      if case SyncError.peerEnded(.notAMember, _) = error { return .refused }
      return .lasted(seconds: duration)
    }
  }

  func pair(_ connection: Connection, by invitation: Invitation) {
    let address = connection.peer.description
    guard let entry = entry(invitation.locator) else { return }
    let locator = invitation.locator
    entry.held.record(.pending)
    occurrences.put(.event(.offered(locator: locator, address: address)))
    do {
      let device = try PairingServer.answer(connection, with: invitation, as: entry.context)
      entry.held.record(.joined, name: device.name, deviceID: device.deviceID)
      occurrences.put(.event(.joined(locator: locator, device: device)))
    } catch SyncError.declined {
      entry.held.record(.declined)
      occurrences.put(.event(.declined(locator: locator, address: address)))
    } catch {
      occurrences.put(.event(.failed(SyncFailure(address: address, error: error))))
    }
  }
}

extension SyncError {
  /// Why a session was ended where neither side has failed; nil for a failure.
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
