internal import Channel
internal import Discovery
internal import Sync
internal import System

/// Decides whom to connect to, and when. A value of the service's own thread.
struct Dialer {
  /// A device of a notebook.
  struct Target: Hashable, Sendable {
    let notebookID: String
    let deviceID: String
  }

  /// How a connection of ours came to its end.
  enum Outcome: Sendable {
    /// A session went on for so many seconds.
    case lasted(seconds: Double)
    /// A session ran; the other device does not let it stand.
    case exchanged
    /// Another connection with the device stays.
    case duplicate
    /// It does not let us in.
    case refused
    case failed
  }

  private struct State {
    /// Where it is announced, or was.
    var addresses: [Address]
    var isAnnounced: Bool
    var backoff = Backoff()
    var isUnderWay = false
    var next: Instant
  }

  private let ownDevices: [String: String]
  private var targets: [Target: State] = [:]

  /// How long the device of the larger ID waits for the other one to connect, in seconds.
  private static let courtesy = 0.3
  /// How long discovery gets before addresses of old are tried, in seconds.
  private static let patience = 1.0
  /// How long to wait for one that refused, in seconds.
  private static let refusal = 300.0
  /// How long after a session with one that does not stand, in seconds.
  private static let exchange = 60.0
  /// How long after another connection was found to stand, in seconds: it may be a dead one.
  private static let duplicateWait = 5.0
  /// How many connections of ours are opened at once.
  static let width = 8

  /// A dialer for these notebooks: the IDs of notebooks with this device's in each.
  init(ownDevices: [String: String]) { self.ownDevices = ownDevices }

  /// When there is something to do.
  var next: Instant? { targets.values.filter { !$0.isUnderWay }.map(\.next).min() }

  /// Whether somebody who is not connected is being tried, or about to.
  func isTrying(isConnected: (Target) -> Bool) -> Bool {
    let now = Instant.now
    return targets.contains { ($1.isUnderWay || $1.next <= now) && !isConnected($0) }
  }

  /// A device was there once; where it is announced, that counts more.
  mutating func remember(_ target: Target, at address: Address) {
    guard isForeign(target), targets[target]?.isAnnounced != true,
      targets[target]?.addresses != [address]
    else { return }
    // Whoever is connecting there now says what came of it.
    targets[target] = State(
      addresses: [address], isAnnounced: false,
      isUnderWay: targets[target]?.isUnderWay ?? false, next: .now + Self.patience)
  }

  /// A device is announced. True when it was elsewhere until now.
  mutating func found(_ target: Target, at addresses: [Address]) -> Bool {
    guard isForeign(target) else { return false }
    let isLater = (ownDevices[target.notebookID] ?? "") > target.deviceID
    let start = Instant.now + (isLater ? Self.courtesy : 0)
    guard var state = targets[target] else {
      targets[target] = State(addresses: addresses, isAnnounced: true, next: start)
      return false
    }
    let isNews = !state.isAnnounced || state.addresses != addresses
    let hasMoved = state.addresses != addresses
    state.addresses = addresses
    state.isAnnounced = true
    if isNews {
      state.backoff.reset()
      state.next = min(state.next, start)
    }
    targets[target] = state
    return hasMoved
  }

  /// A device said goodbye: it may have lost only the network, so its address is kept.
  mutating func lost(_ target: Target) { targets[target]?.isAnnounced = false }

  /// The network, or this machine, is back: everybody is tried at once, or everybody of a notebook.
  mutating func retryAll(notebookID: String? = nil) {
    for target in targets.keys where notebookID == nil || target.notebookID == notebookID {
      targets[target]?.backoff.reset()
      targets[target]?.next = .now
    }
  }

  /// A device is tried again at once, for instance because its session ended.
  mutating func wake(_ target: Target) {
    guard let state = targets[target], !state.isUnderWay else { return }
    targets[target]?.next = min(state.next, .now + Self.courtesy)
  }

  /// Those to connect to now, but for those with whom a session goes on, or is not wanted.
  mutating func take(isConnected: (Target) -> Bool) -> [(target: Target, addresses: [Address])] {
    let now = Instant.now
    var room = Self.width
    var chosen: [(Target, [Address])] = []
    for (target, state) in targets where !state.isUnderWay && state.next <= now && room > 0 {
      if isConnected(target) {
        // Whoever ends the session wakes it.
        targets[target]?.next = now + Backoff.longest
        continue
      }
      targets[target]?.isUnderWay = true
      room -= 1
      chosen.append((target, state.addresses))
    }
    return chosen
  }

  /// A connection of ours is over.
  mutating func note(_ outcome: Outcome, of target: Target) {
    guard var state = targets[target] else { return }
    state.isUnderWay = false
    let wait: Double
    switch outcome {
    case .lasted(let seconds):
      if seconds > Backoff.longest / 10 { state.backoff.reset() }
      wait = state.backoff.next(isSeen: state.isAnnounced)
    case .failed: wait = state.backoff.next(isSeen: state.isAnnounced)
    case .exchanged: wait = Self.exchange
    case .duplicate: wait = Self.duplicateWait
    case .refused: wait = Self.refusal
    }
    state.next = .now + wait
    targets[target] = state
  }

  private func isForeign(_ target: Target) -> Bool {
    ownDevices[target.notebookID].map { $0 != target.deviceID } ?? false
  }
}
