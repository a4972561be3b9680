internal import Channel
internal import Discovery
internal import Git
internal import History
internal import Membership
internal import Notebook
internal import System

/// Decides the next step of a run of `notes sync`, and its end; on the run's own thread.
struct SyncCoordination {
  private let run: SyncRun
  private let members: [Member]
  private let notebook: Notebook
  private let policy: SyncPolicy
  private let driver: SessionDriver
  private let onEvent: (Event) -> Void
  private var start = Instant.now

  private var dialer: Dialer
  /// The outcomes by device, in the order of their first sessions.
  private var outcomes: [DeviceOutcome] = []
  /// How many connections that other devices opened are in use.
  private var connected = 0
  private var failures: [Failure] = []
  /// The devices that are announced with another notebook.
  private var elsewhere: Set<String> = []
  private var lastActivity = Instant.now
  private var search: Search
  private var hasRecalled = false
  private var isSearchTold = false
  /// Whether any device has answered.
  private var isAnybodyThere = false

  private enum Search { case none, looking, settled(Instant) }

  private struct DeviceOutcome {
    var result: SessionResult
    var sessions = 1

    var device: String { result.peer.deviceID }
  }

  private struct Failure {
    let target: String
    let failure: SyncFailure
    /// Whether the failure was reported. A new announcement may make an unreported failure irrelevant.
    var isTold: Bool
  }

  private static let sessionsPerDevice = 8
  // In seconds.
  /// How long to wait for a missing device after the last session.
  private static let linger = 0.5
  /// How long to wait for discovery before recorded addresses are tried.
  private static let patience = 0.5
  /// How many seconds an ended service may stay listed. Its goodbye takes effect after a second (RFC 6762
  /// section 10.1); at about that time a new service of the device is announced.
  private static let goodbye = 1.5
  private static let quiet = 1.0
  /// How often to check for a cancellation while nothing happens.
  private static let tick = 0.1
  /// How many occurrences are handled before anything else is checked.
  private static let batch = 256

  init(
    _ run: SyncRun, members: [Member], notebook: Notebook, _ policy: SyncPolicy,
    _ driver: SessionDriver,
    onEvent: @escaping (Event) -> Void
  ) {
    (self.run, self.members, self.notebook) = (run, members, notebook)
    (self.policy, self.driver, self.onEvent) = (policy, driver, onEvent)
    search = run.discovery != nil && run.addresses.isEmpty ? .looking : .none
    dialer = Dialer(
      ownDevices: [run.context.membership.notebookID: run.context.key.deviceID],
      staysConnected: false)
    dialer.setMembers(Set(members.map(\.deviceID)), of: run.context.membership.notebookID)
    for address in run.addresses {
      dialer.remember(target(address.description), at: address, after: 0)
    }
  }

  mutating func run(_ cancellation: CancellationToken?) throws -> SyncOutcome {
    // The save may have taken long: count the time from now.
    (start, lastActivity) = (.now, .now)
    if let address = driver.address {
      onEvent(.listening(address: address.host, port: address.port))
    }
    while true {
      if cancellation?.isCancelled == true { throw SyncError.stopped }
      try wakeForNews()
      dial()
      if try isOver() { break }
      tellSearch()
      // Announcements that have arrived by then are handled together, so a flood of them does not
      // cause a thousand checks.
      var deadline = Instant.now + Self.tick
      for _ in 0..<Self.batch {
        guard let occurrence = policy.occurrences.take(until: deadline) else { break }
        handle(occurrence)
        deadline = .now
      }
    }
    for failure in failures where !failure.isTold { onEvent(.failed(failure.failure)) }
    return try outcome()
  }

  private func outcome() throws -> SyncOutcome {
    var outcome = SyncOutcome()
    outcome.tip = try notebook.state().tip
    outcome.sessions = outcomes.map(\.result)
    for index in outcome.sessions.indices { outcome.sessions[index].tip = outcome.tip }
    outcome.failures = failures.map(\.failure).filter { failure in
      guard let device = failure.device else { return true }
      return !wasMet(device) && members.contains { $0.deviceID == device }
    }
    let seen = outcomes.map(\.device) + outcome.failures.compactMap(\.device)
    outcome.absent = members.filter { !seen.contains($0.deviceID) }
    outcome.elsewhere = outcome.absent.filter { elsewhere.contains($0.deviceID) }
    return outcome
  }

  private func target(_ device: String) -> Dialer.Target {
    Dialer.Target(notebookID: run.context.membership.notebookID, deviceID: device)
  }

  private func wasMet(_ device: String) -> Bool { outcomes.contains { $0.device == device } }

  // MARK: Choice of addresses

  /// Connects to the devices that are due.
  mutating func dial() {
    recallAddresses()
    let attempts = dialer.take { [policy] in policy.isBusy(with: $0.deviceID) }
    for attempt in attempts { driver.open(attempt) }
  }

  /// Tries the recorded addresses once discovery has had time to find devices.
  private mutating func recallAddresses() {
    guard !hasRecalled, run.addresses.isEmpty else { return }
    switch search {
    case .looking: return
    case .settled(let moment): if Instant.now < moment + Self.patience { return }
    case .none: break
    }
    hasRecalled = true
    let remembered = PeerAddresses(stateFolder: notebook.stateFolder).all()
    for device in members.map(\.deviceID) {
      guard let address = remembered[device], !dialer.knows(target(device)) else { continue }
      dialer.remember(target(device), at: address, after: 0)
    }
  }

