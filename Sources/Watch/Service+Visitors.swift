internal import Channel
internal import Membership
internal import Sync
internal import Synchronization

// Connections, each on a thread of its own.
extension Service {
  func rules(port: UInt16) -> Reception.Rules {
    Reception.Rules(
      credentials: { [contexts] notebook in try? contexts[notebook]?.credentials() },
      invitation: { [self] locator in entry(locator)?.invitation },
      welcome: { [self] connection, invitation in
        if let invitation {
          pair(connection, by: invitation)
        } else {
          hold(connection, port: port)
        }
      },
      refuse: { [occurrences, log] refusal in
        if refusal.untold > 0 { log.warn("\(refusal.untold) more were refused") }
        let address = refusal.address.description
        if let attempt = refusal.attempt {
          occurrences.put(
            .event(
              .wrongCode(attempt.invitation, address: address, attemptsLeft: attempt.left)))
        } else {
          occurrences.put(.event(.failed(peer: nil, address: address, refusal.error)))
        }
      })
  }

  /// Holds a session to its end.
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
    options.keeper = watched[notebook]
    options.isOpenedHere = isOpenedHere
    let address = connection.peer.description
    let start = Moment.now
    do {
      let result = try Session.run(on: connection, as: context, options: options) {
        [occurrences] event in
        switch event {
        case .peer(let peer): occurrences.put(.event(.peer(peer)))
        case .received(let peer, let join):
          occurrences.put(.event(.received(from: peer, join)))
        case .differs(let peer, let difference):
          occurrences.put(.event(.differs(peer, difference)))
        case .replaced(let plain):
          occurrences.put(.event(.watch(.replaced(notebook, plain))))
        case .refused(let peer, let error):
          occurrences.put(.event(.failed(peer: peer, address: peer.address, error)))
        default: break
        }
      }
      occurrences.put(.event(.finished(result)))
      return .exchanged
    } catch {
      let duration = Moment.now.seconds - start.seconds
      // How a session that stood is left is told by its keeper.
      if options.keeper != nil, let reason = SyncError.quietEnd(error) {
        return reason == .duplicate ? .duplicate : .stood(seconds: duration)
      }
      let peer = (try? context.member(at: connection)).map {
        PeerIdentity(name: $0.name, deviceID: $0.deviceID, role: $0.role, address: address)
      }
      occurrences.put(.event(.failed(peer: peer, address: address, error)))
      if case SyncError.peerEnded(.notAMember, _) = error { return .refused }
      return .stood(seconds: duration)
    }
  }

  func pair(_ connection: Connection, by invitation: Invitation) {
    let address = connection.peer.description
    guard let entry = entry(invitation.code.locator) else { return }
    occurrences.put(.event(.offered(invitation, address: address)))
    do {
      let device = try Pairing.answer(connection, with: invitation, as: entry.context)
      occurrences.put(.event(.joined(invitation, device)))
    } catch SyncError.declined {
      occurrences.put(.event(.declined(invitation, address: address)))
    } catch {
      occurrences.put(.event(.failed(peer: nil, address: address, error)))
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
