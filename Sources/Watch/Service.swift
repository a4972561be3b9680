public import Channel
public import Discovery
public import Exchange
public import Logging
internal import Membership
internal import Synchronization
internal import System

/// Listens for the members of some notebooks and for invited devices, until it is stopped.
///
/// `notes serve` runs it, and `notes invite` uses it to wait for the new device. A peer cannot stop
/// it from serving the others.
public final class Service: Sendable {
  let contexts: [String: SessionContext]
  let discovery: (any Discovery)?
  /// Makes another object for finding devices, for a member that asks admins to let in a device.
  let finder: (@Sendable () -> (any Discovery)?)?
  private let address: Address
  private let controlFolder: String?
  let options: SessionOptions
  let log: ServiceLog
  let occurrences = BlockingQueue<Occurrence>()
  let isPaused = Atomic(false)
  /// Whether a person waits for a joining device, and sees the progress of its first session.
  let tellsProgress = Atomic(false)
  /// Whether a failure of discovery was reported and no device was discovered since.
  let isDiscoveryDown = Atomic(false)
  let invitations = Mutex<[String: Entry]>([:])
  /// The watched notebooks, by ID; empty if the service only answers.
  let watched: [String: WatchedNotebook]
  /// The keepers that save and merge for each notebook's sessions.
  let keepers: [String: any SessionKeeper]
  /// The visitors of each watched notebook's hubs.
  let hubVisitors: [String: HubVisitor]
  /// Ends all connections. Made at the start, because this side also opens connections.
  let token: CancellationToken

  struct Entry: Sendable {
    let invitation: Invitation
    let context: SessionContext
    let held: HostedInvitation
  }

  func entry(_ locator: String) -> Entry? { invitations.withLock { $0[locator] } }

  enum Occurrence: Sendable {
    case event(Event)
    case opened(Invitation)
    case discovered(DiscoveryEvent)
    /// A connection that this side opened has ended.
    case ended(Dialer.Outcome, with: Dialer.Target)
    /// The machine slept until now.
    case awoke
    case networkChanged(NetworkState.News)
    /// Try every device that is not connected; the queue gets an element when all attempts have
    /// ended.
    case reachAll(BlockingQueue<Bool>)
    case pauseChanged
    /// Something may have changed that the loop checks anyway.
    case changed
    case stopped
  }

  /// After how many seconds without events the notebooks close unneeded files.
  private static let quiet = 10.0
  /// How often to check for cancellation while invitations are open, in seconds.
  private static let tick = 0.1
  /// How long connected devices have to notice that the service stops, in seconds.
  private static let farewell = 3.0

  /// A service for these notebooks, which listens at `address`. It withdraws its own announcements from
  /// `discovery`, but does not stop that. If it is watching, it saves changes and keeps sessions with the other
  /// devices. `control` is the folder of the sockets for other commands; nil for none. `hubInterval` is the
  /// number of seconds between visits to hubs while nothing happens. Throws if the process has no descriptors
  /// left.
  public init(
    contexts: [SessionContext], discovery: (any Discovery)?,
    finder: (@Sendable () -> (any Discovery)?)? = nil,
    listen address: Address = Address(host: Address.anyHost, port: 0), logger: Logger,
    options: SessionOptions = SessionOptions(), isWatching: Bool = false, control: String? = nil,
    hubInterval: Double = 300
  ) throws {
    controlFolder = control
    self.contexts = Dictionary(
      contexts.map { ($0.membership.notebookID, $0) }, uniquingKeysWith: { first, _ in first })
    (self.discovery, self.finder) = (discovery, finder)
    self.address = address
    self.options = options
    log = ServiceLog(logger: logger)
    let token = try CancellationToken()
    self.token = token
    let occurrences = occurrences
    watched = try (isWatching ? self.contexts : [:]).mapValues { context in
      try WatchedNotebook(context) { occurrences.put(.event($0)) }
    }
    hubVisitors = try watched.mapValues { notebook in
      try HubVisitor(notebook, pace: HubPace(interval: hubInterval), until: token)
    }
    keepers =
      isWatching
      ? watched
      : self.contexts.mapValues {
        DirectKeeper($0, options, changes: InotifyChanges(of: $0.folder))
      }
  }

  var isWatching: Bool { !watched.isEmpty }

  /// Closes all connections and makes none, or makes connections again. Can be called from any
  /// thread.
  func pause(_ value: Bool) {
    if isPaused.exchange(value, ordering: .relaxed) == value { return }
    occurrences.put(.pauseChanged)
  }

  /// Stops the service, as its cancellation does. Can be called from any thread.
  public func stop() { occurrences.put(.stopped) }

