internal import Channel
internal import Discovery
internal import Git
internal import History
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
    var standing = DeviceStanding()

    /// As programs are told.
    var state: String {
      standing.isConnected ? "here" : name == nil ? "unknown" : isNear ? "near" : "away"
    }
  }

  let peers: [Peer]
  /// The invitations that are open: who may come.
  var invitations: [InvitationRecord] = []

  /// - Parameter live: what a running watcher says about the devices that are connected to it.
  init(
    notebook: Notebook, members: [Member], near: [String: DiscoveredPeer],
    live: [ControlReply] = []
  ) throws {
    invitations = InvitationBook(stateFolder: notebook.stateFolder).all().filter(\.state.isOpen)
    let standings = try DeviceStandings(in: notebook, live: live)
    let own = notebook.identity.device.deviceID
    var peers: [Peer] = []
    for member in members where !member.isRemoved && member.deviceID != own {
      let standing = try standings.standing(of: member.deviceID)
      let announced = near[member.deviceID]
      peers.append(
        Peer(
          name: member.name, deviceID: member.deviceID, role: member.role,
          isNear: announced != nil || standing.isConnected,
          address: (standing.isConnected ? nil : announced?.endpoints.first?.description)
            ?? standing.address,
          standing: standing))
    }
    let strangers = near.keys.filter { device in
      !members.contains { $0.deviceID == device && !$0.isRemoved }
    }
    for device in strangers {
      peers.append(
        Peer(
          name: nil, deviceID: device, role: nil, isNear: true,
          address: near[device]?.endpoints.first?.description))
    }
    self.peers = peers.sorted {
      ($0.isNear ? 0 : 1, $0.name == nil ? 1 : 0, $0.name ?? "", $0.deviceID)
        < ($1.isNear ? 0 : 1, $1.name == nil ? 1 : 0, $1.name ?? "", $1.deviceID)
    }
  }

  var json: [JSON] {
    peers.map { peer in
      [
        "name": .optional(peer.name), "device": .string(peer.deviceID),
        "role": .optional(peer.role?.rawValue),
        "state": .string(peer.state),
        "address": .optional(peer.address),
      ] + peer.standing.json
    }
  }

  func text(on terminal: Terminal, now: Int64 = TimeText.now) -> String {
    guard !peers.isEmpty || !invitations.isEmpty else {
      return "No other devices yet: 'notes invite' lets one join.\n"
    }
    var table = Table(flexible: 0)
    for peer in peers {
      table.add([
        Table.Cell(Visible.name(peer.name ?? String(peer.deviceID.prefix(8))), .bold),
        Table.Cell(
          peer.standing.isConnected ? "here" : peer.isNear ? "near" : "away",
          peer.isNear ? .green : .dim),
        Table.Cell(peer.role?.rawValue ?? "not a member"),
        Table.Cell(Visible.name(peer.address ?? "")),
        Table.Cell(Self.words(for: peer, now: now), .dim),
      ])
    }
    for invitation in invitations {
      let time = TimeText.duration(Int(max(0, invitation.expires - now)))
      table.add([
        Table.Cell(invitation.name.map { Visible.name($0) } ?? invitation.locator + "-…", .bold),
        Table.Cell("invited", .yellow),
        Table.Cell(invitation.role.rawValue),
        Table.Cell(""),
        Table.Cell(
          (invitation.state == .pending ? "looks at the offer, " : "") + "ends in \(time)", .dim),
      ])
    }
    return table.lines(for: terminal).map { $0 + "\n" }.joined()
  }

  private static func words(for peer: Peer, now: Int64) -> String {
    let standing = peer.standing
    if let path = standing.editing?.first {
      let more = (standing.editing?.count ?? 1) - 1
      return "edits \(path.label)" + (more > 0 ? " and \(more) more" : "")
    }
    if standing.ahead == nil { return peer.name == nil ? "" : "never met" }
    guard !peer.isNear, let seen = standing.lastSeen else { return standing.agreement }
    return [standing.agreement, "seen " + TimeText.relative(seen, now: now)]
      .filter { !$0.isEmpty }.joined(separator: ", ")
  }
}

extension DeviceStanding {
  /// How far the device is, in words; empty when that is not known.
  var agreement: String {
    guard let ahead else { return "" }
    if isInSync == true { return "in sync" }
    let behind = behind ?? 0
    if ahead > 0 {
      let more = behind > 0 ? ", has \(behind) more" : ""
      return "lacks \(Counted.things(ahead, "version"))" + more
    }
    if behind > 0 { return "has \(Counted.things(behind, "version")) more" }
    return "up to date"
  }

  /// The fields that lists of devices share.
  var json: JSON {
    [
      "last_seen": lastSeen.map { .string(TimeText.rfc3339($0)) } ?? .null,
      "in_sync": isInSync.map(JSON.bool) ?? .null, "ahead": .optional(ahead),
      "behind": .optional(behind),
      "editing": editing.map { .array($0.map(JSON.path)) } ?? .null,
    ]
  }
}
