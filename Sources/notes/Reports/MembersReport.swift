internal import Exchange
internal import Git
internal import History
internal import Membership
internal import Notebook
internal import Watch

/// The members, by person: `notes members`.
struct MembersReport {
  struct Line {
    var member: Member
    /// The names of the device that let the member in and of the device that removed it.
    var issuer: String?
    var remover: String?
    /// The name of the device that asked for this one, if this one is no longer a member because of that
    /// device.
    var asker: String?
    var deviceState = DeviceState()
    /// The device ID of the new key for which the member requests a certificate.
    var request: String?
  }

  /// The persons, each with the devices that are listed.
  private let groups: [[Line]]
  private let thisDevice: String
  private let onlyAdmin: Member?
  private var ownMembership = OwnMembership()
  /// The keys that handed the notebook over twice.
  private var handedOverTwice: [HandedOverTwice] = []
  /// The claims of the founder's place.
  private var claims: [ClaimNotice] = []
  /// The other devices of their own that members ask for, if this device may let them in.
  private var wishes: [RequestLine] = []

  init(_ lines: [Line], includingRemoved: Bool, thisDevice: String) {
    let present = lines.map(\.member).filter { !$0.isRemoved }
    let admins = present.filter { $0.role == .admin }
    onlyAdmin = admins.count == 1 && present.count > 1 ? admins[0] : nil
    let listed = lines.filter { includingRemoved || !$0.member.isRemoved }
      .sorted { Self.precedes($0.member, $1.member, thisDevice: thisDevice) }
    groups = Dictionary(grouping: listed, by: \.member.person.id).values
      .sorted { Self.precedes($0[0].member, $1[0].member, thisDevice: thisDevice) }
    self.thisDevice = thisDevice
  }

