internal import Discovery
internal import Membership
internal import Sync
internal import Synchronization

// What the service lets be found.
extension Service {
  func announce(_ invitation: Invitation, port: UInt16, _ onEvent: (Event) -> Void) {
    guard let entry = entry(invitation.locator) else { return }
    publish(record(of: entry, port: port), onEvent)
    emit(.invitation(open: OpenInvitation(invitation, port: port)), onEvent)
  }

  func publish(_ record: ServiceRecord, _ onEvent: (Event) -> Void) {
    do {
      try discovery?.publish(record)
    } catch {
      emit(.discoveryFailed(cause: Cause(error)), onEvent)
    }
  }

  func record(of context: SessionContext, port: UInt16) -> ServiceRecord {
    .notebook(id: context.membership.notebookID, device: context.key.deviceID, port: port)
  }

  func record(of entry: Entry, port: UInt16) -> ServiceRecord {
    .invitation(
      locator: entry.invitation.locator, notebook: entry.context.membership.notebookID,
      device: entry.context.key.deviceID, port: port)
  }

  func endInvitations(port: UInt16, _ onEvent: (Event) -> Void) {
    let ended = invitations.withLock { open in
      for entry in open.values where entry.held.isCancelled { entry.invitation.finish(.withdrawn) }
      let ended = open.values.filter { $0.invitation.end != nil }
      for entry in ended { open[entry.invitation.locator] = nil }
      return ended
    }
    for entry in ended {
      discovery?.withdraw(record(of: entry, port: port))
      guard let end = entry.invitation.end, let state = end.state else { continue }
      entry.held.record(state)
      emit(.ended(locator: entry.invitation.locator, how: end), onEvent)
    }
  }
}

extension InvitationEnd {
  /// What the book calls it; nil for one that was used, of which the book says more.
  fileprivate var state: InvitationRecord.State? {
    switch self {
    case .used: nil
    case .exhausted: .exhausted
    case .expired: .expired
    case .withdrawn: .cancelled
    }
  }
}
