internal import System

/// Decides which devices to connect to, where and when: for a run of `notes sync`, which tries each
/// once, and for a watcher, which stays connected. A value on its owner's thread.
package struct Dialer {
  /// A device of a notebook. An address that the user gave represents its device until the device
  /// has authenticated.
  package struct Target: Hashable, Sendable {
    package let notebookID: String
    package let deviceID: String

    package init(notebookID: String, deviceID: String) {
      self.notebookID = notebookID
      self.deviceID = deviceID
    }
  }

  /// A connection to open.
  package struct Attempt: Sendable {
    package let target: Target
    package let addresses: [Address]
    let isAnnounced: Bool
  }

  /// The end of a connection that this side opened.
  package enum Outcome: Sendable {
    /// A session lasted for so many seconds.
    case lasted(seconds: Double)
    /// A session was completed; the other device does not stay connected.
    case exchanged
    /// Another connection with the device is kept.
    case duplicate
    case busy
    case refused
    case failed
  }

  private struct State {
    /// The addresses at which it is or was announced.
    var addresses: [Address]
    var isAnnounced: Bool
    /// Whether the device is known from more than an announcement: from the user, or from a session with it.
    var isProved = false
    var backoff = Backoff()
    /// The addresses of the present attempt; nil if there is none.
    var tried: [Address]?
    /// Whether a run had a session with it: then an announcement is no reason to try again.
    var isSettled = false
    var next: Instant
  }

  private let ownDevices: [String: String]
  private let staysConnected: Bool
  /// The addresses at which others can reach this machine.
  private let ownHosts: () -> [String]
  private var targets: [Target: State] = [:]
  /// The IDs of each notebook's members.
  private var members: [String: Set<String>] = [:]
  /// How many places for connections the last `take` left free, in all and for strangers.
  private var room = room

  // All in seconds.
  /// How long the device with the larger ID waits for the other one to connect.
  private static let courtesy = 0.3
  private static let refusal = 300.0
  private static let exchange = 60.0
  /// The wait after another connection to the device was kept: that connection may be dead.
  private static let duplicateWait = 5.0
  private static let (busyWait, busyTries) = (0.2, 6)
  /// Places for attempts to connect (notes-protocol(7), DISCOVERY); strangers, which anybody can
  /// announce without limit, get a few of these.
  private static let room = (all: 8, strangers: 2)

  /// A dialer for these notebooks: the notebooks' IDs with this device's ID in each.
  package init(
    ownDevices: [String: String], staysConnected: Bool,
    ownHosts: @escaping () -> [String] = { Address.ofThisMachine(limit: 64) }
  ) {
    self.ownDevices = ownDevices
    self.ownHosts = ownHosts
    self.staysConnected = staysConnected
  }

  /// Sets the known members of a notebook: all other devices are strangers.
  package mutating func setMembers(_ devices: Set<String>, of notebookID: String) {
    members[notebookID] = devices
  }

  private func isStranger(_ target: Target, _ state: State) -> Bool {
    !state.isProved && members[target.notebookID]?.contains(target.deviceID) != true
  }

  /// The time of the next attempt among those for which a place is free.
  package var next: Instant? {
    targets.lazy.filter { target, state in
      state.tried == nil && room.all > 0 && (room.strangers > 0 || !isStranger(target, state))
    }.map(\.value.next).min()
  }

  var isEmpty: Bool { targets.isEmpty }

  /// Whether a run has tried everything. Strangers count only if they are waited for, or if one of
  /// them has a session and so is no longer a stranger.
  func isDone(waitsForStrangers: Bool, isConnected: (Target) -> Bool) -> Bool {
    targets.allSatisfy { target, state in
      (state.tried == nil && state.next == .never)
        || (!waitsForStrangers && isStranger(target, state) && !isConnected(target))
    }
  }

  func knows(_ target: Target) -> Bool { targets[target] != nil }

  /// Whether an attempt to connect to an unconnected member is in progress or due.
  package func isTrying(isConnected: (Target) -> Bool) -> Bool {
    let now = Instant.now
    return targets.contains { target, state in
      (state.tried != nil || state.next <= now) && !isStranger(target, state)
        && !isConnected(target)
    }
  }

  /// Adds a device that was connected once, to be tried after so many seconds; if it is announced,
  /// the announcement takes precedence.
  package mutating func remember(_ target: Target, at address: Address, after seconds: Double) {
    guard isForeign(target), targets[target]?.isAnnounced != true,
      targets[target]?.addresses != [address]
    else { return }
    // The thread of a connection attempt in progress reports to this entry.
    targets[target] = State(
      addresses: [address], isAnnounced: false, isProved: true, tried: targets[target]?.tried,
      next: .now + seconds + courtesy(to: target, andAgain: true))
  }

  /// How long to wait for the other device to connect, in seconds. Without it, two devices that start at the
  /// same time would each open a connection. A device that is not announced may have tried before this one
  /// listened, and may try again.
  private func courtesy(to target: Target, andAgain: Bool = false) -> Double {
    let isLater = (ownDevices[target.notebookID] ?? "") > target.deviceID
    return isLater && staysConnected ? Self.courtesy + (andAgain ? Backoff.first : 0) : 0
  }

  /// Handles the announcement of a device. Returns true if its address has changed.
  @discardableResult
  package mutating func found(_ target: Target, at addresses: [Address]) -> Bool {
    guard isForeign(target) || isElsewhere(target, at: addresses) else { return false }
    let start = Instant.now + courtesy(to: target)
    guard var state = targets[target] else {
      targets[target] = State(addresses: addresses, isAnnounced: true, next: start)
      return false
    }
    let hasMoved = state.addresses != addresses
    if hasMoved || !state.isAnnounced, !state.isSettled {
      state.backoff.reset()
      state.next = min(state.next, start)
    }
    state.addresses = addresses
    state.isAnnounced = true
    targets[target] = state
    return hasMoved
  }

  /// Handles a device's goodbye: it may have lost only the network, so its address is kept. A
  /// stranger is dropped.
  package mutating func lost(_ target: Target) {
    targets[target]?.isAnnounced = false
    forgetStranger(target)
  }

  private mutating func forgetStranger(_ target: Target) {
    guard let state = targets[target], state.tried == nil, !state.isAnnounced,
      isStranger(target, state)
    else { return }
    targets[target] = nil
  }

  /// Tries all devices at once, or those of one notebook: the network is back, or this machine woke up.
  package mutating func retryAll(notebookID: String? = nil) {
    for target in targets.keys where notebookID == nil || target.notebookID == notebookID {
      targets[target]?.backoff.reset()
      targets[target]?.next = .now
    }
  }

  /// Tries a device again at once: its session ended, or there are new versions for it.
  package mutating func wake(_ target: Target) {
    guard let state = targets[target], state.tried == nil, !state.addresses.isEmpty else { return }
    targets[target]?.next = min(state.next, .now + (staysConnected ? Self.courtesy : 0))
  }

  /// Records that a run had a session with the device, at an address from the user or from a search. The run does not
  /// try the device again, unless `wake` is called.
  mutating func settle(_ device: Target, at target: Target) {
    var state =
      targets.removeValue(forKey: target) ?? targets[device]
      ?? State(addresses: [], isAnnounced: false, next: .never)
    state.isSettled = true
    state.isProved = true
    state.next = .never
    targets[device] = state
  }

  /// The devices to connect to now, except those that are connected or excluded. Members come first,
  /// and within each group those with the fewest failures.
  package mutating func take(isConnected: (Target) -> Bool) -> [Attempt] {
    let now = Instant.now
    room = Self.room
    var due: [(target: Target, state: State, rank: Int)] = []
    for (target, state) in targets {
      let isStranger = isStranger(target, state)
      if state.tried != nil {
        // A live session is not counted: it would occupy a place for as long as it lasts.
        if staysConnected && isConnected(target) { continue }
        room.all -= 1
        room.strangers -= isStranger ? 1 : 0
      } else if state.next > now {
        continue
      } else if isConnected(target) {
        // The end of the session calls `wake`.
        if staysConnected { targets[target]?.next = now + Backoff.longest }
      } else {
        due.append((target, state, state.backoff.failures + (isStranger ? 1 << 32 : 0)))
      }
    }
    var chosen: [Attempt] = []
    for (target, state, rank) in due.sorted(by: { $0.rank < $1.rank }) where room.all > 0 {
      let isStranger = rank >= 1 << 32
      if isStranger && room.strangers <= 0 { break }
      targets[target]?.tried = state.addresses
      room.all -= 1
      room.strangers -= isStranger ? 1 : 0
      chosen.append(
        Attempt(target: target, addresses: state.addresses, isAnnounced: state.isAnnounced))
    }
    return chosen
  }

  /// Records the end of a connection that this side opened. Returns true if the device is tried again in any case.
  @discardableResult
  package mutating func ended(_ outcome: Outcome, with target: Target) -> Bool {
    guard var state = targets[target], let tried = state.tried else { return false }
    state.tried = nil
    defer {
      targets[target] = state
      forgetStranger(target)
    }
    if staysConnected {
      state.next = .now + Self.wait(after: outcome, &state)
      return true
    }
    switch outcome {
    case .busy where state.backoff.failures < Self.busyTries - 1:
      _ = state.backoff.next(isSeen: true)
      state.next = .now + Self.busyWait
      return true
    case .failed where tried != state.addresses:
      // The device was announced at another address in the meantime.
      state.next = .now
      return true
    case .exchanged, .lasted, .duplicate: break
    case .refused, .busy:
      state.isSettled = true
      fallthrough
    case .failed: state.addresses = []
    }
    state.next = .never
    return false
  }

  private static func wait(after outcome: Outcome, _ state: inout State) -> Double {
    switch outcome {
    case .lasted(let seconds):
      if seconds > Backoff.longest / 10 { state.backoff.reset() }
      return state.backoff.next(isSeen: state.isAnnounced)
    case .failed, .busy: return state.backoff.next(isSeen: state.isAnnounced)
    case .exchanged: return exchange
    case .duplicate: return duplicateWait
    case .refused: return refusal
    }
  }

  private func isForeign(_ target: Target) -> Bool {
    ownDevices[target.notebookID].map { $0 != target.deviceID } ?? false
  }

  /// Whether another machine that has this device's key announces this device's ID.
  private func isElsewhere(_ target: Target, at addresses: [Address]) -> Bool {
    guard ownDevices[target.notebookID] == target.deviceID else { return false }
    let own = ownHosts()
    return addresses.contains { address in
      let isHere = ["127.", "::1", "fe80:", "169.254."].contains { address.host.hasPrefix($0) }
      return !isHere && !own.contains(address.host)
    }
  }
}
