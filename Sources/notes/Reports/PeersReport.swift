internal import Channel
internal import Discovery
internal import Exchange
internal import Git
internal import History
internal import Membership
internal import Merge
internal import Notebook
internal import Watch

struct DeviceState {
  var address: String?
  /// When a session was last held with it, in seconds since 1970.
  var lastSeen: Int64?
  var isConnected = false
  /// How many versions of this device it lacks, or lacked when it was last met; nil when it never
  /// was.
  var ahead: Int?
  /// How many versions it has that are not here; nil when that is not known.
  var behind: Int?
  /// Whether it shows, or showed, the version shown here; nil when it was never met.
  var isInSync: Bool?
  /// The notes that are edited there; nil when nobody can tell.
  var editing: [TreePath]?

  /// How far the device is, in words; empty when that is not known.
  var agreement: String {
    guard let ahead else { return "" }
    if isInSync == true { return "in sync" }
    let behind = behind ?? 0
    if ahead > 0 {
      return "lacks \(Phrase.count(ahead, "version"))" + (behind > 0 ? ", has \(behind) more" : "")
    }
    return behind > 0 ? "has \(Phrase.count(behind, "version")) more" : "up to date"
  }

  var json: JSON {
    [
      "last_seen": lastSeen.map { TimeText.rfc3339($0) }, "in_sync": isInSync, "ahead": ahead,
      "behind": behind, "editing": editing,
    ]
  }
}

/// How the other devices stand: by what a running watcher says of those that are connected to it, and
/// by what the last sessions left behind.
struct DeviceStates {
  private let notebook: Notebook
  private let live: WatcherStatus?
  private let tip: ObjectID?
  private let branch: String

  /// - Parameter live: what a running watcher says.
  init(in notebook: Notebook, live: WatcherStatus?) throws {
    self.notebook = notebook
    self.live = live
    let head = try notebook.repository.head()
    (tip, branch) = (head.commit, head.branch ?? "HEAD")
  }

  func state(of device: String) throws -> DeviceState {
    let folder = notebook.stateFolder
    let session = live?.peers.first { $0.identity.deviceID == device }
    let recorded = try notebook.repository.reference("refs/remotes/\(device)/\(branch)")
    let shown = session?.shows.tip
    var state = DeviceState(
      address: session?.identity.address
        ?? PeerAddresses(stateFolder: folder).all()[device]?.description,
      lastSeen: session == nil
        ? PeerSightings(stateFolder: folder).last(of: device) : TimeText.now,
      isConnected: session != nil, isInSync: (shown ?? recorded).map { $0 == tip },
      editing: session?.shows.editing)
    // What it shows may not have arrived yet.
    let isHere = try shown.map { try notebook.repository.contains($0) } ?? false
    if let known = isHere ? shown : recorded {
      state.ahead = try tip.map { try count(from: $0, lacking: known) } ?? 0
    }
    if isHere, let shown {
      state.behind = try tip.map { try count(from: shown, lacking: $0) } ?? 0
    }
    return state
  }

  /// How many versions that somebody made are in `tip` and not in `other`.
  private func count(from tip: ObjectID, lacking other: ObjectID) throws -> Int {
    if tip == other { return 0 }
    let walk = try notebook.repository.walk(from: [tip], hiding: [other])
    var count = 0
    while let id = try walk.next() {
      if try !DerivedMerge.isDerived(notebook.repository.commit(id)) { count += 1 }
    }
    return count
  }
}

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
  /// The invitations that are open: who may come.
  let invitations: [InvitationRecord]

  /// - Parameter live: what a running watcher says about the devices that are connected to it.
  init(
    notebook: Notebook, members: [Member], near: [String: DiscoveredPeer],
    live: WatcherStatus? = nil
  ) throws {
    invitations = InvitationBook(stateFolder: notebook.stateFolder).all().filter(\.state.isOpen)
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
          ?? deviceState.address,
        deviceState: deviceState)
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
        "name": peer.name, "device": peer.deviceID, "role": peer.role?.rawValue,
        "state": peer.state, "address": peer.address,
      ] as JSON + peer.deviceState.json
    }
  }

  func text(on terminal: Terminal, now: Int64 = TimeText.now) -> String {
    guard !peers.isEmpty || !invitations.isEmpty else {
      return "No other devices yet: 'notes invite' lets one join.\n"
    }
    let devices = peers.map { peer in
      [
        Styled(Visible.name(peer.name ?? String(peer.deviceID.prefix(8))), .bold),
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
    guard !peer.isNear, let seen = deviceState.lastSeen else { return deviceState.agreement }
    return [deviceState.agreement, "seen " + TimeText.relative(seen, now: now)]
      .filter { !$0.isEmpty }.joined(separator: ", ")
  }
}
