internal import Discovery
internal import Membership
internal import Sync
internal import Synchronization

// What the service lets be found.
extension Service {
  func announce(
    _ context: SessionContext, port: UInt16, _ onEvent: (Event) -> Void
  ) {
    publish(record(of: context, port: port), onEvent)
  }

  func announce(
    _ invitation: Invitation, port: UInt16, _ onEvent: (Event) -> Void
  ) {
    guard let entry = entry(invitation.locator) else { return }
    publish(record(of: entry, port: port), onEvent)
    report(.invitation(OpenInvitation(invitation, port: port)), onEvent)
  }

  func publish(_ record: ServiceRecord, _ onEvent: (Event) -> Void) {
    do {
      try discovery?.publish(record)
    } catch {
      report(.discoveryFailed(error), onEvent)
    }
  }

  func withdraw(_ context: SessionContext, port: UInt16) {
    discovery?.withdraw(record(of: context, port: port))
  }

  func withdraw(_ entry: Entry, port: UInt16) {
    discovery?.withdraw(record(of: entry, port: port))
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
      let ended = open.values.filter { $0.invitation.end != nil }
      for entry in ended { open[entry.invitation.locator] = nil }
      return ended
    }
    for entry in ended {
      withdraw(entry, port: port)
      if let end = entry.invitation.end, end != .used {
        report(.ended(locator: entry.invitation.locator, end), onEvent)
      }
    }
  }
}
