internal import System

/// Decides whom to connect to, where and when: for a run of `notes sync`, which tries everybody once,
/// and for a watcher, which stays connected. A value of its owner's thread.
package struct Dialer {
  /// A device of a notebook. An address that the user gave stands for its device until that has
  /// proved who it is.
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

  /// How a connection of ours came to its end.
  package enum Outcome: Sendable {
    /// A session went on for so many seconds.
    case lasted(seconds: Double)
    /// A session ran; the other device does not stay connected.
    case exchanged
    /// Another connection with the device stays.
    case duplicate
    case busy
    case refused
    case failed
  }

  private struct State {
    /// The addresses at which it is announced, or was.
    var addresses: [Address]
    var isAnnounced: Bool
    /// Whether something other than an announcement spoke for it: the user, or a session with it.
    var isProved = false
    var backoff = Backoff()
    /// The addresses that are being tried; nil if none.
    var tried: [Address]?
    /// Whether a run met it: where it is announced is no reason to try again.
    var isSettled = false
    var next: Instant
  }

  private let ownDevices: [String: String]
  private let staysConnected: Bool
  /// The addresses at which others reach this machine.
  private let ownHosts: () -> [String]
  private var targets: [Target: State] = [:]
  /// The IDs of each notebook's members.
  private var members: [String: Set<String>] = [:]
  /// The places that the last `take` left.
  private var room = room

  // All in seconds.
  /// How long the device of the larger ID waits for the other one to connect.
  private static let courtesy = 0.3
  private static let refusal = 300.0
  private static let exchange = 60.0
  /// After another connection was found to stay: it may be a dead one.
  private static let duplicateWait = 5.0
  private static let (busyWait, busyTries) = (0.2, 6)
  /// Places for devices that are being reached (notes-protocol(7), DISCOVERY); for strangers, whom
  /// anybody can announce without end, a few of these.
  private static let room = (all: 8, strangers: 2)

  /// A dialer for these notebooks: the IDs of notebooks with this device's in each.
  package init(
    ownDevices: [String: String], staysConnected: Bool,
    ownHosts: @escaping () -> [String] = { Address.ofThisMachine(limit: 64) }
  ) {
    self.ownDevices = ownDevices
    self.ownHosts = ownHosts
    self.staysConnected = staysConnected
  }

  /// The members of a notebook, by what this device knows: all others are strangers.
  package mutating func setMembers(_ devices: Set<String>, of notebookID: String) {
    members[notebookID] = devices
  }

  private func isStranger(_ target: Target, _ state: State) -> Bool {
    !state.isProved && members[target.notebookID]?.contains(target.deviceID) != true
  }

  /// When there is something to do for which there is a place.
  package var next: Instant? {
    targets.lazy.filter { target, state in
      state.tried == nil && room.all > 0 && (room.strangers > 0 || !isStranger(target, state))
    }.map(\.value.next).min()
  }

  var isEmpty: Bool { targets.isEmpty }

  /// Whether a run has tried all that is to be tried. Strangers count only if they are waited for, or
  /// one of them is no stranger any more: it has a session.
  func isDone(waitsForStrangers: Bool, isConnected: (Target) -> Bool) -> Bool {
    targets.allSatisfy { target, state in
      (state.tried == nil && state.next == .never)
        || (!waitsForStrangers && isStranger(target, state) && !isConnected(target))
    }
  }

  func knows(_ target: Target) -> Bool { targets[target] != nil }

  /// Whether a device that is not connected, and no stranger, is being tried, or about to be.
  package func isTrying(isConnected: (Target) -> Bool) -> Bool {
    let now = Instant.now
    return targets.contains { target, state in
      (state.tried != nil || state.next <= now) && !isStranger(target, state)
        && !isConnected(target)
    }
  }

  /// A device was there once, and is tried in so many seconds; where it is announced, that counts
  /// more.
  package mutating func remember(_ target: Target, at address: Address, after seconds: Double) {
    guard isForeign(target), targets[target]?.isAnnounced != true,
      targets[target]?.addresses != [address]
    else { return }
    // The thread that connects there now reports the result.
    targets[target] = State(
      addresses: [address], isAnnounced: false, isProved: true, tried: targets[target]?.tried,
      next: .now + seconds + courtesy(to: target, andAgain: true))
  }

  /// How long the other device gets to connect first, in seconds: two that start at one time would open
  /// a connection each. Where nothing says that it is there, it may try before this one listens, and again.
  private func courtesy(to target: Target, andAgain: Bool = false) -> Double {
    let isLater = (ownDevices[target.notebookID] ?? "") > target.deviceID
    return isLater && staysConnected ? Self.courtesy + (andAgain ? Backoff.first : 0) : 0
  }

  /// A device is announced. True when it was elsewhere until now.
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

  /// A device said goodbye: it may have lost only the network, so its address is kept. A stranger is
  /// forgotten.
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

  /// The network, or this machine, is back: everybody is tried at once, or everybody of a notebook.
  package mutating func retryAll(notebookID: String? = nil) {
    for target in targets.keys where notebookID == nil || target.notebookID == notebookID {
      targets[target]?.backoff.reset()
      targets[target]?.next = .now
    }
  }

  /// A device is tried again at once: its session ended, or there is news for it.
  package mutating func wake(_ target: Target) {
    guard let state = targets[target], state.tried == nil, !state.addresses.isEmpty else { return }
    targets[target]?.next = min(state.next, .now + (staysConnected ? Self.courtesy : 0))
  }

  /// A run held a session with the device, whoever opened it, at an address that the user gave or
  /// where it was looked for: it is tried no more, unless somebody wakes it.
  mutating func settle(_ device: Target, at target: Target) {
    var state =
      targets.removeValue(forKey: target) ?? targets[device]
      ?? State(addresses: [], isAnnounced: false, next: .never)
    state.isSettled = true
    state.isProved = true
    state.next = .never
    targets[device] = state
  }

  /// Those to connect to now, but for those with whom a session goes on, or is not wanted. Members come
  /// first, and of each kind those that failed least.
  package mutating func take(isConnected: (Target) -> Bool) -> [Attempt] {
    let now = Instant.now
    room = Self.room
    var due: [(target: Target, state: State, rank: Int)] = []
    for (target, state) in targets {
      let isStranger = isStranger(target, state)
      if state.tried != nil {
        // A device that stays connected counts as tried all the time.
        if staysConnected && isConnected(target) { continue }
        room.all -= 1
        room.strangers -= isStranger ? 1 : 0
      } else if state.next > now {
        continue
      } else if isConnected(target) {
        // The end of the session wakes it.
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

  /// A connection of ours is over. True when the device is tried again in any case.
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
      // It was announced elsewhere meanwhile.
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

  /// Whether this device is announced by another machine, which has its key.
  private func isElsewhere(_ target: Target, at addresses: [Address]) -> Bool {
    guard ownDevices[target.notebookID] == target.deviceID else { return false }
    let own = ownHosts()
    return addresses.contains { address in
      let isHere = ["127.", "::1", "fe80:", "169.254."].contains { address.host.hasPrefix($0) }
      return !isHere && !own.contains(address.host)
    }
  }
}
