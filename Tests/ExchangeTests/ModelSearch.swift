import Git
import GitSupport

@testable import Exchange

/// Everything that can happen in a small world of devices and sessions, one state after the other.
struct ModelSearch {
  private let world: ModelWorld
  /// For each commit the bits of all that it is made of, itself included.
  private let histories: [Int]
  private let ids: [ObjectID]
  private let numbers: [ObjectID: Int]

  /// How many states there may be: in a world without end there are ever more.
  private static let limit = 3_000_000

  init(_ world: ModelWorld) throws {
    self.world = world
    var histories: [Int] = []
    for (number, parents) in world.parents.enumerated() {
      histories.append(parents.reduce(1 << number) { $0 | histories[$1] })
    }
    self.histories = histories
    ids = histories.indices.map { HandmadePack.id(.blob, Array("\($0)".utf8)) }
    numbers = Dictionary(uniqueKeysWithValues: zip(ids, ids.indices))
  }

  /// A device: which commits it has, and which it shows.
  struct Device: Hashable {
    var known: Int
    var heads: Int
    var edits: [Int]
  }

  enum Message: Hashable {
    case heads([ObjectID])
    case applied([ObjectID], heard: Int)
    case want([ObjectID])
    case pack(Int)
    case bye
  }

  /// One end of a session.
  struct End: Hashable {
    var device: Int
    var rules: SessionRules
    var inbox: [Message] = []
    var isOpen = true
    /// What it is about to send of a pack.
    var giving: Int?
    /// The device shows something that this session has not told.
    var hasNews = false
    /// Another session's fetch is over.
    var mayReconsider = false
  }

  struct State: Hashable {
    var devices: [Device]
    /// The two ends of each session, one after the other.
    var ends: [End]
  }

  struct Found {
    var states = 0
    var ends = 0
  }

  /// Searches all states that can be reached.
  ///
  /// - Throws: `ModelFault` at the first state that must not be.
  func run() throws -> Found {
    var found = Found()
    var waiting = [try start()]
    var seen = Set(waiting)
    while let state = waiting.popLast() {
      found.states += 1
      if found.states > Self.limit { throw ModelFault(description: "\(world.name): no end") }
      let following = try successors(of: state)
      if following.isEmpty {
        try checkRest(state)
        found.ends += 1
      }
      for next in following + losses(of: state) where seen.insert(next).inserted {
        waiting.append(next)
      }
    }
    return found
  }

  // MARK: Events

  private func start() throws -> State {
    var state = State(
      devices: world.heads.enumerated().map { device, heads in
        let shown = maximal(heads.reduce(0) { $0 | 1 << $1 })
        return Device(known: history(shown), heads: shown, edits: world.edits[device])
      }, ends: [])
    for (one, other, terms, otherTerms) in world.sessions {
      let heads = [one, other].map { list(state.devices[$0].heads) }
      state.ends.append(
        End(
          device: one, rules: SessionRules(mutated(terms), own: shown(heads[0]), theirs: heads[1])))
      state.ends.append(
        End(
          device: other,
          rules: SessionRules(mutated(otherTerms), own: shown(heads[1]), theirs: heads[0])))
    }
    for end in state.ends.indices { try advance(end, &state) }
    return state
  }

  private func mutated(_ terms: SessionRules.Terms) -> SessionRules.Terms {
    var terms = terms
    switch world.mutation {
    case .endsUnconfirmed: terms.gives = false
    case .endsUnsettled: terms.takes = false
    case .answersNothing, .confirmsAll, nil: break
    }
    return terms
  }

  /// Every state that can follow, but by loss of connection.
  private func successors(of state: State) throws -> [State] {
    var following: [State] = []
    func follow(_ change: (inout State) throws -> Void) rethrows {
      var next = state
      try change(&next)
      following.append(next)
    }
    for (number, device) in state.devices.enumerated() {
      guard let edit = device.edits.first,
        device.known & history(edit, without: true) == history(edit, without: true)
      else { continue }
      follow { next in
        next.devices[number].edits.removeFirst()
        show(device.heads | 1 << edit, on: number, except: nil, &next)
        next.devices[number].known |= 1 << edit
      }
    }
    for (number, end) in state.ends.enumerated() where end.isOpen {
      if !end.inbox.isEmpty { try follow { try receive(number, &$0) } }
      if end.giving != nil { try follow { try give(number, &$0) } }
      if end.hasNews { try follow { try tell(number, &$0) } }
      if end.mayReconsider {
        try follow { next in
          next.ends[number].mayReconsider = false
          next.ends[number].rules.reconsider()
          try advance(number, &next)
        }
      }
    }
    return following
  }