  private mutating func wakeForNews() throws {
    guard run.options.mode == .both, !outcomes.isEmpty else { return }
    let tip = try notebook.state().tip
    for met in outcomes where met.sessions < Self.sessionsPerDevice {
      if met.result.hasNews || met.result.tip != tip { dialer.wake(target(met.device)) }
    }
  }

  private func isOver() throws -> Bool {
    let now = Instant.now
    let windowEnd = start + run.window
    let isAnybodyMissing = members.contains { member in
      !wasMet(member.deviceID) && !failures.contains { $0.failure.device == member.deviceID }
    }
    let strangersEnd =
      isAnybodyMissing ? windowEnd : min(windowEnd, lastActivity + Self.linger)
    let isDone = dialer.isDone(waitsForStrangers: now < strangersEnd) { [policy] in
      policy.isBusy(with: $0.deviceID)
    }
    if connected > 0 || !isDone { return false }
    // The only member of a notebook has no device to wait for.
    if !run.addresses.isEmpty || (members.isEmpty && dialer.isEmpty) { return true }
    if failures.contains(where: { !$0.isTold }) {
      let end = outcomes.isEmpty ? windowEnd : lastActivity + Self.goodbye
      if now < end { return false }
    }
    let tip = try notebook.state().tip
    let areAllAlike = outcomes.allSatisfy {
      $0.result.peerTip == tip || $0.result.tipDifference?.tip == tip
    }
    if !isAnybodyMissing && areAllAlike { return true }
    switch search {
    case .looking where now < windowEnd: return false
    case .none where driver.address == nil: return true
    default: break
    }
    return now >= (outcomes.isEmpty && failures.isEmpty ? windowEnd : lastActivity + Self.linger)
  }

  private mutating func tellSearch() {
    let names =
      run.addresses.isEmpty ? members.map(\.name) : run.addresses.map(\.description)
    guard !isSearchTold, !isAnybodyThere, Instant.now >= start + Self.quiet, !names.isEmpty,
      outcomes.isEmpty, connected == 0
    else { return }
    isSearchTold = true
    onEvent(.looking(for: names))
  }

  // MARK: Outcomes

  private mutating func handle(_ occurrence: SyncPolicy.Occurrence) {
    switch occurrence {
    case .event(let event):
      if case .peer = event { isAnybodyThere = true }
      onEvent(event)
    case .discovered(.found(let peer)):
      let isMeant = run.peers.isEmpty || members.contains { $0.deviceID == peer.deviceID }
      guard isMeant else { return }
      if peer.notebookID != run.context.membership.notebookID { elsewhere.insert(peer.deviceID) }
      dialer.found(
        Dialer.Target(notebookID: peer.notebookID, deviceID: peer.deviceID), at: peer.addresses)
    case .discovered(.settled): if case .looking = search { search = .settled(.now) }
    case .discovered(.interrupted(let error)): handle(.discoveryFailed(error))
    case .discoveryFailed(let error):
      search = .none
      onEvent(.discoveryFailed(cause: Cause(error)))
    case .discovered: return
    case .arrived: connected += 1
    case .departed(let device, let result):
      connected -= 1
      lastActivity = .now
      recordResult(result, of: target(device), isGiven: false)
    case .tried(let attempt, let result):
      lastActivity = .now
      recordResult(result, of: attempt)
    }
  }

  private mutating func recordResult(
    _ result: Result<SessionResult, SyncFailure>, of attempt: Dialer.Attempt
  ) {
    let target = attempt.target
    let isGiven = !run.addresses.isEmpty
    let isTriedAgain = dialer.ended(result.dialed, with: target)
    if isTriedAgain { return }
    if case .failure(let failure) = result, failure.peer == nil, !isGiven {
      // The announcement may be outdated, and devices are rarely still at a recorded address. There
      // may be any number of strangers.
      if attempt.isAnnounced, !wasMet(target.deviceID),
        members.contains(where: { $0.deviceID == target.deviceID })
      {
        keep(failure, of: target, isTold: false)
      }
      return
    }
    recordResult(result, of: target, isGiven: isGiven)
  }

  private mutating func recordResult(
    _ result: Result<SessionResult, SyncFailure>, of target: Dialer.Target, isGiven: Bool
  ) {
    switch result {
    case .success(let session):
      let device = session.peer.deviceID
      // The device at the address is known now, so that it can be woken for new versions.
      dialer.settle(self.target(device), at: target)
      if let index = outcomes.firstIndex(where: { $0.device == device }) {
        outcomes[index].result = outcomes[index].result.followed(by: session)
        outcomes[index].sessions += 1
      } else {
        outcomes.append(DeviceOutcome(result: session))
      }
      failures.removeAll { $0.target == target.deviceID || $0.failure.device == device }
      onEvent(.finished(session))
    case .failure(let failure):
      // A device that disappears after its session is not a failure.
      if !isGiven, let device = failure.device, wasMet(device) { return }
      keep(failure, of: target, isTold: true)
      onEvent(.failed(failure))
    }
  }

  private mutating func keep(_ failure: SyncFailure, of target: Dialer.Target, isTold: Bool) {
    failures.removeAll { $0.target == target.deviceID }
    failures.append(Failure(target: target.deviceID, failure: failure, isTold: isTold))
  }
}

extension Result<SessionResult, SyncFailure> {
  fileprivate var dialed: Dialer.Outcome {
    guard case .failure(let failure) = self else { return .exchanged }
    if case SyncError.peerEnded(.busy, _) = failure.error { return .busy }
    return failure.peer == nil ? .failed : .refused
  }
}
