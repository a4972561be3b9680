internal import Discovery
internal import Exchange
internal import History
internal import Membership
internal import Notebook
internal import QRCodes
internal import System
internal import Watch

/// Invitations of other devices, as in notes-invite(1) and notes-invitations(1).
extension RequestContext {
  /// The open invitations, on the page of the devices.
  func invitations(to notebook: Notebook, _ status: MemberStatus) -> HTML {
    guard status.role == .admin else {
      let admins: [HTML] = status.admins.map { "<b>\($0)</b>" }
      return admins.isEmpty
        ? "<p>No admin is left who could invite.</p>"
        : "<p>Only an admin can invite devices: \(Self.list(admins)).</p>"
    }
    let open = InvitationBook(stateFolder: notebook.stateFolder).all().filter(\.state.isOpen)
    let rows = open.map { record -> HTML in
      let looks: HTML = record.state == .pending ? ", somebody looks at it" : .nothing
      let name = record.name ?? record.locator + "-…"
      return .row(
        name, at: address(ofInvitation: record.locator),
        marks: ["\(record.role.rawValue), until \(time(record.expires))\(looks)"])
    }
    return .group(rows, or: "<p class=\"soft\">No open invitations.</p>")
  }

  /// The form that opens an invitation.
  var invitationForm: HTML {
    """
    <form method="post" action="\(root)/devices/invite" class="edit">
    <fieldset><legend class="label">Invite a device, as</legend>
    \(roleChoices(named: "role", chosen: .writer))
    </fieldset>
    <p><button class="btn main">Open an invitation</button></p>
    </form>
    """
  }

  /// The roles, each with its meaning.
  func roleChoices(named field: String, chosen: Role) -> [HTML] {
    HTML.choices(
      named: field, chosen: chosen.rawValue,
      among: [
        (Role.reader.rawValue, "receives changes; its own stay on it"),
        (Role.writer.rawValue, "also sends its own changes"),
        (Role.admin.rawValue, "also invites, changes roles and removes"),
      ])
  }

  private func address(ofInvitation locator: String) -> String {
    "\(root)/devices/invitation/\(locator)"
  }

  /// Opens an invitation: in the watcher, if it runs, otherwise in this process.
  func invite(in notebook: Notebook) throws -> Response {
    guard let role = request.form["role"].flatMap(Role.init(rawValue:)) else {
      throw Refusal.brokenForm
    }
    let context = try site.sessionContext(of: notebook)
    guard context.membership.role(ofDevice: context.key.deviceID) == .admin else {
      throw MembershipError.notAnAdmin(device: context.key.deviceID)
    }
    let device = context.key.deviceID
    let host = InvitationHost(context, watcher: site.watcher(of: notebook)) {
      AvahiDiscovery(deviceID: device)
    }
    let locator = try site.invitations.open(
      role: role, by: host, seconds: site.limits.invitationTime)
    return .see(address(ofInvitation: locator))
  }

  func cancelInvitation(_ locator: String, in notebook: Notebook) throws -> Response {
    let isThere = try InvitationBook(stateFolder: notebook.stateFolder).cancel(locator: locator)
    guard isThere else { throw Refusal.noSuchInvitation }
    return .see("\(root)/devices?done=cancelled")
  }

  func invitationPage(_ locator: String, in notebook: Notebook) throws -> HTML {
    let record = InvitationBook(stateFolder: notebook.stateFolder).all().first {
      $0.locator == locator
    }
    let opened = site.invitations[locator]
    guard opened != nil || record != nil else { throw Refusal.noSuchInvitation }
    let isOpen = opened?.isOpen ?? record?.state.isOpen ?? false
    return layout("Invitation \(locator)", name: notebook.identity.name) {
      """
      \(reachedHeading("Invitation \(locator)"))
      <div id="outcome" role="status" data-live data-presence>
      \(opened.map(words) ?? record.map(words) ?? .nothing)
      </div>
      <div id="invitation" data-live data-presence>
      \(opened.flatMap { isOpen ? instructions(for: $0) : nil })
      \(cancelForm(of: locator), if: isOpen)
      </div>
      \("<noscript><p><a class=\"btn\" href=\"\(address(ofInvitation: locator))\">Look again</a></p></noscript>", if: isOpen)
      <p><a class="btn plain" href="\(root)/devices">All devices and invitations</a></p>
      """
    }
  }

  private func cancelForm(of locator: String) -> HTML {
    """
    <form method="post" action="\(address(ofInvitation: locator))/cancel" class="deed">
    <button class="btn">Cancel the invitation</button>
    </form>
    """
  }

  /// An invitation that was opened by another program, from its record.
  private func words(for record: InvitationRecord) -> HTML {
    let state: HTML =
      switch record.state {
      case .available:
        "It is open until \(time(record.expires)). Its code is shown where it was opened."
      case .pending: "It is open, and somebody looks at it."
      case .joined: "\(record.name ?? "A device") joined by it."
      case .declined: "It was declined."
      case .expired: "It expired."
      case .exhausted: "It was closed after three wrong codes."
      case .cancelled: "It was cancelled."
      }
    return "<p>\(state)</p>"
  }

  /// The state of an invitation in words; empty while it is open.
  private func words(for opened: Invitations.Opened) -> HTML {
    let wrong: HTML? = opened.attemptsLeft.map {
      "<p class=\"error\">Somebody tried a wrong code: \(Self.count($0, "attempt")) left.</p>\n"
    }
    return switch opened.state {
    case .waiting: wrong ?? .nothing
    case .offered: "\(wrong)<p class=\"done\">Somebody with the code looks at it.</p>"
    case .joined(let name):
      "<p class=\"done\"><b>\(name)</b> joined as \(opened.role.withArticle), and receives the notes.</p>"
    case .done(let name):
      "<p class=\"done\"><b>\(name)</b> joined as \(opened.role.withArticle).</p>"
    case .ended(.expired): "<p>It expired: nobody has joined.</p>"
    case .ended(.exhausted): "<p class=\"error\">It was closed after three wrong codes.</p>"
    case .ended(.withdrawn), .ended(.used): "<p>It was cancelled.</p>"
    }
  }

  private func instructions(for opened: Invitations.Opened) -> HTML {
    let code = opened.code ?? ""
    let image = QRCode(code)?.svg(label: "The code \(code) for a camera")
    let left = max(0, opened.expires - WallClock.now())
    let hosts = Address.ofThisMachine(limit: 2).map {
      "--at \(Address(host: $0, port: opened.port))"
    }
    let options = hosts.isEmpty ? "--at HOST:\(opened.port)" : hosts.joined(separator: " or ")
    let when =
      opened.isHidden
      ? "This device cannot be found on the network: add" : "If it does not find this device, add"
    return """
      <p>On that device, run:</p>
      <pre class="command">notes join \(code)</pre>
      \(image)
      <p>The code lets one device join as \(opened.role.withArticle). It ends \(time(opened.expires)), \
      in <span role="timer" data-ends="\(Int(opened.expires))">\(Self.left(left))</span>, or after three \
      wrong attempts. Tell it to nobody else.</p>
      <p class="hint">\(when) <code>\(options)</code>.</p>
      """
  }

  private static func left(_ seconds: Int64) -> String {
    let rest = seconds % 60
    return "\(seconds / 60):\(rest < 10 ? "0" : "")\(rest)"
  }
}
