internal import Exchange
internal import Git
internal import History
internal import Membership
internal import Notebook

extension Check {
  /// Checks how each other device and this one receive each other's versions.
  static let meetings = Check(
    name: "meetings", title: "meetings", remedy: "'notes peers' shows the devices"
  ) { context in
    // Another check reports an unreadable list.
    let members = ((try? context.notebook.membership())?.members() ?? [])
      .filter { !$0.isRemoved && $0.deviceID != context.ownDevice }
    let hubs = try context.notebook.hubs()
    if members.isEmpty, hubs.isEmpty { return .good("there is no other device, and no hub") }
    let meetings = try Meetings(of: members, in: context)
    return members.flatMap { meetings.finding(of: $0, hubs: hubs) } + meetings.pairs()
      + hubs.flatMap { meetings.finding(of: $0) }
  }
}

/// This device's records about the other devices and the hubs.
private struct Meetings {
  private let now: Int64
  private let members: [Member]
  private let seen: PeerSightings
  private let addresses: [String: String]
  private let sightings: HubSightings
  /// The members' reports of the devices to which they connected, by device ID.
  private let reports: [String: PeerSightings.Report]
  /// The hubs that the members visit, by device ID.
  private let visits: [String: HubSightings.Visits]
  private var visited: Set<String> = []
  /// Whether a forgetting has removed the record of earlier visits.
  private let isRewritten: Bool
  /// When each device made its newest version known here.
  private let newest: [String: Int64]
  /// Whether this device has a hub, or another device reported one.
  private let areHubsKnown: Bool

  /// How many days a new member may go without a sign, and a device without a hub in common may be away.
  private static let patience: Int64 = 7
  /// For how many days a meeting shows that two devices exchange versions.
  private static let memory: Int64 = 30
  /// The most pairs of devices that are named.
  private static let mostPairs = 10

  init(of members: [Member], in context: CheckContext) throws {
    let notebook = context.notebook
    now = context.now
    self.members = members
    let seen = PeerSightings(stateFolder: notebook.stateFolder)
    self.seen = seen
    let told = members.compactMap { member in
      seen.report(of: member.deviceID).map { (member.deviceID, $0) }
    }
    reports = Dictionary(told) { first, _ in first }
    addresses = PeerAddresses(stateFolder: notebook.stateFolder).all().mapValues(\.description)
    sightings = HubSightings(of: notebook)
    isRewritten = try notebook.history.obeyed() != nil
    visits = sightings.visits()
    let hubs = try notebook.hubs()
    areHubsKnown = !hubs.isEmpty || !visits.isEmpty
    for hub in hubs where try HubState(of: hub, in: notebook).tip != nil {
      visited.insert(hub.name)
    }
    // Another check reports an incomplete history.
    newest = ((try? notebook.newestVersions(of: Set(members.map(\.deviceID)))) ?? [:])
      .mapValues(\.author.time)
  }