  private var lines: [Line] { groups.flatMap(\.self) }

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
    let others = members.filter { !$0.isRemoved }.map(\.deviceID).filter { $0 != own }
    let states = try DeviceStates(in: notebook, live: live, of: others)
    let requests = KeyRequests(stateFolder: notebook.stateFolder)
    let membership = try notebook.membership()
    let lines = try members.map { member in
      let state = try member.deviceID == own ? DeviceState() : states.state(of: member.deviceID)
      return Line(
        member: member, issuer: names[member.admission.by],
        remover: member.removal.flatMap { names[$0.by] },
        asker: member.ending.flatMap { names[$0.asker] }, deviceState: state,
        request: requests.request(of: member, in: membership)?.deviceID)
    }
    self.init(lines, includingRemoved: includingRemoved, thisDevice: own)
    ownMembership = OwnMembership(of: notebook)
    handedOverTwice = try HandedOverTwice.all(in: membership)
    claims = try ClaimNotice.all(in: membership, for: own)
    if membership.role(ofDevice: own) == .admin {
      wishes = try KnownOffers(notebook.stateFolder).all(in: membership)
        .compactMap { RequestLine($0, members) }
    }
  }

  var json: [JSON] {
    lines.map { line in
      let member = line.member
      return [
        "type": "member", "name": member.name, "person": member.person.id,
        "person_name": member.person.name, "device": member.deviceID,
        "device_name": member.deviceName,
        "role": member.role.rawValue,
        "state": member.isRemoved ? "removed" : member.isBlocked ? "blocked" : "member",
        "address": line.deviceState.address,
      ] + line.deviceState.json
        + [
          "founder": member.isFounder, "this_device": member.deviceID == thisDevice,
          "issued_by": member.admission.by, "issued_by_name": line.issuer,
          "since": TimeText.rfc3339(member.admission.at),
          "newest_version": line.deviceState.newestVersion.map { TimeText.rfc3339($0) },
          "removed_by": member.removal?.by, "removed_by_name": line.remover,
          "removed": member.removal.map { TimeText.rfc3339($0.at) }, "request": line.request,
          "ended_with": member.ending?.asker,
          "other_heir": handedOverTwice.first { $0.former == member.deviceID }?.otherHeir,
        ] + claim(of: member)
    }
  }

  private func claim(of member: Member) -> JSON {
    let news = claims.first { $0.news.device == member.deviceID }?.news
    return ["claim": news?.state.rawValue, "claim_days": news?.days]
  }

  func text(on terminal: Terminal, now: Int64) -> String {
    let rows = groups.flatMap { group -> [[Styled]] in
      if group.count == 1 { return [row(of: group[0], called: group[0].member.name, now: now)] }
      return [[Styled(Visible.name(group[0].member.person.name), .bold)]]
        + group.map { row(of: $0, called: $0.member.deviceName, indent: "  ", now: now) }
    }
    var text = Table(flexible: 0, optional: 3, dispensable: [2], rows: rows).text(on: terminal)
    if let onlyAdmin {
      let isOwn = onlyAdmin.deviceID == thisDevice
      text += """

        Only \(Visible.name(onlyAdmin.name)) is an admin: if it is lost, nobody can invite or remove.
        'notes members role NAME admin' \(isOwn ? "" : "there ")makes another device an admin.

        """
    }
    for line in lines where line.request != nil {
      let name = Visible.name(line.member.name)
      text += "\n\(name) asks for a certificate for a new key: 'notes members certify \(name)'\n"
    }
    for line in wishes { text += terminal.wrapped("\n\(line.message): \(line.remedy)\n") }
    for notice in handedOverTwice {
      text += terminal.wrapped("\n\(notice.message).\n\(notice.remedy).\n")
    }
    for notice in claims { text += terminal.wrapped("\n\(notice.sentence)\n\(notice.remedy).\n") }
    let absence = ownMembership.textOfAbsence
    return absence.isEmpty ? text : text + "\n" + absence
  }

  private func row(
    of line: Line, called name: String, indent: String = "", now: Int64
  ) -> [Styled] {
    let member = line.member
    return [
      Styled(indent + Visible.name(name), member.isRemoved ? .dim : .bold),
      Styled(member.isRemoved ? "removed" : member.role.rawValue),
      Styled(String(member.deviceID.prefix(8)), .dim),
      Styled(certified(line, now: now), .dim), Styled(seen(line, now: now)),
    ]
  }

  /// Which device let a member in, or removed it, and when.
  private func certified(_ line: Line, now: Int64) -> String {
    let member = line.member
    if member.isRemoved {
      return member.removal.map { words(for: $0, named: line.remover, now: now) } ?? ""
    }
    if member.issuedBy == member.deviceID {
      return (member.isFounder ? "founder, " : "former founder, ")
        + TimeText.relative(member.issuedAt, now: now)
    }
    return (member.isFounder ? "founder, " : "")
      + words(for: member.admission, named: line.issuer, now: now)
  }

  private func words(for change: MemberChange, named name: String?, now: Int64) -> String {
    let id = String(change.by.prefix(8))
    // Two devices may have the same name.
    let isOne = lines.count { $0.member.name == name } == 1
    let shown = name.map { Visible.name($0) + (isOne ? "" : " (\(id))") } ?? id
    return "by \(shown), " + TimeText.relative(change.at, now: now)
  }

  private func seen(_ line: Line, now: Int64) -> String {
    if line.member.deviceID == thisDevice { return "this device" }
    if line.member.isRemoved { return ended(line) }
    if line.member.isBlocked { return "blocked here" }
    let deviceState = line.deviceState
    let words = deviceState.agreement.words
    let agreement = words.isEmpty ? "" : ", " + words
    if deviceState.isConnected { return "here" + agreement }
    guard let lastSeen = deviceState.lastSeen else {
      return deviceState.wordsOfNewest(now: now) ?? "never connected"
    }
    return "seen " + TimeText.relative(lastSeen, now: now) + agreement
  }

  /// The reason why a device is no longer a member although nobody removed it; empty for other devices.
  private func ended(_ line: Line) -> String {
    guard let ending = line.member.ending else { return "" }
    let asker = line.asker.map { Visible.name($0) } ?? String(ending.asker.prefix(8))
    return "ended: \(asker), which asked for it, "
      + (ending.wasRemoved ? "was removed" : "got a lesser role")
  }
}
