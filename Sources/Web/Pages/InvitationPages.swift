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
  func invitations(
    to notebook: Notebook, _ membership: MembershipStore, _ status: MemberStatus
  ) throws -> HTML {
    guard status.role == .admin else {
      let admins: [HTML] = status.admins.map { "<b>\($0)</b>" }
      return admins.isEmpty
        ? "<p>No admin is left, so nobody can invite devices.</p>"
        : "<p>Only an admin can invite devices: \(Self.list(admins)).</p>"
    }
    let open = InvitationBook(stateFolder: notebook.stateFolder).all().filter(\.state.isOpen)
    let rows = open.map { record -> HTML in
      let looks: HTML = record.state == .pending ? ", somebody sees the offer now" : .nothing
      let name = record.name ?? record.locator + "-…"
      return .row(
        name, at: address(ofInvitation: record.locator),
        marks: ["\(record.role.rawValue), until \(time(record.expires))\(looks)"])
    }
    let links = try KnownOffers(notebook.stateFolder).all(in: membership)
      .filter { $0.status == .open }.map { link -> HTML in
        let shared: HTML =
          link.isShared ? ", several devices used it, so none is let in: cancel it" : .nothing
        return .row(
          "Link or file \(link.offer.id.description.prefix(8))", at: nil,
          marks: ["\(link.offer.role.rawValue), until \(time(link.offer.expires))\(shared)"])
      }
    return .group(rows + links, or: "<p class=\"soft\">No open invitations.</p>")
  }

  /// The form that opens an invitation.
  var invitationForm: HTML {
    """
    <form method="post" action="\(root)/devices/invite" class="edit">
    <fieldset><legend class="label">Invite a device, as</legend>
    \(memberRoles(chosen: .writer))
    </fieldset>
    <p><button class="btn main">Open an invitation</button></p>
    </form>
    """
  }

  /// The roles of a device, each with what it means.
  func memberRoles(chosen: Role) -> [HTML] {
    HTML.roles(
      chosen: chosen,
      [
        (.reader, "receives changes; its own stay on it"), (.writer, "also sends its own changes"),
        (.admin, "also invites, changes roles and removes"),
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
    guard let record else { throw Refusal.noSuchInvitation }
    let isOpen = record.state.isOpen
    let opened = isOpen ? site.invitations[locator] : nil
    return layout("Invitation \(locator)", name: notebook.identity.name) {
      """
      \(reachedHeading("Invitation \(locator)"))
      <div id="outcome" role="status" data-live data-presence>
      \(words(for: record, opened))
      </div>
      <div id="invitation" data-live data-presence>
      \(opened.map(instructions))
      \(HTML.button("Cancel the invitation", at: address(ofInvitation: locator) + "/cancel"), if: isOpen)
      </div>
      \("<noscript><p><a class=\"btn\" href=\"\(address(ofInvitation: locator))\">Look again</a></p></noscript>", if: isOpen)
      <p><a class="btn plain" href="\(root)/devices">All devices and invitations</a></p>
      """
    }
  }

  /// The state of an invitation in words; nil while an invitation that the page opened is waiting.
  private func words(for record: InvitationRecord, _ opened: OpenedInvitations.Opened?) -> HTML {
    let wrong: HTML? = opened?.attemptsLeft.map {
      "<p class=\"error\">Somebody tried a wrong code: \(Self.count($0, "attempt")) left.</p>\n"
    }
    return switch record.state {
    case .available where opened != nil: wrong ?? .nothing
    case .available:
      "<p>It is open until \(time(record.expires)). Its code is shown where it was opened.</p>"
    case .pending: "\(wrong)<p class=\"done\">Somebody with the code sees the offer now.</p>"
    case .declined:
      "\(wrong)<p>Somebody with the code did not join. It is open until \(time(record.expires)).</p>"
    case .joined:
      "<p class=\"done\"><b>\(record.name ?? "A device")</b> joined as \(record.role.withArticle).</p>"
    case .expired: "<p>It expired: nobody has joined.</p>"
    case .exhausted: "<p class=\"error\">It was closed after three wrong codes.</p>"
    case .cancelled: "<p>It was cancelled.</p>"
    }
  }

  private func instructions(for opened: OpenedInvitations.Opened) -> HTML {
    let (open, code) = (opened.open, opened.open.code.description)
    let image = QRCode(code)?.svg(label: "The code \(code) for a camera")
    let left = max(0, open.expires - WallClock.now())
    let hosts = Address.ofThisMachine(limit: 2).map {
      "--at \(Address(host: $0, port: open.port))"
    }
    let options = hosts.isEmpty ? "--at HOST:\(open.port)" : hosts.joined(separator: " or ")
    let when =
      opened.isHidden
      ? "Other devices cannot find this one on the network: add"
      : "If that device does not find this one, add"
    return """
      <p>On that device, run:</p>
      <pre class="command">notes join \(code)</pre>
      \(image)
      <p>The code lets one device join as \(open.role.withArticle). It expires \(time(open.expires)), \
      in <span role="timer" data-ends="\(Int(open.expires))">\(Self.left(left))</span>, or after three \
      wrong attempts. Do not tell it to anybody else.</p>
      <p class="hint">\(when) <code>\(options)</code>.</p>
      """
  }

  private static func left(_ seconds: Int64) -> String {
    let rest = seconds % 60
    return "\(seconds / 60):\(rest < 10 ? "0" : "")\(rest)"
  }
}
