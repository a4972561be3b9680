internal import State
internal import System

/// The claims that this device has seen, and the days that it counted. The file `claims` in the membership's
/// folder is never sent. notes-security(7), "A lost founder".
struct ClaimRecord: Equatable, Sendable {
  /// A claim of a key on the place of a founder's key.
  struct Pair: Hashable, Sendable {
    let founder: [UInt8]
    let claimer: [UInt8]
  }

  enum State: Equatable, Sendable {
    /// The claim waits. `days` has the day on which the claim was first seen, and the days that counted; `last`
    /// is the last day on which the device looked. All are counted from 1970. A day counts if the device heard
    /// another device or a hub, or for its own claim, if it was used.
    case waiting(days: [Int64], last: Int64, isOwn: Bool)
    /// A stop came first.
    case stopped
    case accepted(AcceptedClaim)
  }

  /// The days that a claim waits.
  static let wait = 14

  private(set) var states: [Pair: State] = [:]

  private static let form = "notes-claims"
  private static let maximumSize = 1 << 18
  private static let day: Int64 = 86_400

  /// The accepted claims, by the key of the founder whose place was claimed.
  var accepted: [[UInt8]: AcceptedClaim] {
    states.reduce(into: [:]) { found, one in
      if case .accepted(let claim) = one.value { found[one.key.founder] = claim }
    }
  }

  subscript(pair: Pair) -> State? { states[pair] }

  /// The days for which a claim still waits; nil if it does not wait.
  func daysLeft(_ pair: Pair) -> Int? {
    guard case .waiting(let days, _, _) = states[pair] else { return nil }
    return max(0, Self.wait + 1 - days.count)
  }

  /// Whether this device's own claim waits.
  func isOwn(_ pair: Pair) -> Bool {
    if case .waiting(_, _, true) = states[pair] { true } else { false }
  }

  /// Begins the wait of a claim that this device makes.
  mutating func begin(own pair: Pair, now: Int64) {
    if states[pair] == nil { look(at: pair, hears: false, now: now) }
    guard case .waiting(let days, let last, _) = states[pair] else { return }
    states[pair] = .waiting(days: days, last: last, isOwn: true)
  }

  /// Counts today for an open claim, if today is later than the last day and did not count before. A clock that
  /// jumps ahead adds one day. A clock that goes back adds none, and returning adds none either.
  mutating func look(at pair: Pair, hears: Bool, now: Int64) {
    // The day is rounded down, also before 1970.
    let today = now >= 0 ? now / Self.day : (now + 1) / Self.day - 1
    switch states[pair] {
    case nil: states[pair] = .waiting(days: [today], last: today, isOwn: false)
    case .waiting(var days, let last, let isOwn) where hears || isOwn:
      if today > last, days.count <= Self.wait, !days.contains(today) { days.append(today) }
      states[pair] = .waiting(days: days, last: today, isOwn: isOwn)
    case .waiting, .stopped, .accepted: break
    }
  }

  /// Ends the wait of a claim for good.
  mutating func stop(_ pair: Pair) {
    if case .accepted = states[pair] { return }
    states[pair] = .stopped
  }

  mutating func accept(_ claim: AcceptedClaim, on founder: [UInt8]) {
    states[Pair(founder: founder, claimer: claim.claimer)] = .accepted(claim)
  }

  /// Replaces all accepted claims by these.
  mutating func follow(_ claims: [(founder: [UInt8], claim: AcceptedClaim)]) {
    states = states.filter { if case .accepted = $0.value { false } else { true } }
    for one in claims { accept(one.claim, on: one.founder) }
  }

  /// Forgets the waits of claims that are not among these.
  mutating func forgetWaiting(except open: Set<Pair>) {
    states = states.filter { pair, state in
      if case .waiting = state { open.contains(pair) } else { true }
    }
  }

  // MARK: The file

  private static func path(in folder: String) -> String { "\(folder)/claims" }

  /// The content of the file; nil if there is none.
  static func bytes(in folder: String) throws -> [UInt8]? {
    try Disk.readIfThere(path(in: folder), limit: maximumSize)
  }

  /// Reads the record; a missing file is an empty one.
  ///
  /// - Throws: `fileDamaged` for any other content: the record decides which device is the founder.
  init(in folder: String) throws {
    guard let bytes = try Self.bytes(in: folder) else { return }
    let path = Self.path(in: folder)
    let lines: StateLines
    do {
      lines = try StateLines(of: bytes, at: path)
    } catch {
      throw MembershipError.fileDamaged(path: path)
    }
    guard let first = lines.lines.first, first.key == Self.form, first.value == "1" else {
      throw MembershipError.fileDamaged(path: path)
    }
    for line in lines.lines.dropFirst() {
      guard let (pair, state) = Self.read(line), states.updateValue(state, forKey: pair) == nil
      else { throw MembershipError.fileDamaged(path: path) }
    }
    if lines.lines.count == 1 { throw MembershipError.fileDamaged(path: path) }
  }

  /// An empty record.
  init() {}

  private static func read(_ line: StateLine) -> (Pair, State)? {
    let words = (0..<line.words.count).map { line.words[$0] }
    guard words.count >= 3, let founder = [UInt8](base32: words[1]), founder.count == 32,
      let claimer = [UInt8](base32: words[2]), claimer.count == 32
    else { return nil }
    let pair = Pair(founder: founder, claimer: claimer)
    switch (words[0], words.count) {
    case ("waiting", 5...), ("own", 5...):
      let days = words.dropFirst(3).compactMap { Int64($0) }
      guard days.count == words.count - 3, days.count <= wait + 2,
        Set(days.dropFirst()).count == days.count - 1
      else { return nil }
      let counted = Array(days.dropFirst())
      return (pair, .waiting(days: counted, last: days[0], isOwn: words[0] == "own"))
    case ("stopped", 3): return (pair, .stopped)
    case ("accepted", 5):
      guard let anchor = [UInt8](hexadecimal: words[3]), anchor.count == Serial.size,
        let staying = [UInt8](hexadecimal: words[4]), staying.count == Serial.size
      else { return nil }
      return (
        pair, .accepted(AcceptedClaim(claimer: claimer, anchor: anchor, staying: staying))
      )
    default: return nil
    }
  }

  /// Writes the record; an empty one has no file.
  func write(in folder: String) throws {
    let path = Self.path(in: folder)
    if states.isEmpty { return Disk.removeTree(path) }
    var lines = StateLines([Self.form: 1])
    let sorted = states.map { pair, state -> (String, String) in
      let ids = "\(String(base32: pair.founder)) \(String(base32: pair.claimer))"
      return switch state {
      case .waiting(let days, let last, let isOwn):
        (
          isOwn ? "own" : "waiting",
          ([ids] + ([last] + days).map(String.init)).joined(separator: " ")
        )
      case .stopped: ("stopped", ids)
      case .accepted(let claim):
        (
          "accepted",
          "\(ids) \(String(hexadecimal: claim.anchor)) \(String(hexadecimal: claim.staying))"
        )
      }
    }.sorted { $0.0 + $0.1 < $1.0 + $1.1 }
    for (key, value) in sorted { lines.append(key, value) }
    try Disk.replace(path, with: lines.bytes, mode: 0o644, isShared: true)
  }
}