  /// Serves until it is cancelled or stopped. With invitations, it serves until all have ended, and if one was
  /// used, until the end of the new member's first session. Calls `onEvent` on this thread.
  ///
  /// Throws `ChannelError` if it cannot listen at the address, and `MembershipError` if this device is no
  /// longer a member. Also throws `MembershipError` if the membership is started over while it watches; the
  /// caller must then make another service.
  public func run(
    cancellation: CancellationToken, until invitations: [Invitation] = [],
    onEvent: (Event) -> Void = { _ in }
  ) throws {
    try checkMembership()
    let driver = try SessionDriver(
      self, listen: address, timeouts: contexts.values.first?.timeouts ?? .standard, until: token)
    let bound = driver.address ?? address
    try driver.accept { [occurrences] in occurrences.put(.stopped) }
    try cancellation.whenCancelled(unless: token) { [occurrences] in occurrences.put(.stopped) }
    defer { end(driver, port: bound.port) }
    tellsProgress.store(!invitations.isEmpty, ordering: .relaxed)
    var ending = invitations.isEmpty ? nil : ServiceEnding(of: invitations)
    var control: ControlServer?
    func tell(_ event: Event) {
      onEvent(event)
      ending?.observe(event)
      control?.send(event)
    }
    emit(.listening(address: bound.host, port: bound.port), tell)
    // The watch of the machine starts first, because the notebooks may open as many files as the
    // system allows.
    if isWatching { try watchMachine() }
    for notebook in watched.values { try notebook.start() }
    for visitor in hubVisitors.values { try visitor.start() }
    control = startControl(port: bound.port)
    defer { control?.stop() }
    var dialing = ServiceDialing(self, driver)
    try dialing.begin()
    var unpublished = Set(contexts.keys)
    publishMembers(of: &unpublished, port: bound.port, tell)
    var idle: Instant? = .now + Self.quiet
    var state = SystemdNotifier()
    if isWatching { state.ready() }
    defer { if isWatching { state.stopping() } }
    while true {
      endInvitations(port: bound.port, tell)
      if cancellation.isCancelled || ending?.isReached == true { return }
      dialing.dial()
      if isWatching {
        state.live()
        rest(at: &idle)
      }
      let next = nextLook(ending, dialing, isWatching ? [state.next, idle] : [])
      guard let occurrence = occurrences.take(until: next) else { continue }
      switch occurrence {
      case .event(let event):
        idle = .now + Self.quiet
        emit(event, tell)
        try Self.rethrowBeginningAnew(event)
        publishMembers(of: &unpublished, port: bound.port, tell)
        dialing.handle(event)
        for visitor in hubVisitors.values { visitor.handle(event) }
      case .opened(let invitation): announce(invitation, port: bound.port, tell)
      case .discovered(let event): dialing.handle(event)
      case .ended(let outcome, let target): dialing.ended(outcome, of: target)
      case .awoke: dialing.awake()
      case .networkChanged(let news): dialing.networkChanged(news)
      case .reachAll(let settled): dialing.reachAll(settled)
      case .pauseChanged: dialing.pauseChanged()
      case .changed: break
      case .stopped: return
      }
    }
  }

  /// Throws if this device is no member of a notebook. A watcher also waits for its certificate: it saves, visits hubs,
  /// and serves nobody until then.
  private func checkMembership() throws {
    for context in contexts.values where !(isWatching && context.isGuest) {
      _ = try context.credentials()
    }
  }

  private static func rethrowBeginningAnew(_ event: Event) throws {
    if case .notebookFailed(_, let cause) = event, case MembershipError.begunAnew = cause.error {
      throw cause.error
    }
  }

  private func rest(at time: inout Instant?) {
    guard let due = time, due.hasPassed else { return }
    time = nil
    for notebook in watched.values { notebook.rest() }
    ProgramPages.releasePages()
  }

  private func watchMachine() throws {
    try MachineWatch.sleep(until: token) { [occurrences] in occurrences.put(.awoke) }
    // Without the kernel's messages, devices are found a little later.
    try? MachineWatch.networks(until: token) { [occurrences] news in
      occurrences.put(.networkChanged(news))
    }
  }

  private func end(_ driver: SessionDriver, port: UInt16) {
    for notebook in watched.values { notebook.stop() }
    token.cancel()
    for context in contexts.values { discovery?.withdraw(record(of: context, port: port)) }
    for entry in invitations.withLock({ Array($0.values) }) {
      discovery?.withdraw(record(of: entry, port: port))
      if entry.invitation.end != .used { entry.held.record(.cancelled) }
    }
    driver.drain(seconds: Self.farewell)
  }

  /// Listens for other commands. If that fails, the service does everything else.
  private func startControl(port: UInt16) -> ControlServer? {
    guard let controlFolder, !watched.isEmpty else { return nil }
    do {
      return try ControlServer(self, port: port, in: controlFolder)
    } catch {
      log.warn("other commands cannot ask this watcher: \(error)")
      return nil
    }
  }

  func emit(_ event: Event, _ onEvent: (Event) -> Void) {
    // All announcements and searches fail for the same reason.
    if case .discoveryFailed = event, isDiscoveryDown.exchange(true, ordering: .relaxed) { return }
    log.write(event)
    onEvent(event)
  }

  private func nextLook(
    _ ending: ServiceEnding?, _ dialing: ServiceDialing, _ others: [Instant?]
  ) -> Instant {
    let expiries = invitations.withLock { $0.values.map(\.invitation.deadline) }
    let next = (expiries + ([dialing.next] + others).compactMap { $0 }).min() ?? .now + 3600
    // A file records that the user has cancelled an invitation.
    return ending == nil && expiries.isEmpty ? next : min(next, .now + Self.tick)
  }
}
