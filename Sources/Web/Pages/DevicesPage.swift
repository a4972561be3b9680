internal import Exchange
internal import Git
internal import History
internal import Membership
internal import Notebook
internal import Watch
internal import WorkTree

/// The notebook's devices: who is here, in sync, and editing what; its hubs, and its invitations.
extension Visit {
  /// How long a watcher may take to say who is connected, in seconds.
  private static let patience = 1.0

  func devicesPage(of notebook: Notebook) throws -> HTML {
    let identity = notebook.identity
    let membership = try MembershipStore.open(in: notebook.stateFolder + "/membership")
    let standing = membership.standing(ofDevice: identity.device.deviceID)
    let watcher = ControlClient.connect(
      in: site.controlFolder, notebookID: identity.id, deviceID: identity.device.deviceID)
    let live = watcher?.status(within: Self.patience)
    let states = try DeviceStates(in: notebook, live: live)
    let own = identity.device.deviceID
    let members = membership.members().filter { !$0.isRemoved }
      .sorted { $0.deviceID == own && $1.deviceID != own }
    let names = SharedNames(standing)
    let rows = try members.map { member in
      let state = member.deviceID == own ? nil : try states.state(of: member.deviceID)
      return row(member, mark: names.mark(of: member.name, member.deviceID), state)
    }
    let hubs = try notebook.hubs().map { try row(HubState(of: $0, in: notebook)) }
    let hubList: HTML = "<h2>Hubs</h2>\n<ul class=\"notes\">\n\(hubs)</ul>"
    return layout("Devices", name: identity.name) {
      """
      <h1>Devices</h1>
      <div id="devices" data-live>
      \(notice(of: standing))
      \(presence(live, isWatched: watcher != nil))
      <ul class="notes">
      \(rows)</ul>
      \(hubs.isEmpty ? nil : hubList)
      <h2>Invitations</h2>
      \(invitations(to: notebook, standing))
      </div>
      """
    }
  }

  /// That this device may exchange nothing, where that is so.
  private func notice(of standing: MemberStanding) -> HTML? {
    if standing.isRemoved {
      return
        "<p class=\"error\">This device was removed from the notebook. The notes here stay.</p>"
    }
    return standing.role == nil
      ? "<p class=\"error\">This device is no member yet: what is written on it stays here.</p>"
      : nil
  }

  private func presence(_ live: WatcherStatus?, isWatched: Bool) -> HTML {
    guard let live else {
      if isWatched {
        return "<p><code>notes watch</code> runs here, and does not say who is connected.</p>"
      }
      return """
        <p>Who is connected is known while <code>notes watch</code> runs in the notebook's folder, \
        which also keeps the devices in sync. It does not run now.</p>
        """
    }
    if live.watcher.isPaused {
      return "<p><code>notes watch</code> runs here, with connections paused.</p>"
    }
    let count = live.peers.count
    return """
      <p><code>notes watch</code> runs here. \
      \(count == 0 ? "No other device is connected." : "\(Self.count(count, "device")) connected.")</p>
      """
  }

  /// - Parameter state: nil for this device.
  private func row(_ member: Member, mark: String?, _ state: DeviceState?) -> HTML {
    var about: [HTML] = ["\(member.role.rawValue)"]
    if let state {
      about += member.isBlocked ? ["blocked here"] : parts(of: state)
    } else {
      about.append("this device")
    }
    return """
      <li><b>\(member.name)</b>\(mark.map { " (\($0))" })
      <span class="about">\(Self.list(about))</span></li>

      """
  }

  private func parts(of state: DeviceState) -> [HTML] {
    var parts: [HTML] = state.isConnected ? ["here now"] : []
    if let words = words(for: state.agreement) { parts.append("\(words)") }
    if let paths = state.editing, let first = paths.first {
      let more = paths.count > 1 ? " and \(paths.count - 1) more" : ""
      parts.append("edits <b>\(first.noteTitle)</b>\(more)")
    }
    if state.isConnected { return parts }
    return parts + [state.lastSeen.map { "last met \(time($0))" } ?? "not met yet"]
  }

  private func words(for agreement: DeviceState.Agreement) -> String? {
    switch agreement {
    case .neverMet: nil
    case .inSync: "in sync"
    case .notMerged(let isThere):
      (isThere ? "does not merge what is here" : "what it has is not merged here")
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
    return """
      <li><b>\(state.hub.name)</b>
      <span class="about">\(state.hub.url), \(words ?? "never met")</span></li>

      """
  }

  private func invitations(to notebook: Notebook, _ standing: MemberStanding) -> HTML {
    guard standing.role == .admin else {
      let admins: [HTML] = standing.admins.map { "<b>\($0)</b>" }
      return admins.isEmpty
        ? "<p>No admin is left who could invite.</p>"
        : "<p>Who invites another device is an admin: \(Self.list(admins)).</p>"
    }
    let open = InvitationBook(stateFolder: notebook.stateFolder).all().filter(\.state.isOpen)
    let rows = open.map { record -> HTML in
      let looks: HTML = record.state == .pending ? ", somebody looks at it" : .nothing
      return """
        <li><b>\(record.name ?? record.locator + "-…")</b>
        <span class="about">\(record.role.rawValue), until \(time(record.expires))\(looks)</span></li>

        """
    }
    let list: HTML = "<ul class=\"notes\">\n\(rows)</ul>"
    return """
      \(rows.isEmpty ? "<p>None is open.</p>" : list)
      <p><code>notes invite</code> in a terminal shows a code by which another device joins.</p>
      """
  }

  private static func count(_ count: Int, _ singular: String) -> String {
    "\(count) \(singular)\(count == 1 ? "" : "s")"
  }

  private static func list(_ parts: [HTML]) -> HTML {
    guard let first = parts.first else { return .nothing }
    return parts.dropFirst().reduce(first) { "\($0), \($1)" }
  }
}
