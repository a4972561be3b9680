public import Channel
public import Discovery
public import Logging
internal import Membership
public import Sync
internal import Synchronization
internal import System

/// Listens for the members of some notebooks and for those who are invited, until it is stopped.
///
/// It is what `notes serve` runs, and what waits for the new device in `notes invite`. Whatever a
/// peer does, others are served.
public final class Service: Sendable {
  let contexts: [String: SessionContext]
  let discovery: (any Discovery)?
  private let address: Address
  private let controlFolder: String?
  let options: SessionOptions
  let log: ServiceLog
  let occurrences = BlockingQueue<Occurrence>()
  /// Whether the user wants no connections now.
  let isPaused = Atomic(false)
  /// Whether it was said that discovery does not work, and nothing came of it since.
  private let isDiscoveryDown = Atomic(false)
  let invitations = Mutex<[String: Entry]>([:])
  /// The notebooks that are watched, by ID; none where the service only answers.
  let watched: [String: WatchedNotebook]
  /// Who saves and merges for the sessions of each notebook.
  let keepers: [String: any SessionKeeper]
  /// Ends all connections; made for the whole life, because connections are opened here too.
  let token: CancellationToken

  struct Entry: Sendable {
    let invitation: Invitation
    let context: SessionContext
  }

  func entry(_ locator: String) -> Entry? { invitations.withLock { $0[locator] } }

  enum Occurrence: Sendable {
    case event(Event)
    case opened(Invitation)
    case discovered(DiscoveryEvent)
    /// A connection that was opened here is over.
    case dialed(Dialer.Target, Dialer.Outcome)
    /// The machine slept, or the user wants all to be tried anew.
    case awoken
    /// This machine has got or lost a network or an address.
    case networkChanged(NetworkState.News)
    case paused(Bool)
    /// All devices are to be tried now; told when none is being tried any more.
    case reachAll(BlockingQueue<Bool>)
    /// Something may have changed that the loop looks at anyway.
    case changed
    case stopped
  }

  /// How often a cancellation is looked for where the service may end by itself, in seconds.
  private static let tick = 0.1
  /// How long those who are connected get to notice that the service stops, in seconds.
  private static let farewell = 3.0

  /// A service for these notebooks, which listens at `address`. What it announces through
  /// `discovery` it also withdraws; it does not stop it.
  ///
  /// - Parameters:
  ///   - isWatching: whether it versions what is written, and keeps sessions with the other devices.
  ///   - control: the folder of the sockets at which it answers other commands; nil for none.
  /// - Throws: when the process has no descriptors left.
  public init(
    contexts: [SessionContext], discovery: (any Discovery)?,
    listen address: Address = Address(host: Address.anyHost, port: 0), logger: Logger,
    options: SessionOptions = SessionOptions(), isWatching: Bool = false,
    control: String? = nil
  ) throws {
    controlFolder = control
    self.contexts = Dictionary(
      contexts.map { ($0.membership.notebookID, $0) }, uniquingKeysWith: { first, _ in first })
    self.discovery = discovery
    self.address = address
    self.options = options
    log = ServiceLog(logger: logger)
    token = try CancellationToken()
    let occurrences = occurrences
    watched =
      isWatching
      ? try self.contexts.mapValues { context in
        try WatchedNotebook(context) { occurrences.put(.event($0)) }
      } : [:]
    keepers =
      isWatching
      ? watched
      : self.contexts.mapValues { context in
        DirectKeeper(context, allowsMassDeletion: options.allowsMassDeletion)
      }
  }

  var isWatching: Bool { !watched.isEmpty }

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

  /// Ends it, as its cancellation does. From any thread.
  public func stop() { occurrences.put(.stopped) }

