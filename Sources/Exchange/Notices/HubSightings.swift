public import Git
internal import Glibc
internal import History
internal import Membership
public import Notebook
internal import State
internal import System

/// The versions that hubs last showed this device, and those that they showed members by the
/// members' reports: `.git/notes/hubs`. See notes-hub(7), "A hub that shows two histories".
public struct HubSightings: Sendable {
  /// A hub that showed a member another history than this device.
  public struct Difference: Hashable, Sendable {
    /// The kind of difference.
    public enum Kind: String, Sendable {
      /// Neither version is in the other's history.
      case split
      /// The hub showed the member an older version after it had shown this device a newer one.
      case olderThere = "older_there"
      /// The hub showed this device an older version after it had shown the member a newer one.
      case olderHere = "older_here"
      /// The hub showed the member a list of members that lacked entries which it had shown this device, or accepted
      /// from it, before.
      case membersOlderThere = "members_older_there"
      /// The hub showed this device a list of members that lacked entries which it had shown the member, or accepted
      /// from it, before.
      case membersOlderHere = "members_older_here"
    }

    /// This device's user's name for the hub.
    public let hub: String
    /// The member's device ID.
    public let device: String
    /// The kind of difference.
    public let kind: Kind
    /// The tip that the hub showed this device, or the version of the list of members.
    public let tip: ObjectID
    /// The tip, or the version of the list of members, that the hub showed the member.
    public let peerTip: ObjectID
  }

  /// The tip, or the list of members, that a hub showed a device, by this device's clock.
  struct Sighting: Hashable {
    /// The ID of the device that saw it; nil for this device.
    var device: String?
    /// A hash of hub and branch.
    var place: ObjectID
    /// This device's name for the hub; "-" for another device's.
    var name = "-"
    var tip: ObjectID
    /// When the hub first and last showed or accepted that version, in seconds since 1970.
    var since: Int64
    var last: Int64
    /// The number of certificates and revoked serial numbers in a list of members; nil for a tip.
    var size: Int?
  }

  private let path: String
  private let folder: String

  /// The record in this notebook's state folder.
  public init(of notebook: Notebook) {
    (path, folder) = (notebook.stateFolder[.hubs], notebook.stateFolder.path)
  }

  /// How many seconds a visit may take: the order of two visits within that time is unknown.
  static let margin: Int64 = 300
  /// How many sightings are kept.
  private static let capacity = 256

  private var all: [Sighting] {
    Disk.memory(at: path) { lines in lines.lines.compactMap { Sighting($0) } } ?? []
  }

  /// When this device last visited a hub, in seconds since 1970; nil if it never did, or if the hub is a folder
  /// of this machine.
  public func lastVisit(of hub: Hub) -> Int64? {
    all.filter { $0.device == nil && $0.name == hub.name }.map(\.last).max()
  }

  /// The size of a hub's list of members at this device's last visit; nil if unknown, or if `record` stores
  /// nothing about this hub.
  func listSize(of hub: Hub, notebook: String) throws -> Int? {
    let place = try HubPlace.id(of: hub.url, branch: MemberList.reference, notebook: notebook)
    return all.last { $0.device == nil && $0.place == place }?.size
  }

  /// Changes the record, one thread and process at a time.
  private func change(_ body: (inout [Sighting]) -> Void) {
    // Without the lock, the change may replace that of another session, which its next report repeats.
    let lock = try? Disk.lock(folder, O_RDONLY | O_DIRECTORY, until: .after(seconds: 1))
    withExtendedLifetime(lock) {
      let former = all
      var sightings = former
      body(&sightings)
      if sightings != former { keep(sightings) }
    }
  }

  private func keep(_ sightings: [Sighting]) {
    var lines = StateLines()
    let own = sightings.filter { $0.device == nil }.suffix(Self.capacity)
    let others = sightings.filter { $0.device != nil }.suffix(Self.capacity - own.count)
    for one in own + others { lines.append(one.device ?? Self.own, one.words) }
    Disk.keep(lines.bytes, at: path)
  }

  /// The file's word for this device.
  fileprivate static let own = "own"