  func finding(of member: Member, hubs: [Hub]) -> [Finding] {
    let name = Visible.name(member.name)
    if let time = seen.last(of: member.deviceID) {
      let place = addresses[member.deviceID].map { ", last at \($0)" } ?? ""
      let fact =
        "\(name) was met \(TimeText.relative(time, now: now))\(place)"
        + (arrival(from: member).map { "; \($0)" } ?? "")
      guard let visits = visits[member.deviceID],
        hubs.contains(where: { sightings.lastVisit(of: $0) != nil })
      else { return .good(fact) }
      let common = visits.common.sorted { $0.key < $1.key }.map {
        "\(Visible.name($0.key)) \(TimeText.relative($0.value, now: now))"
      }
      if !common.isEmpty { return .good("\(fact); it visited the hub \(Phrase.list(common))") }
      let apart = "\(fact); it told of no hub that this device visits"
      if now - time < Self.patience * 86_400 || arrival(from: member) != nil { return .good(apart) }
      if hubs.contains(where: { visited.contains($0.name) && sightings.lastVisit(of: $0) == nil }) {
        return .good("\(apart), but devices tell of no hub that is a folder of their machine")
      }
      return .advice(
        apart + ", so other devices must carry versions between the two",
        remedy: "add one hub on both: 'notes remote add'")
    }
    let carrier = carrier(of: member)
    if let arrival = arrival(from: member) {
      return .good(
        "\(name) never connected directly; \(arrival)" + (carrier.map { "; \($0)" } ?? ""))
    }
    let fact = "\(name) never connected, and no version by it is here"
    if let carrier { return .good("\(fact); \(carrier)") }
    let since = member.admission.at
    if now - since < Self.patience * 86_400 {
      return .good("\(fact); it became a member \(TimeText.relative(since, now: now))")
    }
    guard let hub = hubs.first else {
      return .advice(
        fact + "; no hub is known here",
        remedy: "run 'notes sync' on both in one network, or add a hub on both: 'notes remote add'")
    }
    if member.role == .reader {
      return .good("\(fact); a reader sends none, so this device cannot tell if it visits a hub")
    }
    return .advice(
      fact,
      remedy: "'notes remote' on \(name) shows if it has \(Visible.name(hub.name)) as a hub as well"
    )
  }

  /// The words for the newest version of a device if it did not arrive in a session with that device; nil if it may have.
  private func arrival(from member: Member) -> String? {
    guard let time = newest[member.deviceID] else { return nil }
    // A session may last for a day after its record, and clocks differ.
    if let last = seen.last(of: member.deviceID), time - last < 2 * 86_400 { return nil }
    return
      "its newest version (\(TimeText.relative(time, now: now))) arrived by a hub, a bundle or another device"
  }

  /// Whether a device may visit a hub that it did not report to this one.
  private func mayVisitOtherHub(_ member: Member) -> Bool {
    areHubsKnown && (seen.last(of: member.deviceID) == nil || arrival(from: member) != nil)
  }

  /// The member that last connected to a device to which this one never connected, by the members' reports. Nil if no
  /// member did lately.
  private func carrier(of member: Member) -> String? {
    let met = members.compactMap { other in
      reports[other.deviceID]?.met[member.deviceID].map { (name: other.name, time: $0) }
    }
    return met.filter { isLate($0.time) }.max { $0.time < $1.time }.map {
      "\(Visible.name($0.name)) connected to it \(about($0.time))"
    }
  }

  /// Whether a meeting at that time still shows that two devices exchange versions.
  private func isLate(_ time: Int64) -> Bool { now - time < Self.memory * 86_400 }

  /// The words for the time of a reported meeting, which may have been a day earlier.
  private func about(_ time: Int64) -> String {
    let days = Int(max(0, now - time) / 86_400)
    return days == 0 ? "in the last two days" : "about \(Phrase.count(days, "day")) ago"
  }

  // MARK: Pairs of other devices

  /// How two other devices exchange versions, as far as they reported to this one.
  private struct Pair {
    let first: Member
    let second: Member
    /// When they were last connected, by their reports; nil if they reported no time.
    let met: Int64?
    /// Whether they reported a hub in common.
    let shareHub: Bool
    /// Whether they reported a recent connection or a hub in common.
    let isLinked: Bool
    /// Whether they reported neither a connection nor a hub in common, and nothing shows that one of them visits
    /// another hub.
    let isApart: Bool

    var members: [Member] { [first, second] }
    var names: String { "\(Visible.name(first.name)) and \(Visible.name(second.name))" }
  }

