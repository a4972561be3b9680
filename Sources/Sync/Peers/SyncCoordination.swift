internal import Channel
internal import Discovery
internal import Git
internal import History
internal import Membership
internal import Notebook
internal import System

/// Decides, on the run's own thread, whom to connect to and when the run is over.
struct SyncCoordination {
  let run: SyncRun
  let members: [Member]
  let notebook: Notebook
  let workers: SyncWorkers
  let start = Instant.now

  var targets: [String: SyncTarget] = [:]
  var progress: [String: SyncTarget.Progress] = [:]
  var outcomes: [String: DeviceOutcome] = [:]
  /// The devices of `outcomes`, in the order of their first session.
  var order: [String] = []
  /// Which devices hold a connection to us.
  var connected = 0
  var failures: [(key: String, failure: SyncFailure)] = []
  /// Those of `failures` that a new announcement may still undo, and that were not told yet.
  var retriable: Set<String> = []
  var lastActivity = Instant.now
  var search: Search
  var isSearchTold = false

  enum Search { case none, looking, settled(Instant) }

  struct DeviceOutcome {
    var result: SessionResult
    var sessions = 1
  }

  /// How many connections of ours are open at once.
  static let width = 8
  /// How often one target is tried when it is busy with another session.
  static let tries = 6
  /// How often one device gets news in a run.
  static let sessionsPerDevice = 8
  /// How long a device that is missing may take to appear after the last session, in seconds.
  static let linger = 0.5
  /// How long discovery gets before remembered addresses are tried, in seconds.
  static let patience = 0.5
  /// How long a service that has ended may stay listed, in seconds: its goodbye takes effect after one
  /// (RFC 6762 section 10.1), and what the device started in its place is seen about then, too.
  static let goodbye = 1.5
  /// How long a search may take before it is told, in seconds.
  static let quiet = 1.0
  /// How often a cancellation is looked for while nothing happens, in seconds.
  static let tick = 0.1

  init(_ run: SyncRun, members: [Member], notebook: Notebook, _ workers: SyncWorkers) {
    self.run = run
    self.members = members
    self.notebook = notebook
    self.workers = workers
    search = run.discovery != nil && run.addresses.isEmpty ? .looking : .none
    for address in run.addresses {
      add(SyncTarget(source: .given, device: nil, addresses: [address]))
    }
  }

  /// Runs until nobody is left to talk to.
  mutating func run(
    _ cancellation: CancellationToken?, _ onEvent: (Event) -> Void
  ) throws -> SyncOutcome {
    if let address = workers.listener?.address {
      onEvent(.listening(address: address.host, port: address.port))
    }
    while true {
      if cancellation?.isCancelled == true { throw SyncError.stopped }
      try recallAddresses()
      try startTargets()
      if try isOver() { break }
      tellSearch(onEvent)
      if let occurrence = workers.occurrences.take(until: .now + Self.tick) {
        note(occurrence, onEvent)
      }
    }
    for (key, failure) in failures where retriable.contains(key) { onEvent(.failed(failure)) }
    return try outcome()
  }

  private func outcome() throws -> SyncOutcome {
    var outcome = SyncOutcome()
    outcome.tip = try notebook.state().tip
    for device in order {
      guard var result = outcomes[device]?.result else { continue }
      result.tip = outcome.tip
      outcome.sessions.append(result)
    }
    outcome.failures = failures.map(\.failure).filter { failure in
      guard let device = failure.device else { return true }
      return outcomes[device] == nil && isKnown(device)
    }
    let seen = Set(order + outcome.failures.compactMap(\.device))
    outcome.absent = members.filter { !seen.contains($0.deviceID) }
    return outcome
  }

  func isKnown(_ device: String) -> Bool {
    members.contains { $0.deviceID == device }
  }

  // MARK: Whom to try

  private mutating func add(_ target: SyncTarget) {
    if let known = targets[target.key], known.source != .remembered, target.source == .remembered {
      return
    }
    if let device = target.device {
      guard device != run.context.key.deviceID else { return }
      guard run.peers.isEmpty || isKnown(device) else { return }
    }
    let former = targets.updateValue(target, forKey: target.key)
    if former?.source == .remembered { progress[target.key]?.isOver = false }
    if let former, former.addresses != target.addresses { retryAfterAnnouncement(target.key) }
  }

  /// A device that was not where it was announced is announced elsewhere.
  private mutating func retryAfterAnnouncement(_ key: String) {
    guard retriable.remove(key) != nil else { return }
    failures.removeAll { $0.key == key }
    progress[key] = nil
  }

  /// Tries where devices were before, once discovery had its chance.
  private mutating func recallAddresses() throws {
    switch search {
    case .looking: return
    case .settled(let moment): if Instant.now < moment + Self.patience { return }
    case .none: if !run.addresses.isEmpty { return }
    }
    let missing = members.map(\.deviceID).filter { targets[$0] == nil && outcomes[$0] == nil }
    if missing.isEmpty { return }
    let remembered = PeerAddresses(stateFolder: notebook.stateFolder).all()
    for device in missing {
      // Nobody to try counts as tried.
      let addresses = remembered[device].map { [$0] } ?? []
      targets[device] = SyncTarget(source: .remembered, device: device, addresses: addresses)
      if addresses.isEmpty { progress[device] = SyncTarget.Progress(isOver: true) }
    }
  }