  /// Records the hub's version and the size of its list after a visit.
  func record(
    _ hub: Hub, branch: String, tip: ObjectID, members: (version: ObjectID, size: Int)? = nil,
    notebook: String, now: Int64 = WallClock.now()
  ) throws {
    func place(_ branch: String) throws -> ObjectID? {
      try HubPlace.id(of: hub.url, branch: branch, notebook: notebook)
    }
    guard let branchPlace = try place(branch), let listPlace = try place(MemberList.reference)
    else {
      return
    }
    change { known in
      let former = known.filter { $0.device == nil && [branchPlace, listPlace].contains($0.place) }
      known.removeAll { $0.device == nil && ($0.name == hub.name || former.contains($0)) }
      func seen(_ place: ObjectID, _ tip: ObjectID, size: Int? = nil) -> Sighting {
        let since = former.first { $0.place == place && $0.tip == tip }?.since
        return Sighting(
          place: place, name: hub.name, tip: tip, since: min(since ?? now, now), last: now,
          size: size)
      }
      known.append(seen(branchPlace, tip))
      if let members { known.append(seen(listPlace, members.version, size: members.size)) }
    }
  }

  /// Drops the sightings of a hub that was removed: this device no longer reports them to members.
  public func forget(hub name: String) {
    change { known in known.removeAll { $0.device == nil && $0.name == name } }
  }

  /// The sightings that this device reports to members.
  func said(now: Int64 = WallClock.now()) -> [CarriedSighting] {
    all.filter { $0.device == nil }.suffix(ProtocolLimits.hubs).map {
      CarriedSighting(
        hub: $0.place, tip: $0.tip, since: max(0, now - $0.since), last: max(0, now - $0.last),
        size: $0.size)
    }
  }

  /// Records a member's report, replacing its last one.
  func record(_ said: [CarriedSighting], of device: String, now: Int64 = WallClock.now()) {
    let new = said.map {
      Sighting(
        device: device, place: $0.hub, tip: $0.tip, since: now - $0.since, last: now - $0.last,
        size: $0.size)
    }
    if new.isEmpty, !all.contains(where: { $0.device == device }) { return }
    change { known in
      known.removeAll { $0.device == device }
      known += new
    }
  }

  /// The hubs that a member visits, by its last report.
  public struct Visits: Hashable, Sendable {
    /// When it last visited each hub that this device visits as well, by this device's names, in seconds since 1970.
    public let common: [String: Int64]
    fileprivate let places: Set<ObjectID>

    /// Whether two members visit a hub in common.
    public func meet(_ other: Visits) -> Bool { !places.isDisjoint(with: other.places) }
  }

  /// The hubs that members visit, by device ID, of those that reported any. Hubs that are folders of a member's machine
  /// are not reported.
  public func visits() -> [String: Visits] {
    let known = all
    let own = known.filter { $0.device == nil }
    let reported = known.compactMap { one in one.device.map { (device: $0, sighting: one) } }
    return Dictionary(grouping: reported) { $0.device }.mapValues { theirs in
      var common: [String: Int64] = [:]
      for own in own {
        for (_, one) in theirs where one.place == own.place {
          common[own.name] = max(common[own.name] ?? one.last, one.last)
        }
      }
      return Visits(common: common, places: Set(theirs.map(\.sighting.place)))
    }
  }

  /// The hubs that showed members another history or list than this device. Histories are compared only if this
  /// device has both versions.
  public func differences(in notebook: Notebook) throws -> [Difference] {
    let known = all
    return try known.filter { $0.device == nil }.flatMap { own in
      try known.filter { $0.device != nil && $0.place == own.place }.compactMap { theirs in
        guard let device = theirs.device,
          let kind = try Self.difference(own, theirs, in: notebook.repository)
        else { return nil }
        return Difference(
          hub: own.name, device: device, kind: kind, tip: own.tip, peerTip: theirs.tip)
      }
    }
  }

