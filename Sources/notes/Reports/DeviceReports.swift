internal import Discovery
internal import Exchange
internal import Git
internal import History
internal import Membership
internal import Notebook
internal import Watch

struct PeersReport {
  struct Peer {
    let name: String?
    let deviceID: String
    let role: Role?
    let isNear: Bool
    let address: String?
    var deviceState = DeviceState()

    var state: String {
      deviceState.isConnected ? "here" : name == nil ? "unknown" : isNear ? "near" : "away"
    }
  }

  let peers: [Peer]
  let invitations: [InvitationRecord]
  let ownMembership: OwnMembership

  init(
    notebook: Notebook, members: [Member], near: [String: DiscoveredPeer] = [:],
    live: WatcherStatus? = nil
  ) throws {
    ownMembership = OwnMembership(of: notebook)
    invitations = InvitationBook(stateFolder: notebook.stateFolder).open()
    let present = members.filter { !$0.isRemoved }
    let others = present.filter { $0.deviceID != notebook.identity.device.deviceID }
    let states = try DeviceStates(in: notebook, live: live, of: others.map(\.deviceID))
    var peers = try others.map { member in
      let deviceState = try states.state(of: member.deviceID)
      let announced = near[member.deviceID]
      return Peer(
        name: member.name, deviceID: member.deviceID, role: member.role,
        isNear: announced != nil || deviceState.isConnected,
        address: (deviceState.isConnected ? nil : announced?.addresses.first?.description)
          ?? deviceState.address, deviceState: deviceState)
    }
    for (device, stranger) in near where !present.contains(where: { $0.deviceID == device }) {
      peers.append(
        Peer(
          name: nil, deviceID: device, role: nil, isNear: true,
          address: stranger.addresses.first?.description))
    }
    self.peers = peers.sorted {
      ($0.isNear ? 0 : 1, $0.name == nil ? 1 : 0, $0.name ?? "", $0.deviceID)
        < ($1.isNear ? 0 : 1, $1.name == nil ? 1 : 0, $1.name ?? "", $1.deviceID)
    }
  }

  var json: [JSON] {
    peers.map { peer in
      [
        "type": "peer", "name": peer.name, "device": peer.deviceID, "role": peer.role?.rawValue,
        "state": peer.state, "address": peer.address, "unsent": ownMembership.unsent,
      ] as JSON + peer.deviceState.json + [
        "newest_version": peer.deviceState.newestVersion.map { TimeText.rfc3339($0) }
      ]
    }
  }

  func text(on terminal: Terminal, now: Int64 = TimeText.now) -> String {
    guard !peers.isEmpty || !invitations.isEmpty
    else { return "No other devices yet: 'notes invite' lets one join.\n" }
    let devices = peers.map { peer in
      [
        Styled(
          peer.name.map { ownMembership.sharedNames.shown($0, peer.deviceID) }
            ?? String(peer.deviceID.prefix(8)), .bold),
        Styled(
          peer.deviceState.isConnected ? "here" : peer.isNear ? "near" : "away",
          peer.isNear ? .green : .dim), Styled(peer.role?.rawValue ?? "not a member"),
        Styled(Visible.name(peer.address ?? "")), Styled(Self.words(for: peer, now: now), .dim),
      ]
    }
    let guests = invitations.map { invitation in
      let looks = invitation.state == .pending ? "sees the offer, " : ""
      let time = TimeText.left(until: invitation.expires, now: now)
      return [
        Styled(invitation.name.map { Visible.name($0) } ?? invitation.locator + "-…", .bold),
        Styled("invited", .yellow), Styled(invitation.role.rawValue), Styled(""),
        Styled("\(looks)expires in \(time)", .dim),
      ]
    }
    return Table(flexible: 0, rows: devices + guests).text(on: terminal)
  }

  private static func words(for peer: Peer, now: Int64) -> String {
    let deviceState = peer.deviceState
    if let paths = deviceState.editing, let path = paths.first {
      return "edits \(path.label)" + (paths.count > 1 ? " and \(paths.count - 1) more" : "")
    }
    if deviceState.ahead == nil {
      return peer.name == nil ? "" : deviceState.wordsOfNewest(now: now) ?? "never met"
    }
    guard !peer.isNear, let seen = deviceState.lastSeen else { return deviceState.agreement.words }
    return [deviceState.agreement.words, "seen " + TimeText.relative(seen, now: now)]
      .filter { !$0.isEmpty }.joined(separator: ", ")
  }
}