  /// Tells once that the search takes long, and whom it is for.
  private mutating func tellSearch(_ onEvent: (Event) -> Void) {
    guard !isSearchTold, Instant.now >= start + Self.quiet, run.addresses.isEmpty,
      !members.isEmpty, outcomes.isEmpty, connected == 0,
      !progress.values.contains(where: \.isUnderWay)
    else { return }
    isSearchTold = true
    onEvent(.looking(for: members.map(\.name)))
  }

  private mutating func startTargets() throws {
    var width = Self.width - progress.values.count { $0.isUnderWay }
    for (key, target) in targets.sorted(by: { $0.key < $1.key }) where width > 0 {
      var state = progress[key] ?? SyncTarget.Progress()
      guard try !state.isUnderWay && isDue(target, state) else { continue }
      state.isUnderWay = true
      state.retry = nil
      state.tries += 1
      progress[key] = state
      width -= 1
      workers.start(target)
    }
  }

  func isDue(_ target: SyncTarget, _ state: SyncTarget.Progress) throws -> Bool {
    // Whoever has connected here tells.
    if let device = target.device, workers.isBusy(with: device) { return false }
    if let retry = state.retry { return Instant.now >= retry }
    let device = target.device ?? ""
    guard let former = outcomes[device] else { return !state.isOver && state.tries == 0 }
    // The device has an earlier tip than we have now: others brought news since.
    guard run.options.mode == .both, !target.addresses.isEmpty, !state.isOver,
      former.sessions < Self.sessionsPerDevice
    else { return false }
    return try former.result.hasNews || former.result.tip != notebook.state().tip
  }

  // MARK: What happened

  private mutating func note(
    _ occurrence: SyncWorkers.Occurrence, _ onEvent: (Event) -> Void
  ) {
    switch occurrence {
    case .event(let event): onEvent(event)
    case .discovered(.found(let peer)):
      guard peer.notebookID == run.context.membership.notebookID else { return }
      add(
        SyncTarget(
          source: .discovered, device: peer.deviceID, addresses: peer.endpoints.map(Address.init)))
    case .discovered(.settled): if case .looking = search { search = .settled(.now) }
    case .discoveryFailed(let error):
      search = .none
      onEvent(.discoveryFailed(cause: Cause(error)))
    case .discovered: return
    case .arrived: connected += 1
    case .departed(let device, let result):
      connected -= 1
      lastActivity = .now
      note(result, key: device, isGiven: false, onEvent)
    case .tried(let target, let result):
      lastActivity = .now
      progress[target.key]?.isUnderWay = false
      if case .failure(let failure) = result, failure.isPassing,
        progress[target.key]?.tries ?? 0 < Self.tries
      {
        progress[target.key]?.retry = .now + 0.2
        return
      }
      if case .success(let session) = result, target.device == nil {
        // From now on it is known who is there, so that news can follow.
        targets[target.key] = nil
        progress[target.key] = nil
        targets[session.peer.deviceID] = SyncTarget(
          source: .given, device: session.peer.deviceID, addresses: target.addresses)
        progress[session.peer.deviceID] = SyncTarget.Progress(tries: 1)
      }
      if case .failure = result { progress[target.key]?.isOver = true }
      if case .failure(let failure) = result, failure.peer == nil {
        switch target.source {
        case .remembered: return
        case .discovered: return recordUnreachable(target, failure)
        case .given: break
        }
      }
      note(result, key: target.key, isGiven: target.source == .given, onEvent)
    }
  }

  /// Nobody was where a device is announced: the announcement may be out of date.
  private mutating func recordUnreachable(_ target: SyncTarget, _ failure: SyncFailure) {
    if let device = target.device, outcomes[device] != nil { return }
    failures.removeAll { $0.key == target.key }
    failures.append((target.key, failure))
    retriable.insert(target.key)
    if targets[target.key]?.addresses != target.addresses { retryAfterAnnouncement(target.key) }
  }

  private mutating func note(
    _ result: Result<SessionResult, SyncFailure>, key: String, isGiven: Bool,
    _ onEvent: (Event) -> Void
  ) {
    switch result {
    case .success(let session):
      let device = session.peer.deviceID
      if let former = outcomes[device] {
        outcomes[device] = DeviceOutcome(
          result: former.result.followed(by: session), sessions: former.sessions + 1)
      } else {
        outcomes[device] = DeviceOutcome(result: session)
        order.append(device)
      }
      failures.removeAll { $0.key == key || $0.failure.device == device }
      retriable.formIntersection(failures.map(\.key))
      onEvent(.finished(session))
    case .failure(let failure):
      // A device that was synchronised with and has gone since is no failure.
      if let device = failure.device, outcomes[device] != nil, !isGiven { return }
      failures.removeAll { $0.key == key }
      failures.append((key, failure))
      onEvent(.failed(failure))
    }
  }
}
