internal import Exchange
internal import Notebook
internal import State
internal import Synchronization
internal import System

/// Visits the hubs of a watched notebook, on a thread of its own: soon after a change here or from another
/// device, at regular intervals, and when the machine has a network again. notes-watch(1), "Hubs".
final class HubVisitor: Sendable {
  private let notebook: WatchedNotebook
  private let token: CancellationToken
  private let bell: WakeUp
  private let state: Mutex<HubPace>

  init(_ notebook: WatchedNotebook, pace: HubPace, until token: CancellationToken) throws {
    self.notebook = notebook
    self.token = token
    state = Mutex(pace)
    bell = try WakeUp()
  }

  func start() throws { try startThread { [self] in run() } }

  /// Handles an event that may concern the hubs.
  func handle(_ event: Event) {
    switch event {
    case .version(let notebook, _) where notebook == self.notebook.notebookID:
      change { $0.hasNews() }
    case .received(let peer, _, let notebook?)
    where notebook == self.notebook.notebookID && !peer.isHub:
      change { $0.hasNews() }
    default: break
    }
  }

  /// Hubs that could not be reached may be reachable now.
  func retry() { change { $0.isRetried() } }

  func pause(_ value: Bool) { change { $0.isPaused = value } }

  private func change(_ change: (inout HubPace) -> Void) {
    state.withLock { change(&$0) }
    bell.signal()
  }

  private func run() {
    while !token.isCancelled {
      let due = state.withLock { $0.due }
      if !due.hasPassed {
        Poll.wait(for: [bell.descriptor, token.descriptor], until: due)
        bell.clear()
        continue
      }
      state.withLock { $0.begins() }
      let result = visit()
      state.withLock { $0.visited(result) }
    }
  }

  /// Visits all hubs.
  private func visit() -> HubPace.Result {
    let context = notebook.context
    var outcome = SyncOutcome()
    let state = StateFolder(ofNotebookIn: context.folder)
    let end = AskedAdmission(in: state)?.end
    defer {
      // The device still waits, and its user learns that nobody will answer.
      if let present = AskedAdmission(in: state)?.end, present != end {
        notebook.emit(.membersChanged(notebook: notebook.notebookID))
      }
    }
    do {
      let hubs = try context.notebook().hubs()
      var run = HubRun(context: context, hubs: hubs)
      run.options.keeper = notebook
      try run.run(addingTo: &outcome, cancellation: token, onEvent: tell)
    } catch {
      if case SyncError.stopped = error { return .done }
      let failure = SyncFailure(address: context.folder, error: error)
      tell(.failed(failure))
      return .failed
    }
    if outcome.failures.isEmpty { return .done }
    return outcome.failures.allSatisfy { $0.error is ForgetError } ? .postponed : .failed
  }

  /// Passes on new events: no visits without an exchange, and no repeated failures.
  private func tell(_ event: Event) {
    switch event {
    case .peer, .progress: return
    case .finished(let result):
      state.withLock { $0.told[result.peer.name] = nil }
      if result.sentVersions + result.receivedVersions == 0 { return }
    case .failed(let failure):
      let (name, words) = (failure.peer?.name ?? "", "\(failure.error)")
      let isKnown = state.withLock { state in
        defer { state.told[name] = words }
        return state.told[name] == words
      }
      if isKnown { return }
    default: break
    }
    notebook.emit(event)
  }
}

/// The times of the visits to hubs. A plain value; the caller passes the time.
struct HubPace: Sendable {
  /// The seconds between visits while nothing happens. They vary at random by a fifth, so that devices do not
  /// all visit at the same time.
  let interval: Double
  var isPaused = false
  /// The last reported failure of each hub.
  var told: [String: String] = [:]

  private var next: Instant
  private var last: Instant?
  private var failures = 0

  /// The result of a visit.
  enum Result {
    case done
    /// This device cannot follow a forgetting yet, for instance because an editor has a note open.
    case postponed
    /// A hub could not be reached, or something else failed.
    case failed
  }

  /// How long after a version the hubs are visited, and the shortest time between visits: a burst of
  /// saves causes one visit.
  static let (delay, gap) = (1.0, 5.0)
  /// The pause until a postponed visit, in seconds.
  static let postponement = 30.0
  /// The longest pause after failures.
  static let longest = 3_600.0

  init(interval: Double, now: Instant = .now) {
    self.interval = interval
    next = now
  }

  var due: Instant { isPaused ? .never : next }

  mutating func hasNews(now: Instant = .now) {
    // A new version does not make an unreachable hub reachable.
    guard failures == 0 else { return }
    let earliest = max(now + Self.delay, last.map { $0 + Self.gap } ?? now)
    next = min(next, earliest)
  }

  mutating func isRetried(now: Instant = .now) {
    failures = 0
    next = now
  }

  mutating func begins() { next = .never }

  mutating func visited(
    _ result: Result, now: Instant = .now, chance: Double = .random(in: 0...1)
  ) {
    failures = result == .failed ? failures + 1 : 0
    last = now
    let pause =
      switch result {
      case .done: interval
      case .postponed: Self.postponement
      case .failed: min(Self.gap * Double(1 << min(failures, 16)), max(Self.longest, interval))
      }
    let usual = now + pause * (0.8 + 0.4 * chance)
    // Edits that were made during the visit may be missing at the hub, so the next visit stays due.
    next = result == .failed ? usual : min(next, usual)
  }
}
