internal import Exchange
internal import Git
internal import History
internal import Membership
internal import Notebook
internal import Watch
internal import WorkTree

/// The notebook's devices: which are connected, in sync, and editing which notes; the notebook's
/// hubs and invitations.
extension RequestContext {
  func devicesPage(of notebook: Notebook) throws -> HTML {
    let identity = notebook.identity
    let membership = try MembershipStore.open(
      in: MembershipStore.folder(ofNotebookAt: notebook.stateFolder))
    let status = membership.status(ofDevice: identity.device.deviceID)
    let watcher = site.watcher(of: notebook)
    let live = watcher?.status(within: 1)
    let own = identity.device.deviceID
    let members = membership.members().filter { !$0.isRemoved }
      .sorted { $0.deviceID == own && $1.deviceID != own }
    let others = members.map(\.deviceID).filter { $0 != own }
    let states = try DeviceStates(in: notebook, live: live, of: others)
    let names = SharedNames(status)
    let rows = try Self.byPerson(members).map { devices -> HTML in
      let rows = try devices.map { member in
        let state = member.deviceID == own ? nil : try states.state(of: member.deviceID)
        let isMine = status.role == .admin && member.deviceID != own && !member.isFounder
        return row(
          member, called: devices.count == 1 ? member.name : member.deviceName,
          mark: names.mark(of: member.name, member.deviceID), state, canChange: isMine)
      }
      guard let first = devices.first, devices.count > 1 else { return "\(rows)" }
      return """
        <li class="several"><b dir="auto">\(first.person.name)</b>
        <ul>
        \(rows)</ul></li>

        """
    }
    let guests: HTML
    do {
      guests = try guestList()
    } catch let error as GuestError {
      guests = "<p class=\"error\">\(sentence("\(error)"))</p>"
    }
    let hubs = try notebook.hubs().map { try row(HubState(of: $0, in: notebook)) }
    let hubList: HTML = "<h2 class=\"label\">Hubs</h2>\n\(HTML.group(hubs))"
    return try layout("People and devices", name: identity.name) {
      """
      <h1>People and devices</h1>
      <div id="presence" role="status" data-live data-presence>
      \(presence(live, isWatched: watcher != nil))
      </div>
      <div id="devices" data-live data-presence>
      \(notice(of: status, AskedAdmission(in: notebook.stateFolder)))
      \(try founderNotices(in: membership, for: own))
      \(HTML.group(rows))
      \(hubs.isEmpty ? nil : hubList)
      <h2 class="label">Invitations</h2>
      \(try invitations(to: notebook, membership, status))
      </div>
      <div id="invite" data-live data-presence>
      \(invitationForm, if: status.role == .admin)
      </div>
      <div id="guests" data-live data-presence>
      \(guests)
      </div>
      \(guestForm)
      """
    }
  }

  /// The members by person, in the order in which each person's first device is among them.
  private static func byPerson(_ members: [Member]) -> [[Member]] {
    var persons: [String] = []
    let groups = Dictionary(grouping: members, by: \.person.id)
    for member in members where !persons.contains(member.person.id) {
      persons.append(member.person.id)
    }
    return persons.compactMap { groups[$0] }
  }

  /// The message that this device may not exchange anything; nil if it may.
  private func notice(of status: MemberStatus, _ asked: AskedAdmission?) -> HTML? {
    if status.role != nil { return nil }
    if status.isRemoved, asked?.isOpen != true {
      return
        "<p class=\"error\">This device was removed from the notebook. The notes here stay.</p>"
    }
    let deed =
      asked == nil
      ? "" : status.isRemoved ? "has asked to join again, and " : "has asked to join, and "
    return """
      <p class="error">This device \(deed)has not joined the notebook yet: your changes stay on it\
      \(asked == nil ? "" : " ('notes status' says what it waits for)").</p>
      """
  }

