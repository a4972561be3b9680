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
    let states = try DeviceStates(in: notebook, live: live)
    let present = members.filter { !$0.isRemoved }
    let others = present.filter { $0.deviceID != notebook.identity.device.deviceID }
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
      ] as JSON + peer.deviceState.json
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
      let looks = invitation.state == .pending ? "looks at the offer, " : ""
      let time = TimeText.left(until: invitation.expires, now: now)
      return [
        Styled(invitation.name.map { Visible.name($0) } ?? invitation.locator + "-…", .bold),
        Styled("invited", .yellow), Styled(invitation.role.rawValue), Styled(""),
        Styled("\(looks)ends in \(time)", .dim),
      ]
    }
    return Table(flexible: 0, rows: devices + guests).text(on: terminal)
  }

  private static func words(for peer: Peer, now: Int64) -> String {
    let deviceState = peer.deviceState
    if let paths = deviceState.editing, let path = paths.first {
      return "edits \(path.label)" + (paths.count > 1 ? " and \(paths.count - 1) more" : "")
    }
    if deviceState.ahead == nil { return peer.name == nil ? "" : "never met" }
    guard !peer.isNear, let seen = deviceState.lastSeen else { return deviceState.agreement.words }
    return [deviceState.agreement.words, "seen " + TimeText.relative(seen, now: now)]
      .filter { !$0.isEmpty }.joined(separator: ", ")
  }
}

struct MembersReport {
  struct Line {
    var member: Member
    var issuer: String?
    var deviceState = DeviceState()
    /// The device ID of the new key for which it requests a certificate.
    var request: String?
  }

  private let lines: [Line]
  private let thisDevice: String
  private let onlyAdmin: String?
  private var ownMembership = OwnMembership()

  init(_ lines: [Line], includingRemoved: Bool, thisDevice: String) {
    let present = lines.map(\.member).filter { !$0.isRemoved }
    let admins = present.filter { $0.role == .admin }
    onlyAdmin = admins.count == 1 && present.count > 1 ? admins[0].name : nil
    self.lines = lines.filter { includingRemoved || !$0.member.isRemoved }
      .sorted { Self.precedes($0.member, $1.member, thisDevice: thisDevice) }
    self.thisDevice = thisDevice
  }

  // This device first, then by name; removed devices last. Not a comparison of tuples, which crashes
  // the optimiser of Swift 6.3.
  private static func precedes(_ left: Member, _ right: Member, thisDevice: String) -> Bool {
    if left.isRemoved != right.isRemoved { return right.isRemoved }
    let leftIsOwn = left.deviceID == thisDevice
    if leftIsOwn != (right.deviceID == thisDevice) { return leftIsOwn }
    return left.name == right.name ? left.deviceID < right.deviceID : left.name < right.name
  }

  init(
    members: [Member], includingRemoved: Bool, of notebook: Notebook, live: WatcherStatus? = nil
  ) throws {
    let own = notebook.identity.device.deviceID
    let names = Dictionary(members.map { ($0.deviceID, $0.name) }) { first, _ in first }
    let states = try DeviceStates(in: notebook, live: live)
    let requests = KeyRequests(stateFolder: notebook.stateFolder)
    let membership = try notebook.membership()
    let lines = try members.map { member in
      let state = try member.deviceID == own ? DeviceState() : states.state(of: member.deviceID)
      return Line(
        member: member, issuer: names[member.issuedBy], deviceState: state,
        request: requests.request(of: member, in: membership)?.deviceID)
    }
    self.init(lines, includingRemoved: includingRemoved, thisDevice: own)
    ownMembership = OwnMembership(of: notebook)
  }

  var json: [JSON] {
    lines.map { line in
      let member = line.member
      return [
        "type": "member", "name": member.name, "device": member.deviceID,
        "role": member.role.rawValue,
        "state": member.isRemoved ? "removed" : member.isBlocked ? "blocked" : "member",
        "address": line.deviceState.address,
      ] + line.deviceState.json
        + [
          "founder": member.isFounder, "this_device": member.deviceID == thisDevice,
          "issued_by": member.issuedBy, "issued_by_name": line.issuer,
          "since": TimeText.rfc3339(member.issuedAt), "request": line.request,
        ]
    }
  }

  func text(on terminal: Terminal, now: Int64) -> String {
    let rows = lines.map { line in
      let member = line.member
      return [
        Styled(Visible.name(member.name), member.isRemoved ? .dim : .bold),
        Styled(member.isRemoved ? "removed" : member.role.rawValue),
        Styled(String(member.deviceID.prefix(8)), .dim),
        Styled(certified(line, now: now), .dim), Styled(seen(line, now: now)),
      ]
    }
    var text = Table(flexible: 0, optional: 3, rows: rows).text(on: terminal)
    if let onlyAdmin {
      text += """

        Only \(Visible.name(onlyAdmin)) is an admin: if it is lost, nobody can invite or remove.
        'notes members role NAME admin' makes another device one too.

        """
    }
    for line in lines where line.request != nil {
      let name = Visible.name(line.member.name)
      text += "\n\(name) asks for a certificate for a new key: 'notes members certify \(name)'\n"
    }
    return ownMembership.isRemoved ? text + "\n" + ownMembership.text : text
  }

  private func certified(_ line: Line, now: Int64) -> String {
    let when = TimeText.relative(line.member.issuedAt, now: now)
    if line.member.isFounder, line.member.issuedBy == line.member.deviceID {
      return "founder, " + when
    }
    let id = String(line.member.issuedBy.prefix(8))
    // Two devices may have the same name.
    let isOne = lines.count { $0.member.name == line.issuer } == 1
    let issuer = line.issuer.map { Visible.name($0) + (isOne ? "" : " (\(id))") } ?? id
    return "by \(issuer), " + when
  }

  private func seen(_ line: Line, now: Int64) -> String {
    if line.member.deviceID == thisDevice { return "this device" }
    if line.member.isRemoved { return "" }
    if line.member.isBlocked { return "blocked here" }
    let deviceState = line.deviceState
    let words = deviceState.agreement.words
    let agreement = words.isEmpty ? "" : ", " + words
    if deviceState.isConnected { return "here" + agreement }
    guard let lastSeen = deviceState.lastSeen else { return "not met yet" }
    return "seen " + TimeText.relative(lastSeen, now: now) + agreement
  }
}