  /// Serves until cancelled or stopped.
  ///
  /// - Parameters:
  ///   - invitation: where given, the service also ends with it; when it was used, after the new
  ///     member's first session.
  ///   - onEvent: is told what happens; called on this thread.
  /// - Throws: `ChannelError` when it cannot listen there, `MembershipError` when this device is not
  ///   a member (any more), or, where it watches, the membership was begun anew: then another
  ///   service is to go on.
  public func run(
    cancellation: CancellationToken, until invitation: Invitation? = nil,
    onEvent: (Event) -> Void = { _ in }
  ) throws {
    for context in contexts.values { _ = try context.credentials() }
    let listener = try Listener(at: address)
    let reception = Acceptor(
      listener: listener, timeouts: contexts.values.first?.timeouts ?? .standard,
      cancellation: token, rules: rules(port: listener.port))
    try startThread { [occurrences] in
      reception.run()
      occurrences.put(.stopped)
    }
    try cancellation.whenCancelled(unless: token) { [occurrences] in occurrences.put(.stopped) }
    defer {
      for notebook in watched.values { notebook.stop() }
      token.cancel()
      for context in contexts.values { withdraw(context, port: listener.port) }
      for entry in invitations.withLock({ Array($0.values) }) {
        withdraw(entry, port: listener.port)
      }
      reception.drain(seconds: Self.farewell)
    }
    report(
      .listening(address: listener.address.host, port: listener.port), onEvent)
    for notebook in watched.values { try notebook.start() }
    let sleep = try !isWatching ? nil : SleepWatch { [occurrences] in occurrences.put(.awoken) }
    defer { sleep?.stop() }
    // Where the kernel tells nothing of networks, devices are found a little later.
    let network =
      !isWatching
      ? nil : try? NetworkWatch { [occurrences] in occurrences.put(.networkChanged($0)) }
    defer { network?.stop() }
    let control = startControl(port: listener.port)
    defer { control?.stop() }
    var dialing = ServiceDialing(self, port: listener.port)
    try dialing.begin()
    for context in contexts.values { announce(context, port: listener.port, onEvent) }
    var state = ServiceState()
    if isWatching { state.ready() }
    defer { if isWatching { state.stopping() } }
    var idle = IdleTimer()
    var ending = invitation.map { ServiceEnding(invitation: $0) }
    while true {
      if cancellation.isCancelled { return }
      endInvitations(port: listener.port, onEvent)
      if ending?.isReached == true { return }
      dialing.dial()
      if isWatching {
        state.live()
        if idle.isDue() { for notebook in watched.values { notebook.rest() } }
      }
      switch occurrences.take(
        until: nextLook(ending, dialing, isWatching ? [state.next, idle.next] : []))
      {
      case .event(let event):
        idle.restart()
        report(event, onEvent)
        if case .notebookFailed(_, let error as MembershipError) = event, case .begunAnew = error {
          throw error
        }
        ending?.note(event)
        dialing.note(event)
        control?.tell(event)
      case .opened(let invitation): announce(invitation, port: listener.port, onEvent)
      case .discovered(let event):
        note(event)
        dialing.note(event)
      case .dialed(let target, let outcome): dialing.note(outcome, of: target)
      case .awoken: dialing.awake()
      case .networkChanged(let news): dialing.networkChanged(news)
      case .reachAll(let settled): dialing.reachAll(settled)
      case .paused(let isPaused): dialing.pause(isPaused)
      case .stopped: return
      case .changed, nil: continue
      }
    }
  }

  private func note(_ event: DiscoveryEvent) {
    switch event {
    case .found, .settled, .resumed: isDiscoveryDown.store(false, ordering: .relaxed)
    case .lost, .interrupted: break
    }
  }

  /// Lets other commands ask. Without it the service does all else.
  private func startControl(port: UInt16) -> ControlServer? {
    guard let controlFolder, !watched.isEmpty else { return nil }
    do {
      let control = try ControlServer(self, port: port, in: controlFolder)
      try control.start()
      return control
    } catch {
      log.warn("other commands cannot ask this watcher: \(error)")
      return nil
    }
  }

  func report(_ event: Event, _ onEvent: (Event) -> Void) {
    // All that is announced and looked for fails for the same reason.
    if case .discoveryFailed = event,
      isDiscoveryDown.exchange(true, ordering: .relaxed)
    {
      return
    }
    log.write(event)
    onEvent(event)
  }

  private func nextLook(_ ending: ServiceEnding?, _ dialing: ServiceDialing, _ others: [Instant?])
    -> Instant
  {
    let expiries = invitations.withLock { $0.values.map(\.invitation.deadline) }
    let next = (expiries + ([dialing.next] + others).compactMap { $0 }).min() ?? .now + 3600
    return ending == nil ? next : min(next, .now + Self.tick)
  }
}