  /// Nil if the two reported nothing, and their silence proves nothing: neither listed all its meetings, or one
  /// may visit a hub that it did not report.
  private func pair(_ first: Member, _ second: Member) -> Pair? {
    let (one, other) = (reports[first.deviceID], reports[second.deviceID])
    let met = [one?.met[second.deviceID], other?.met[first.deviceID]].compactMap { $0 }.max()
    let hubs = [first, second].compactMap { visits[$0.deviceID] }
    let shareHub = hubs.count == 2 && hubs[0].meet(hubs[1])
    let isLinked = shareHub || met.map(isLate) == true
    let mayShareOther = [first, second].contains(where: mayVisitOtherHub)
    let isWhole = one?.isWhole == true || other?.isWhole == true
    if met == nil, !isLinked, mayShareOther || !isWhole { return nil }
    return Pair(
      first: first, second: second, met: met, shareHub: shareHub, isLinked: isLinked,
      isApart: !isLinked && !mayShareOther)
  }

  /// How the other devices meet each other: first the pairs that do not meet, then those that have not met for
  /// the longest time.
  func pairs() -> [Finding] {
    let pairs = members.indices.flatMap { first in
      members.dropFirst(first + 1).compactMap { pair(members[first], $0) }
    }.sorted { ($0.isApart ? 0 : 1, $0.met ?? 0) < ($1.isApart ? 0 : 1, $1.met ?? 0) }
    let more = pairs.count - Self.mostPairs
    return pairs.prefix(Self.mostPairs).flatMap { finding(of: $0) }
      + (more > 0 ? .good("and \(Phrase.count(more, "more pair")) of devices") : [])
  }

  private func finding(of pair: Pair) -> [Finding] {
    let connection = pair.met.map { "\(pair.names) last connected \(about($0))" }
    if !pair.isApart {
      guard let connection else { return .good("\(pair.names) visit a hub in common") }
      return .good(connection + (pair.shareHub ? ", and visit a hub in common" : ""))
    }
    let told = pair.members.filter { reports[$0.deviceID] != nil }.compactMap { member in
      seen.last(of: member.deviceID).map {
        "\(Visible.name(member.name)) \(TimeText.relative($0, now: now))"
      }
    }
    let fact =
      (connection.map { "\($0), and have told of no hub in common" }
        ?? "\(pair.names) have told of no connection and of no hub in common")
      + ", \(Phrase.list(told))"
    let others = members.filter { other in pair.members.allSatisfy { isLinked(other, to: $0) } }
    if !others.isEmpty {
      let names = Phrase.list(["this device"] + others.map { Visible.name($0.name) })
      return .good("\(fact): \(names) carry versions between them")
    }
    let carried = "\(fact): only this device is known to carry versions between them"
    // An old report does not show that the two devices still have no connection.
    let away = pair.members.filter { isAway($0) == true }
    let knows = pair.members.contains {
      reports[$0.deviceID]?.isWhole == true && isAway($0) == false
    }
    guard knows, let one = away.first, let last = seen.last(of: one.deviceID) else {
      return .good(carried)
    }
    return .advice(
      carried + ", and it last connected to \(Visible.name(one.name)) "
        + TimeText.relative(last, now: now),
      remedy: "run 'notes sync' on both in one network, or add one hub on both: 'notes remote add'")
  }

  /// Whether a device has not connected to this one for long; nil if it never did.
  private func isAway(_ member: Member) -> Bool? {
    seen.last(of: member.deviceID).map { now - $0 >= Self.patience * 86_400 }
  }

  /// Whether two other devices were connected, or visit a hub in common.
  private func isLinked(_ one: Member, to other: Member) -> Bool {
    if one.deviceID == other.deviceID { return false }
    return pair(one, other)?.isLinked ?? false
  }

  func finding(of hub: Hub) -> [Finding] {
    let name = Visible.name(hub.name)
    guard visited.contains(hub.name) else {
      return .advice(
        isRewritten
          ? "no visit to the hub \(name) is known since something was forgotten"
          : "this device has never visited the hub \(name)",
        remedy: "'notes sync --hub' visits the hubs")
    }
    let time = sightings.lastVisit(of: hub).map { " " + TimeText.relative($0, now: now) } ?? ""
    return .good("the hub \(name) was visited\(time)")
  }
}
