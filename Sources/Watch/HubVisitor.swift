internal import Exchange
internal import Notebook
internal import Synchronization
internal import System

/// Visits the hubs of a watched notebook, on a thread of its own: soon after something was written here
/// or came from a device, at its pace, and at once when the machine has a network again.
/// notes-watch(1), "Hubs".
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

  /// Something has happened that a hub may be told of.
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

  /// Hubs that could not be reached may be now.
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
      let isReached = visit()
      state.withLock { $0.visited(isReached) }
    }
  }

  /// Visits them all; false where one could not be reached, or something else failed.
  private func visit() -> Bool {
    let context = notebook.context
    var outcome = SyncOutcome()
    do {
      let hubs = try context.notebook().hubs()
      var run = HubRun(context: context, hubs: hubs)
      run.options.keeper = notebook
      try run.run(addingTo: &outcome, cancellation: token, onEvent: tell)
    } catch {
      if case SyncError.stopped = error { return true }
      let failure = SyncFailure(address: context.folder, error: error)
      tell(.failed(failure))
      return false
    }
    return outcome.failures.isEmpty
  }

  /// Passes on what is news: not that a hub was visited and nothing came of it, nor the same failure
  /// again.
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

/// When the hubs are visited next. A plain value, whose clock is the caller's.
struct HubPace: Sendable {
  /// Seconds between visits while nothing happens, with a fifth more or less at random, so that devices
  /// do not come all at once.
  let interval: Double
  var isPaused = false
  /// The failure that was told of each hub.
  var told: [String: String] = [:]

  private var next: Instant
  private var last: Instant?
  private var failures = 0

  /// How long after a version the hubs are told, and how long after a visit at the earliest: a burst of
  /// saves is one visit.
  static let (delay, gap) = (1.0, 5.0)
  /// The longest pause after failures.
  static let longest = 3_600.0

  init(interval: Double, now: Instant = .now) {
    self.interval = interval
    next = now
  }

  var due: Instant { isPaused ? .never : next }

  mutating func hasNews(now: Instant = .now) {
    // A hub that cannot be reached is no nearer for there being more to tell.
    guard failures == 0 else { return }
    let earliest = max(now + Self.delay, last.map { $0 + Self.gap } ?? now)
    next = min(next, earliest)
  }

  mutating func isRetried(now: Instant = .now) {
    failures = 0
    next = now
  }

  mutating func begins() { next = .never }

  mutating func visited(_ isReached: Bool, now: Instant = .now, chance: Double = .random(in: 0...1))
  {
    failures = isReached ? 0 : failures + 1
    last = now
    let pause =
      isReached
      ? interval : min(Self.gap * Double(1 << min(failures, 16)), max(Self.longest, interval))
    let usual = now + pause * (0.8 + 0.4 * chance)
    // Edits during the visit may not have been part of it.
    next = isReached ? min(next, usual) : usual
  }
}
