internal import History
internal import Membership
internal import Notebook
internal import Watch

struct MembersReport {
  struct Line {
    var member: Member
    /// What the admin that certified it is called; nil when it is not known.
    var issuer: String?
    var deviceState = DeviceState()
  }

  private let lines: [Line]
  private let thisDevice: String
  /// The only device that can invite and remove, where there is but one among several.
  private let onlyAdmin: String?

  /// - Parameter lines: everybody ever certified.
  init(_ lines: [Line], includingRemoved: Bool, thisDevice: String) {
    let present = lines.map(\.member).filter { !$0.isRemoved }
    let admins = present.filter { $0.role == .admin }
    onlyAdmin = admins.count == 1 && present.count > 1 ? admins[0].name : nil
    self.lines = lines.filter { includingRemoved || !$0.member.isRemoved }
      .sorted { Self.precedes($0.member, $1.member, thisDevice: thisDevice) }
    self.thisDevice = thisDevice
  }

  // This device first, then by name; removed ones last. Not a comparison of tuples: the optimiser of
  // Swift 6.3 dies of it here.
  private static func precedes(_ left: Member, _ right: Member, thisDevice: String) -> Bool {
    if left.isRemoved != right.isRemoved { return right.isRemoved }
    let leftIsOwn = left.deviceID == thisDevice
    if leftIsOwn != (right.deviceID == thisDevice) { return leftIsOwn }
    return left.name == right.name ? left.deviceID < right.deviceID : left.name < right.name
  }

  /// What is known of these members here.
  ///
  /// - Parameter live: what a running watcher says about the devices that are connected to it.
  init(
    members: [Member], includingRemoved: Bool, of notebook: Notebook, live: WatcherStatus? = nil
  ) throws {
    let own = notebook.identity.device.deviceID
    let names = Dictionary(members.map { ($0.deviceID, $0.name) }) { first, _ in first }
    let states = try DeviceStates(in: notebook, live: live)
    let lines = try members.map { member in
      let state = try member.deviceID == own ? DeviceState() : states.state(of: member.deviceID)
      return Line(member: member, issuer: names[member.issuedBy], deviceState: state)
    }
    self.init(lines, includingRemoved: includingRemoved, thisDevice: own)
  }

  var json: [JSON] {
    lines.map { line in
      let member = line.member
      return [
        "name": member.name, "device": member.deviceID, "role": member.role.rawValue,
        "state": member.isRemoved ? "removed" : member.isBlocked ? "blocked" : "member",
        "address": line.deviceState.address,
      ] + line.deviceState.json
        + [
          "founder": member.isFounder, "this_device": member.deviceID == thisDevice,
          "issued_by": member.issuedBy, "issued_by_name": line.issuer,
          "since": TimeText.rfc3339(member.issuedAt),
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
    return text
  }

  private func certified(_ line: Line, now: Int64) -> String {
    let when = TimeText.relative(line.member.issuedAt, now: now)
    if line.member.isFounder, line.member.issuedBy == line.member.deviceID {
      return "founder, " + when
    }
    let issuer = line.issuer.map { Visible.name($0) } ?? String(line.member.issuedBy.prefix(8))
    return "by \(issuer), " + when
  }

  private func seen(_ line: Line, now: Int64) -> String {
    if line.member.deviceID == thisDevice { return "this device" }
    if line.member.isRemoved { return "" }
    if line.member.isBlocked { return "blocked here" }
    let deviceState = line.deviceState
    let agreement = deviceState.agreement.isEmpty ? "" : ", " + deviceState.agreement
    if deviceState.isConnected { return "here" + agreement }
    guard let lastSeen = deviceState.lastSeen else { return "not met yet" }
    return "seen " + TimeText.relative(lastSeen, now: now) + agreement
  }
}