  /// The notices about open claims of the founder's place, and about devices that have different founders.
  private func founderNotices(in membership: MembershipStore, for own: String) throws -> [HTML] {
    let claims = try ClaimNews.all(in: membership, for: own)
      .compactMap { ClaimNotice($0, shown: { $0 }) }.filter { $0.isOpen || $0.isContested }
      .map { ($0.message, $0.remedy) }
    let twice = try HandedOverTwice.all(in: membership, shown: { $0 })
      .filter { !$0.isRemoved }.map { ($0.message, $0.remedy) }
    return (twice + claims).map { message, remedy in
      "<p class=\"error\">\(sentence(message)) \(sentence(remedy))</p>\n"
    }
  }

  private func presence(_ live: WatcherStatus?, isWatched: Bool) -> HTML {
    guard let live else {
      if isWatched {
        return
          "<p class=\"soft\"><code>notes watch</code> runs here, but does not report who is connected.</p>"
      }
      return """
        <p class="soft"><code>notes watch</code> is not running. While it runs, devices stay in sync and this page \
        shows who is connected.</p>
        """
    }
    if live.watcher.isPaused {
      return "<p class=\"soft\"><code>notes watch</code> runs here, with connections paused.</p>"
    }
    let count = live.peers.count
    return """
      <p class="soft"><code>notes watch</code> runs here. \
      \(count == 0 ? "No other device is connected." : "\(Self.count(count, "device")) connected.")</p>
      """
  }

  /// - Parameters:
  ///   - name: the device's own name, below the name of a person with several devices.
  ///   - state: nil for this device.
  private func row(
    _ member: Member, called name: String, mark: String?, _ state: DeviceState?, canChange: Bool
  ) -> HTML {
    var about: [HTML] = ["\(member.role.rawValue)"]
    if let state {
      about += member.isBlocked ? ["blocked here"] : parts(of: state)
    } else {
      about.append("this device")
    }
    if member.isFounder { about.append("founder") }
    return .person(
      "<b>\(name)</b>\(mark.map { " (\($0))" })", about,
      canChange ? .change(member.name, at: address(of: member)) : nil)
  }

  private func parts(of state: DeviceState) -> [HTML] {
    var parts: [HTML] = state.isConnected ? ["here now"] : []
    if let words = words(for: state.agreement) { parts.append("\(words)") }
    if let paths = state.editing, let first = paths.first {
      let more = paths.count > 1 ? " and \(paths.count - 1) more" : ""
      parts.append("edits <b>\(first.noteTitle)</b>\(more)")
    }
    if state.isConnected { return parts }
    if let lastSeen = state.lastSeen { return parts + ["last connected \(time(lastSeen))"] }
    return parts + [state.newestVersion.map { "last wrote \(time($0))" } ?? "never connected"]
  }

  private func words(for agreement: DeviceState.Agreement) -> String? {
    switch agreement {
    case .neverMet: nil
    case .inSync: "in sync"
    case .notMerged(let isThere):
      (isThere ? "does not merge this device's versions" : "its versions are not merged here")
        + " ('notes status' says why)"
    case .apart(lacks: 0, more: 0): "has all versions"
    case .apart(lacks: 0, let more): "has \(Self.count(more, "version")) more"
    case .apart(let lacks, more: 0): "lacks \(Self.count(lacks, "version"))"
    case .apart(let lacks, let more):
      "lacks \(Self.count(lacks, "version")), has \(more) more"
    }
  }

  private func row(_ state: HubState) -> HTML {
    let words = state.ahead.map { ahead in
      ahead == 0 ? "has all versions" : "lacks \(Self.count(ahead, "version"))"
    }
    return .person("<b>\(state.hub.name)</b>", ["\(state.hub.url)", "\(words ?? "never met")"])
  }

  static func count(_ count: Int, _ singular: String) -> String {
    "\(count) \(singular)\(count == 1 ? "" : "s")"
  }

  static func list(_ parts: [HTML]) -> HTML {
    guard let first = parts.first else { return .nothing }
    return parts.dropFirst().reduce(first) { "\($0), \($1)" }
  }
}
