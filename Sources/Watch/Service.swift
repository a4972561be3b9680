public import Channel
public import Discovery
public import Logging
internal import Membership
public import Sync
internal import Synchronization

/// Listens for the members of some notebooks and for those who are invited, until it is stopped.
///
/// It is what `notes serve` runs, and what waits for the new device in `notes invite`. Whatever a
/// peer does, others are served.
public final class Service: Sendable {
  private let contexts: [String: SessionContext]
  private let discovery: (any Discovery)?
  private let address: Address
  private let options: SessionOptions
  let log: ServiceLog
  private let occurrences = Mailbox<Occurrence>()
  private let invitations = Mutex<[String: Entry]>([:])

  private struct Entry: Sendable {
    let invitation: Invitation
    let context: SessionContext
  }

  private func entry(_ locator: String) -> Entry? { invitations.withLock { $0[locator] } }

  private enum Occurrence: Sendable {
    case event(ServiceEvent)
    case opened(Invitation)
    /// Something may have changed that the loop looks at anyway.
    case changed
    case stopped
  }

  /// How long a new member may take to begin and end its first session, in seconds, where the
  /// service waits for it.
  private static let firstSession = 30.0
  /// How often a cancellation is looked for where the service may end by itself, in seconds.
  private static let tick = 0.1
  /// How long those who are connected get to notice that the service stops, in seconds.
  private static let farewell = 3.0

  /// A service for these notebooks, which listens at `address`. What it announces through
  /// `discovery` it also withdraws; it does not stop it.
  public init(
    contexts: [SessionContext], discovery: (any Discovery)?,
    listen address: Address = Address(host: Address.anyHost, port: 0), logger: Logger,
    options: SessionOptions = SessionOptions()
  ) {
    self.contexts = Dictionary(
      contexts.map { ($0.membership.notebookID, $0) }, uniquingKeysWith: { first, _ in first })
    self.discovery = discovery
    self.address = address
    self.options = options
    log = ServiceLog(logger: logger)
  }

  /// The locators that are taken; a new invitation is to avoid them.
  public var locators: Set<String> { invitations.withLock { Set($0.keys) } }

  /// Opens an invitation to a notebook, which is needed when several are served. From any thread,
  /// before or while the service runs.
  ///
  /// - Throws: `MembershipError.notAnAdmin` when this device may not invite, `SyncError` when the
  ///   notebook is not served or the locator is taken.
  public func open(_ invitation: Invitation, to notebookID: String? = nil) throws {
    let named = notebookID.map { contexts[$0] } ?? contexts.values.first
    guard let context = named, notebookID != nil || contexts.count == 1 else {
      throw SyncError.wrongNotebook
    }
    try context.membership.refresh()
    guard context.membership.role(ofDevice: context.key.deviceID) == .admin else {
      throw MembershipError.notAnAdmin(device: context.key.deviceID)
    }
    let locator = invitation.code.locator
    let isNew = invitations.withLock { open in
      guard open[locator] == nil else { return false }
      open[locator] = Entry(invitation: invitation, context: context)
      return true
    }
    guard isNew else { throw SyncError.failed("another invitation has the same first digits") }
    occurrences.put(.opened(invitation))
  }

  /// Takes an invitation back. From any thread.
  public func withdraw(_ invitation: Invitation) {
    invitation.finish(.withdrawn)
    occurrences.put(.changed)
  }

  /// Serves until cancelled.
  ///
  /// - Parameters:
  ///   - invitation: where given, the service also ends with it; when it was used, after the new
  ///     member's first session.
  ///   - onEvent: is told what happens; called on this thread.
  /// - Throws: `ChannelError` when it cannot listen there, `MembershipError` when this device is not
  ///   a member (any more).
  public func run(
    cancellation: CancellationToken, until invitation: Invitation? = nil,
    onEvent: (ServiceEvent) -> Void = { _ in }
  ) throws {
    for context in contexts.values { _ = try context.credentials() }
    let listener = try Listener(at: address)
    // A service that may end by itself must not cancel its caller's token.
    let token = try invitation == nil ? cancellation : CancellationToken()
    let reception = Reception(
      listener: listener, timeouts: contexts.values.first?.timeouts ?? .standard,
      cancellation: token, rules: rules(port: listener.port))
    try startThread { [occurrences] in
      reception.run()
      occurrences.put(.stopped)
    }
    defer {
      token.cancel()
      for context in contexts.values { withdraw(context, port: listener.port) }
      for entry in invitations.withLock({ Array($0.values) }) {
        withdraw(entry, port: listener.port)
      }
      reception.drain(seconds: Self.farewell)
    }
    report(
      .listening(address: listener.address.host, port: listener.port), onEvent)
    for context in contexts.values { announce(context, port: listener.port, onEvent) }
    var ending: Ending? = invitation.map { Ending(invitation: $0) }
    while true {
      if cancellation.isCancelled { return }
      endInvitations(port: listener.port, onEvent)
      if ending?.isReached == true { return }
      switch occurrences.take(until: nextLook(ending)) {
      case .event(let event):
        report(event, onEvent)
        ending?.note(event)
      case .opened(let invitation): announce(invitation, port: listener.port, onEvent)
      case .stopped: return
      case .changed, nil: continue
      }
    }
  }

