internal import Channel
internal import Discovery
internal import Git
internal import Membership
internal import Notebook
internal import Sync
internal import Watch

/// The other devices of a notebook.
struct PeersReport {
  struct Peer {
    let name: String?
    let deviceID: String
    let role: Role?
    /// Whether it announces the notebook now.
    let isNear: Bool
    /// Where it is, or was.
    let address: String?
    /// How many versions of ours it lacked when it was last met; nil when it never was.
    let ahead: Int?
    /// Whether it had the version shown here.
    let isInSync: Bool?
    /// When a session was last held with it.
    var lastSeen: Int64?
    /// Whether a session with it stands.
    var isConnected = false
    /// How many versions it has that this device lacks; nil when that is not known.
    var behind: Int?
    /// The notes that are edited there; nil when nobody can tell.
    var editing: [TreePath]?

    /// As programs are told.
    var state: String {
      isConnected ? "here" : name == nil ? "unknown" : isNear ? "near" : "away"
    }
  }

  let peers: [Peer]

  init(peers: [Peer]) { self.peers = peers }

  /// - Parameter live: what a running watcher says about the devices that are connected to it.
  init(
    notebook: Notebook, members: [Member], near: [String: DiscoveredPeer],
    live: [ControlReply] = []
  ) throws {
    let live = Dictionary(
      live.compactMap { reply in reply.device.map { ($0, reply) } },
      uniquingKeysWith: { first, _ in first })
    let sightings = PeerSightings(stateFolder: notebook.stateFolder)
    let known = PeerAddresses(stateFolder: notebook.stateFolder).all()
    let own = notebook.identity.device.deviceID
    let head = try notebook.repository.head()
    var peers: [Peer] = []
    for member in members where !member.isRemoved && member.deviceID != own {
      let session = live[member.deviceID]
      let shown = session?.tip.flatMap { ObjectID(hex: $0) }
      let recorded = try notebook.repository.reference(
        "refs/remotes/\(member.deviceID)/\(head.branch ?? "HEAD")")
      let isHere = try shown.map { try notebook.repository.contains($0) } ?? false
      let last = isHere ? shown : recorded
      let ahead = try last.map { last in
        try head.commit.map { try Self.count(from: $0, lacking: last, in: notebook) } ?? 0
      }
      let announced = near[member.deviceID]
      peers.append(
        Peer(
          name: member.name, deviceID: member.deviceID, role: member.role,
          isNear: announced != nil || session != nil,
          address: session?.address ?? announced?.endpoints.first?.description
            ?? known[member.deviceID]?.description,
          ahead: ahead, isInSync: (shown ?? recorded).map { $0 == head.commit },
          lastSeen: sightings.last(of: member.deviceID), isConnected: session != nil,
          behind: try isHere
            ? shown.map { shown in
              try head.commit.map { try Self.count(from: shown, lacking: $0, in: notebook) } ?? 0
            } : nil,
          editing: session?.editing?.compactMap { [UInt8](hexadecimal: $0) }
            .map { TreePath(bytes: $0) }))
    }
    let strangers = near.keys.filter { device in
      !members.contains { $0.deviceID == device && !$0.isRemoved }
    }
    for device in strangers {
      peers.append(
        Peer(
          name: nil, deviceID: device, role: nil, isNear: true,
          address: near[device]?.endpoints.first?.description, ahead: nil, isInSync: nil))
    }
    self.peers = peers.sorted {
      ($0.isNear ? 0 : 1, $0.name == nil ? 1 : 0, $0.name ?? "", $0.deviceID)
        < ($1.isNear ? 0 : 1, $1.name == nil ? 1 : 0, $1.name ?? "", $1.deviceID)
    }
  }

  /// How many versions that somebody made are in `tip` and not in `other`.
  private static func count(
    from tip: ObjectID, lacking other: ObjectID, in notebook: Notebook
  ) throws -> Int {
    let walk = try notebook.repository.walk(from: [tip], hiding: [other])
    var count = 0
    while let id = try walk.next() {
      if try !DerivedMerge.isDerived(notebook.repository.commit(id)) { count += 1 }
    }
    return count
  }

  var json: [JSON] {
    peers.map { peer in
      [
        "name": .optional(peer.name), "device": .string(peer.deviceID),
        "role": .optional(peer.role?.rawValue),
        "state": .string(peer.state),
        "address": .optional(peer.address),
        "last_seen": peer.lastSeen.map { .string(TimeText.rfc3339($0)) } ?? .null,
        "in_sync": peer.isInSync.map(JSON.bool) ?? .null, "ahead": .optional(peer.ahead),
        "behind": .optional(peer.behind),
        "editing": peer.editing.map { .array($0.map(JSON.path)) } ?? .null,
      ]
    }
  }

  func text(on terminal: Terminal) -> String {
    guard !peers.isEmpty else {
      return "No other devices yet: 'notes invite' lets one join.\n"
    }
    var table = Table(flexible: 0)
    for peer in peers {
      table.add([
        Table.Cell(Visible.name(peer.name ?? String(peer.deviceID.prefix(8))), .bold),
        peer.isConnected || peer.isNear
          ? Table.Cell(peer.isConnected ? "here" : "near", .green) : Table.Cell("away", .dim),
        Table.Cell(peer.role?.rawValue ?? "not a member"),
        Table.Cell(Visible.name(peer.address ?? "")),
        Table.Cell(Self.words(for: peer), .dim),
      ])
    }
    return table.lines(for: terminal).map { $0 + "\n" }.joined()
  }

  private static func words(for peer: Peer) -> String {
    if let path = peer.editing?.first {
      let more = (peer.editing?.count ?? 1) - 1
      return "edits \(path.label)" + (more > 0 ? " and \(more) more" : "")
    }
    guard let ahead = peer.ahead else { return peer.name == nil ? "" : "never met" }
    if peer.isInSync == true { return "in sync" }
    return ahead == 0 ? "up to date" : "lacks \(Counted.things(ahead, "version"))"
  }
}