  /// A hub's branch only moves forward: the tips shown to two devices are in one line of history, and a
  /// later one has at least as much.
  private static func difference(
    _ own: Sighting, _ theirs: Sighting, in repository: Repository
  ) throws -> Difference.Kind? {
    guard own.tip != theirs.tip else { return nil }
    if let size = own.size, let theirSize = theirs.size {
      return listDifference(own, size, theirs, theirSize)
    }
    guard own.size == nil, theirs.size == nil, try repository.contains(own.tip),
      try repository.contains(theirs.tip)
    else { return nil }
    if try repository.isAncestor(theirs.tip, of: own.tip) {
      return theirs.last > own.since + margin ? .olderThere : nil
    }
    if try repository.isAncestor(own.tip, of: theirs.tip) {
      return own.last > theirs.since + margin ? .olderHere : nil
    }
    return .split
  }

  /// A list of members only grows: a later one has at least as many entries.
  private static func listDifference(
    _ own: Sighting, _ size: Int, _ theirs: Sighting, _ theirSize: Int
  ) -> Difference.Kind? {
    if size > theirSize, theirs.last > own.since + margin { return .membersOlderThere }
    if size < theirSize, own.last > theirs.since + margin { return .membersOlderHere }
    return nil
  }
}

extension HubSightings.Sighting {
  /// Nil for a line in an unknown format.
  fileprivate init?(_ line: StateLine) {
    let words = line.value.split(separator: " ").map(String.init)
    guard (5...6).contains(words.count), let place = ObjectID(hex: words[0]),
      let tip = ObjectID(hex: words[2]),
      let since = Int64(words[3]), let last = Int64(words[4])
    else { return nil }
    self.init(
      device: line.key == HubSightings.own ? nil : line.key, place: place, name: words[1], tip: tip,
      since: since, last: last, size: words.count == 6 ? Int(words[5]) : nil)
  }

  fileprivate var words: String {
    "\(place) \(name) \(tip) \(since) \(last)" + (size.map { " \($0)" } ?? "")
  }
}

/// The tip that a hub showed a member, by the member's report: notes-protocol(7), hello, `hubs`.
struct CarriedSighting: Codable, Sendable, Hashable {
  /// A hash of hub and branch, or of hub and the reference of the list of members.
  let hub: ObjectID
  let tip: ObjectID
  /// How many seconds ago the hub first and last showed or accepted that version.
  let since: Int64
  let last: Int64
  /// The number of certificates and revoked serial numbers in a list of members.
  var size: Int?

  func validate() throws {
    try MessageRules.check(time: since)
    try MessageRules.check(time: last)
  }
}

/// Compares the tips and lists that hubs showed two members, as reported in their greeting.
struct HubNotice: Notice {
  let scene: NoticeScene

  private var sightings: HubSightings { HubSightings(of: scene.notebook) }

  func add(to hello: inout HelloMessage) {
    let said = sightings.said()
    hello.hubs = said.isEmpty ? nil : said
  }

  func received(_ hello: HelloMessage) {
    sightings.record(hello.hubs ?? [], of: scene.peer.deviceID)
  }
}

/// Identifies a hub, so that two devices can compare their sightings of it.
enum HubPlace {
  /// The ID of a branch at an address on another machine; nil for a folder or an address on this machine: two
  /// devices may have different repositories at the same path.
  static func id(of url: String, branch: String, notebook: String) throws -> ObjectID? {
    var rest = url[...]
    if let scheme = url.firstRange(of: "://") { rest = url[scheme.upperBound...] }
    let isShort = rest.startIndex == url.startIndex
    let end = rest.firstIndex { $0 == "/" || isShort && $0 == ":" }
    guard let end, !url.hasPrefix("/") else { return nil }
    let account = rest[..<end]
    let host = (account.lastIndex(of: "@").map { account[account.index(after: $0)...] } ?? account)
      .lowercased()
    if host.isEmpty || ["localhost", "127.", "[::1]"].contains(where: host.hasPrefix) {
      return nil
    }
    var path = rest[end...].drop { $0 == "/" || $0 == ":" }
    while path.hasSuffix("/") { path.removeLast() }
    if path.hasSuffix(".git") { path.removeLast(4) }
    let parts = ["notes hub 1", notebook, host, String(path), branch]
    return try ObjectID.digest(ofBlob: Array(parts.joined(separator: "\0").utf8))
  }
}
