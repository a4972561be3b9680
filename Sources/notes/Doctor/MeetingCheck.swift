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
    return members.flatMap { meetings.finding(of: $0, hubs: hubs) }
      + meetings.apart(members) + hubs.flatMap { meetings.finding(of: $0) }
  }
}

/// This device's records about the other devices and the hubs.
private struct Meetings {
  private let now: Int64
  private let seen: PeerSightings
  private let addresses: [String: String]
  private let sightings: HubSightings
  private var visited: Set<String> = []
  /// When each device made its newest version known here.
  private var newest: [String: Int64] = [:]

  /// How many versions are searched for the newest of each device.
  private static let depth = 2_000
  /// How many days a new member may go without a sign, and a device without a hub in common may be away.
  private static let patience: Int64 = 7
  /// The most pairs of devices that are named.
  private static let mostPairs = 5

  init(of members: [Member], in context: CheckContext) throws {
    let notebook = context.notebook
    now = context.now
    seen = PeerSightings(stateFolder: notebook.stateFolder)
    addresses = PeerAddresses(stateFolder: notebook.stateFolder).all().mapValues(\.description)
    sightings = HubSightings(of: notebook)
    for hub in try notebook.hubs() where try HubState(of: hub, in: notebook).tip != nil {
      visited.insert(hub.name)
    }
    let unmet = Set(members.map(\.deviceID).filter { [seen] in seen.last(of: $0) == nil })
    if !unmet.isEmpty { newest = try Self.newest(of: unmet, in: notebook) }
  }

  /// The times of the newest versions that these devices have signed, by the versions' own dates.
  private static func newest(
    of devices: Set<String>, in notebook: Notebook
  ) throws -> [String: Int64] {
    var found: [String: Commit] = [:]
    var pending = [try notebook.state().tip].compactMap { $0 }
    var known = Set(pending)
    var next = 0
    while next < pending.count, next < depth {
      let commit = try notebook.repository.commit(pending[next])
      next += 1
      for parent in commit.parents where known.insert(parent).inserted { pending.append(parent) }
      guard let device = commit.deviceID, devices.contains(device) else { continue }
      if found[device].map({ $0.author.time < commit.author.time }) ?? true {
        found[device] = commit
      }
    }
    let proofs = VersionProofs(in: notebook)
    defer { proofs.remember() }
    return try found.filter { try proofs.author(of: $0.value).proof == .verified }
      .mapValues(\.author.time)
  }

  func finding(of member: Member, hubs: [Hub]) -> [Finding] {
    let name = Visible.name(member.name)
    if let time = seen.last(of: member.deviceID) {
      let place = addresses[member.deviceID].map { ", last at \($0)" } ?? ""
      let fact = "\(name) was met \(TimeText.relative(time, now: now))\(place)"
      guard let visits = sightings.visits(of: member.deviceID), !hubs.isEmpty else {
        return .good(fact)
      }
      let common = visits.common.sorted { $0.key < $1.key }.map {
        "\(Visible.name($0.key)) \(TimeText.relative($0.value, now: now))"
      }
      if !common.isEmpty { return .good("\(fact); it visited the hub \(Phrase.list(common))") }
      let apart = "\(fact); it visits no hub that this device visits"
      if now - time < Self.patience * 86_400 { return .good(apart) }
      return .advice(
        apart + ", so other devices must carry versions between the two",
        remedy: "add one hub on both: 'notes remote add'")
    }
    if let time = newest[member.deviceID] {
      return .good(
        "\(name) never connected directly; its newest version "
          + "(\(TimeText.relative(time, now: now))) arrived by a hub, a bundle or another device")
    }
    let fact = "\(name) never connected, and no version by it is here"
    if now - member.issuedAt < Self.patience * 86_400 {
      return .good("\(fact); it became a member \(TimeText.relative(member.issuedAt, now: now))")
    }
    guard let hub = hubs.first else {
      return .advice(
        fact + "; no hub is known here",
        remedy: "run 'notes sync' on both in one network, or add a hub on both: 'notes remote add'")
    }
    return .advice(
      fact,
      remedy: "'notes remote' on \(name) shows if it has \(Visible.name(hub.name)) as a hub as well"
    )
  }

  /// Pairs of other devices that meet at no hub, as far as they told this device.
  func apart(_ members: [Member]) -> [Finding] {
    let known = members.compactMap { member in
      sightings.visits(of: member.deviceID).map { (name: Visible.name(member.name), visits: $0) }
    }
    let pairs = known.indices.flatMap { first in
      known.dropFirst(first + 1).filter { !known[first].visits.meet($0.visits) }
        .map { "\(known[first].name) and \($0.name)" }
    }
    return pairs.prefix(Self.mostPairs).flatMap { pair -> [Finding] in
      .good(
        "\(pair) visit no hub in common: unless they meet in one network, other devices carry "
          + "versions between them")
    }
  }

  func finding(of hub: Hub) -> [Finding] {
    let name = Visible.name(hub.name)
    guard visited.contains(hub.name) else {
      return .advice(
        "this device has never visited the hub \(name)",
        remedy: "'notes sync --hub' visits the hubs")
    }
    let time = sightings.lastVisit(of: hub).map { " " + TimeText.relative($0, now: now) } ?? ""
    return .good("the hub \(name) was visited\(time)")
  }
}