  /// A session that breaks off at both ends, with what was under way.
  private func losses(of state: State) -> [State] {
    stride(from: 0, to: state.ends.count, by: 2).compactMap { first in
      guard state.ends[first].isOpen || state.ends[first + 1].isOpen else { return nil }
      var next = state
      for end in [first, first + 1] { close(end, &next) }
      return next
    }
  }

  private func close(_ number: Int, _ state: inout State) {
    state.ends[number].isOpen = false
    state.ends[number].inbox = []
    state.ends[number].giving = nil
    state.ends[number].hasNews = false
    state.ends[number].mayReconsider = false
    endFetch(number, &state)
  }

  private func endFetch(_ number: Int, _ state: inout State) {
    let device = state.ends[number].device
    for other in state.ends.indices where other != number && state.ends[other].device == device {
      if state.ends[other].isOpen, state.ends[other].rules.fetch == .leftToOthers {
        state.ends[other].mayReconsider = true
      }
    }
  }

  /// A device shows these commits from now on; its sessions have news, but for the one that tells it.
  private func show(_ commits: Int, on device: Int, except teller: Int?, _ state: inout State) {
    let heads = maximal(commits)
    if state.devices[device].heads == heads { return }
    state.devices[device].heads = heads
    for end in state.ends.indices where state.ends[end].device == device && end != teller {
      if state.ends[end].isOpen { state.ends[end].hasNews = true }
    }
  }

  /// The rules look at heads alone.
  private func shown(_ heads: [ObjectID]) -> Shown { Shown(tip: nil, heads: heads) }

  private func tell(_ number: Int, _ state: inout State) throws {
    state.ends[number].hasNews = false
    let heads = list(state.devices[state.ends[number].device].heads)
    if heads != state.ends[number].rules.own.heads {
      state.ends[number].rules.sent(shown(heads))
      send(.heads(heads), from: number, &state)
    }
    try advance(number, &state)
  }

  private func send(_ message: Message, from number: Int, _ state: inout State) {
    // Whoever has closed hears nothing.
    if state.ends[number ^ 1].isOpen { state.ends[number ^ 1].inbox.append(message) }
  }

  private func receive(_ number: Int, _ state: inout State) throws {
    switch state.ends[number].inbox.removeFirst() {
    case .heads(let heads): state.ends[number].rules.received(heads, answering: nil)
    case .applied(let heads, let heard):
      state.ends[number].rules.received(
        heads, answering: world.mutation == .confirmsAll ? Int.max : heard)
    case .want(let wanted):
      state.ends[number].giving = wanted.reduce(0) { $0 | histories[numbers[$1] ?? 0] }
      state.ends[number].rules.isGiving = true
    case .pack(let commits):
      let device = state.ends[number].device
      guard case .asked(let wanted) = state.ends[number].rules.fetch else {
        throw fault("a pack that nobody asked for")
      }
      state.devices[device].known |= commits
      state.ends[number].rules.arrived()
      let theirs = state.ends[number].rules.theirs
      let isHere = theirs.allSatisfy { state.devices[device].known & bit($0) != 0 }
      try merge(isHere ? theirs : wanted, number, &state)
      endFetch(number, &state)
    case .bye:
      if case .asked = state.ends[number].rules.fetch { throw fault("left while it waits") }
      return close(number, &state)
    }
    try advance(number, &state)
  }

  private func give(_ number: Int, _ state: inout State) throws {
    guard let commits = state.ends[number].giving else { return }
    state.ends[number].giving = nil
    state.ends[number].rules.isGiving = false
    send(.pack(commits), from: number, &state)
    try advance(number, &state)
  }

