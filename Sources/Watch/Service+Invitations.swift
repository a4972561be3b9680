internal import Discovery
public import Exchange
public import Membership
internal import State
internal import Synchronization

// All functions here may be called from any thread, before or while the service runs.
extension Service {
  /// Makes an invitation and opens it for `seconds`, within the limit of notes-security(7). Name and ID are
  /// those of the device for which it is meant, if any. The new device becomes a device of `person`. The
  /// notebook is required if several are served. Throws like `open`.
  public func invite(
    role: Role, person: InvitedPerson = .unnamed, seconds: Double, to notebookID: String? = nil,
    name: String? = nil, deviceID: String? = nil
  ) throws -> Invitation {
    let book = try book(of: context(of: notebookID))
    let longest = ProtocolTimeouts.standard.invitation
    let invitation = try Invitation(
      role: role, person: person, lifetime: min(max(seconds, 1), longest),
      avoiding: book.usedLocators().union(invitations.withLock { Set($0.keys) }))
    try open(invitation, to: notebookID, name: name ?? person.name, deviceID: deviceID)
    return invitation
  }

  /// Opens an invitation, and records its state in the notebook's book of invitations. Throws
  /// `MembershipError.notAnAdmin` if this device may not invite, and `SyncError` if the notebook is
  /// not served or the locator is in use.
  func open(
    _ invitation: Invitation, to notebookID: String? = nil, name: String? = nil,
    deviceID: String? = nil
  ) throws {
    let context = try context(of: notebookID)
    try context.membership.refresh()
    try invitation.open(as: context)
    let held = try book(of: context).hold(invitation, for: name, deviceID: deviceID)
    let isNew = invitations.withLock { open in
      guard open[invitation.locator] == nil else { return false }
      open[invitation.locator] = Entry(invitation: invitation, context: context, held: held)
      return true
    }
    guard isNew else { throw SyncError.failed("another invitation has the same first digits") }
    occurrences.put(.opened(invitation))
  }

  func withdraw(_ invitation: Invitation) {
    invitation.finish(.withdrawn)
    occurrences.put(.changed)
  }

  private func context(of notebookID: String?) throws -> SessionContext {
    let named = notebookID.map { contexts[$0] } ?? contexts.values.first
    guard let context = named, notebookID != nil || contexts.count == 1 else {
      throw SyncError.wrongNotebook
    }
    return context
  }

  private func book(of context: SessionContext) -> InvitationBook {
    InvitationBook(stateFolder: StateFolder(ofNotebookIn: context.folder))
  }
}

// The announcements of the service.
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

  /// Announces the notebooks of which this device is a member by now.
  func publishMembers(of unpublished: inout Set<String>, port: UInt16, _ onEvent: (Event) -> Void) {
    for id in unpublished {
      guard let context = contexts[id],
        context.membership.role(ofDevice: context.key.deviceID) != nil
      else { continue }
      unpublished.remove(id)
      publish(record(of: context, port: port), onEvent)
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
      // If the invitation was used, the book has further details.
      let states: [InvitationEnd: InvitationRecord.State] = [
        .exhausted: .exhausted, .expired: .expired, .withdrawn: .cancelled,
      ]
      guard let end = entry.invitation.end, let state = states[end] else { continue }
      entry.held.record(state)
      emit(.ended(locator: entry.invitation.locator, how: end), onEvent)
    }
  }
}
