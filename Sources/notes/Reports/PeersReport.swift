internal import Channel
internal import Discovery
internal import Git
internal import History
internal import Membership
internal import Notebook
internal import Sync
internal import Watch

struct PeersReport {
  struct Peer {
    let name: String?
    let deviceID: String
    let role: Role?
    /// Whether it announces the notebook now.
    let isNear: Bool
    let address: String?
    var deviceState = DeviceState()

    var state: String {
      deviceState.isConnected ? "here" : name == nil ? "unknown" : isNear ? "near" : "away"
    }
  }

  let peers: [Peer]
  /// The invitations that are open: who may come.
  var invitations: [InvitationRecord] = []

  /// - Parameter live: what a running watcher says about the devices that are connected to it.
  init(
    notebook: Notebook, members: [Member], near: [String: DiscoveredPeer],
    live: WatcherStatus? = nil
  ) throws {
    invitations = InvitationBook(stateFolder: notebook.stateFolder).all().filter(\.state.isOpen)
    let states = try DeviceStates(in: notebook, live: live)
    let own = notebook.identity.device.deviceID
    var peers: [Peer] = []
    for member in members where !member.isRemoved && member.deviceID != own {
      let deviceState = try states.state(of: member.deviceID)
      let announced = near[member.deviceID]
      peers.append(
        Peer(
          name: member.name, deviceID: member.deviceID, role: member.role,
          isNear: announced != nil || deviceState.isConnected,
          address: (deviceState.isConnected ? nil : announced?.endpoints.first?.description)
            ?? deviceState.address,
          deviceState: deviceState))
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
        "name": peer.name, "device": peer.deviceID, "role": peer.role?.rawValue,
        "state": peer.state, "address": peer.address,
      ] as JSON + peer.deviceState.json
    }
  }

  func text(on terminal: Terminal, now: Int64 = TimeText.now) -> String {
    guard !peers.isEmpty || !invitations.isEmpty else {
      return "No other devices yet: 'notes invite' lets one join.\n"
    }
    var table = Table(flexible: 0)
    for peer in peers {
      table.add([
        Styled(Visible.name(peer.name ?? String(peer.deviceID.prefix(8))), .bold),
        Styled(
          peer.deviceState.isConnected ? "here" : peer.isNear ? "near" : "away",
          peer.isNear ? .green : .dim),
        Styled(peer.role?.rawValue ?? "not a member"),
        Styled(Visible.name(peer.address ?? "")),
        Styled(Self.words(for: peer, now: now), .dim),
      ])
    }
    for invitation in invitations {
      let time = TimeText.duration(Int(max(0, invitation.expires - now)))
      table.add([
        Styled(invitation.name.map { Visible.name($0) } ?? invitation.locator + "-…", .bold),
        Styled("invited", .yellow),
        Styled(invitation.role.rawValue),
        Styled(""),
        Styled(
          (invitation.state == .pending ? "looks at the offer, " : "") + "ends in \(time)", .dim),
      ])
    }
    return table.text(on: terminal)
  }

  private static func words(for peer: Peer, now: Int64) -> String {
    let deviceState = peer.deviceState
    if let path = deviceState.editing?.first {
      let more = (deviceState.editing?.count ?? 1) - 1
      return "edits \(path.label)" + (more > 0 ? " and \(more) more" : "")
    }
    if deviceState.ahead == nil { return peer.name == nil ? "" : "never met" }
    guard !peer.isNear, let seen = deviceState.lastSeen else { return deviceState.agreement }
    return [deviceState.agreement, "seen " + TimeText.relative(seen, now: now)]
      .filter { !$0.isEmpty }.joined(separator: ", ")
  }
}

extension DeviceState {
  /// How far the device is, in words; empty when that is not known.
  var agreement: String {
    guard let ahead else { return "" }
    if isInSync == true { return "in sync" }
    let behind = behind ?? 0
    if ahead > 0 {
      let more = behind > 0 ? ", has \(behind) more" : ""
      return "lacks \(Phrase.count(ahead, "version"))" + more
    }
    if behind > 0 { return "has \(Phrase.count(behind, "version")) more" }
    return "up to date"
  }

  /// The fields that lists of devices share.
  var json: JSON {
    [
      "last_seen": lastSeen.map { TimeText.rfc3339($0) }, "in_sync": isInSync, "ahead": ahead,
      "behind": behind, "editing": editing,
    ]
  }
}