  private func report(_ event: ServiceEvent, _ onEvent: (ServiceEvent) -> Void) {
    log.write(event)
    onEvent(event)
  }

  private func nextLook(_ ending: Ending?) -> Moment {
    let expiries = invitations.withLock { $0.values.map(\.invitation.deadline) }
    let next = expiries.min() ?? .now + 3600
    return ending == nil ? next : min(next, .now + Self.tick)
  }

  // MARK: Announcements

  private func announce(
    _ context: SessionContext, port: UInt16, _ onEvent: (ServiceEvent) -> Void
  ) {
    publish(record(of: context, port: port), onEvent)
  }

  private func announce(
    _ invitation: Invitation, port: UInt16, _ onEvent: (ServiceEvent) -> Void
  ) {
    guard let entry = entry(invitation.code.locator) else { return }
    publish(record(of: entry, port: port), onEvent)
    report(.invitation(invitation, port: port), onEvent)
  }

  private func publish(_ record: ServiceRecord, _ onEvent: (ServiceEvent) -> Void) {
    do {
      try discovery?.publish(record)
    } catch {
      report(.discoveryFailed(error), onEvent)
    }
  }

  private func withdraw(_ context: SessionContext, port: UInt16) {
    discovery?.withdraw(record(of: context, port: port))
  }

  private func withdraw(_ entry: Entry, port: UInt16) {
    discovery?.withdraw(record(of: entry, port: port))
  }

  private func record(of context: SessionContext, port: UInt16) -> ServiceRecord {
    .notebook(id: context.membership.notebookID, device: context.key.deviceID, port: port)
  }

  private func record(of entry: Entry, port: UInt16) -> ServiceRecord {
    .invitation(
      locator: entry.invitation.code.locator, notebook: entry.context.membership.notebookID,
      device: entry.context.key.deviceID, port: port)
  }

  private func endInvitations(port: UInt16, _ onEvent: (ServiceEvent) -> Void) {
    let ended = invitations.withLock { open in
      let ended = open.values.filter { $0.invitation.end != nil }
      for entry in ended { open[entry.invitation.code.locator] = nil }
      return ended
    }
    for entry in ended {
      withdraw(entry, port: port)
      if let end = entry.invitation.end, end != .used {
        report(.ended(entry.invitation, end), onEvent)
      }
    }
  }

  // MARK: Visitors, each on a thread of its own

  private func rules(port: UInt16) -> Reception.Rules {
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
      refuse: { [occurrences] refusal in
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

  private func hold(_ connection: Connection, port: UInt16) {
    guard case .member(let notebook, _) = connection.purpose, let context = contexts[notebook]
    else { return }
    var options = options
    options.port = port
    let address = connection.peer.description
    do {
      let result = try Session.run(on: connection, as: context, options: options) {
        [occurrences] event in
        switch event {
        case .peer(let peer): occurrences.put(.event(.peer(peer)))
        case .received(let peer, let join):
          occurrences.put(.event(.received(from: peer, join)))
        default: break
        }
      }
      occurrences.put(.event(.finished(result)))
    } catch {
      let peer = (try? context.member(at: connection)).map {
        PeerIdentity(name: $0.name, deviceID: $0.deviceID, role: $0.role, address: address)
      }
      occurrences.put(.event(.failed(peer: peer, address: address, error)))
    }
  }

  private func pair(_ connection: Connection, by invitation: Invitation) {
    let address = connection.peer.description
    guard let entry = entry(invitation.code.locator) else { return }
    do {
      let device = try Pairing.answer(connection, with: invitation, as: entry.context)
      occurrences.put(.event(.joined(invitation, device)))
    } catch SyncError.declined {
      occurrences.put(.event(.declined(invitation, address: address)))
    } catch {
      occurrences.put(.event(.failed(peer: nil, address: address, error)))
    }
  }

  /// When a service that waits for one invitation is done.
  private struct Ending {
    let invitation: Invitation
    private var joined: (device: String, deadline: Moment)?
    private var isSynchronised = false

    init(invitation: Invitation) { self.invitation = invitation }

    var isReached: Bool {
      guard let joined else {
        // Used, and the event is on its way.
        return invitation.end != nil && invitation.end != .used
      }
      return isSynchronised || Moment.now >= joined.deadline
    }

    mutating func note(_ event: ServiceEvent) {
      switch event {
      case .joined(let used, let device) where used === invitation:
        joined = (device.deviceID, .now + Service.firstSession)
      case .finished(let session) where session.peer.deviceID == joined?.device:
        isSynchronised = true
      default: break
      }
    }
  }
}