  /// What `Session` does by its rules until there is nothing to do.
  private func advance(_ number: Int, _ state: inout State) throws {
    while state.ends[number].isOpen {
      let device = state.devices[state.ends[number].device]
      let step = state.ends[number].rules.next(
        lacking: { $0.filter { device.known & bit($0) == 0 } },
        isShown: { heads in heads.allSatisfy { history(device.heads) & bit($0) != 0 } })
      switch step {
      case .wait: return
      case .fetch(let wanted):
        let isTaken = state.ends.indices.contains { other in
          guard other != number, state.ends[other].isOpen,
            state.ends[other].device == state.ends[number].device,
            case .asked(let heads) = state.ends[other].rules.fetch
          else { return false }
          return !Set(heads).isDisjoint(with: wanted)
        }
        if isTaken { return state.ends[number].rules.leaveToOthers() }
        state.ends[number].rules.ask(for: wanted)
        send(.want(wanted), from: number, &state)
      case .merge: try merge(state.ends[number].rules.theirs, number, &state)
      case .answer: answer(number, &state)
      case .end:
        try checkEnd(number, state)
        send(.bye, from: number, &state)
        close(number, &state)
      }
    }
  }

  private func merge(_ heads: [ObjectID], _ number: Int, _ state: inout State) throws {
    let device = state.ends[number].device
    state.ends[number].rules.settle(heads)
    show(
      heads.reduce(state.devices[device].heads) { $0 | bit($1) }, on: device, except: number, &state
    )
    answer(number, &state)
  }

  private func answer(_ number: Int, _ state: inout State) {
    let heads = list(state.devices[state.ends[number].device].heads)
    state.ends[number].rules.sent(shown(heads))
    state.ends[number].hasNews = false
    let heard = state.ends[number].rules.reply()
    if world.mutation == .answersNothing { return }
    send(.applied(heads, heard: heard), from: number, &state)
  }

  // MARK: Laws

  /// "When a side is done, everything that either had when the session began is at the other, as far as
  /// directions allow": and more than that, everything that was told.
  private func checkEnd(_ number: Int, _ state: State) throws {
    let (end, peer) = (state.ends[number], state.ends[number ^ 1])
    let session = world.sessions[number / 2]
    let isFirst = number % 2 == 0
    let (terms, peerTerms) = isFirst ? (session.2, session.3) : (session.3, session.2)
    if terms.takes, peerTerms.gives {
      try expect(end.rules.theirs, at: end, state, "what it was told")
    }
    if terms.gives, peerTerms.takes {
      try expect(end.rules.own.heads, at: peer, state, "what it has told")
    }
  }

  private func expect(_ heads: [ObjectID], at end: End, _ state: State, _ what: String) throws {
    let history = history(state.devices[end.device].heads)
    if heads.contains(where: { history & bit($0) == 0 }) {
      throw fault("done too early: \(what) is not there")
    }
  }

  /// Where nothing can happen any more no session may wait, and those that go on show the same.
  private func checkRest(_ state: State) throws {
    for first in stride(from: 0, to: state.ends.count, by: 2) {
      let (one, other) = (state.ends[first], state.ends[first + 1])
      if !one.isOpen && !other.isOpen { continue }
      if one.rules.terms.ends { throw fault("waits for ever") }
      if state.devices[one.device].heads != state.devices[other.device].heads {
        throw fault("rests although devices differ")
      }
    }
  }

  private func fault(_ what: String) -> ModelFault {
    ModelFault(description: "\(world.name): \(what)")
  }

  // MARK: Commits as bits

  private func bit(_ id: ObjectID) -> Int { 1 << (numbers[id] ?? 0) }

  private func list(_ commits: Int) -> [ObjectID] {
    ids.indices.filter { commits & 1 << $0 != 0 }.map { ids[$0] }
  }

  private func history(_ commits: Int) -> Int {
    histories.indices.reduce(0) { commits & 1 << $1 != 0 ? $0 | histories[$1] : $0 }
  }

  private func history(_ commit: Int, without isExcluded: Bool) -> Int {
    histories[commit] & ~(isExcluded ? 1 << commit : 0)
  }

  /// Those that no other one descends from.
  private func maximal(_ commits: Int) -> Int {
    histories.indices.filter { number in
      commits & 1 << number != 0
        && !histories.indices.contains {
          $0 != number && commits & 1 << $0 != 0 && histories[$0] & 1 << number != 0
        }
    }.reduce(0) { $0 | 1 << $1 }
  }
}
