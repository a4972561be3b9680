internal import Membership
internal import Notebook
internal import QRCodes
internal import System

/// The guests of the page, for the user of this device: invited, given another role, and removed.
extension RequestContext {
  /// The list of guests on the page of people and devices.
  func guestList() throws -> HTML {
    let guests = try site.presentGuests().map { guest -> HTML in
      let seen = site.lastHere(of: guest).map { "last here \(time($0))" } as HTML?
      let about: [HTML] = ["\(guest.role.rawValue)", "since \(time(guest.since))"]
      return .person(
        "<b>\(guest.name)</b>", about + [seen ?? "has not opened the page since it was started"],
        .change(guest.name, at: "\(root)/devices/guest/\(guest.id)"), face: .face(guest.name))
    }
    let links = try site.guests.invitations().map { link -> HTML in
      let name = link.name ?? "A guest"
      return .person(
        "<b>\(name)</b>",
        ["\(link.role.rawValue)", "invited; the link expires \(time(link.expires))"],
        .button(
          "Cancel\(HTML.spoken(" the invitation of \(name)"))",
          at: "\(root)/devices/guest/\(link.token)/remove"))
    }
    let all = guests + links
    return """
      <h2 class="label">Guests</h2>
      <p class="soft">Guests use the notes in a browser, from this device. They install nothing.</p>
      \(HTML.group(all))
      """
  }

  private func guestRoles(chosen: Role) -> [HTML] {
    HTML.roles(
      chosen: chosen, [(.writer, "can read and change the notes"), (.reader, "can read the notes")])
  }

  var guestForm: HTML {
    """
    <form method="post" action="\(root)/devices/guests" class="edit">
    <h2 class="label">Invite a guest</h2>
    <div class="field"><label for="guest">Name; leave it empty to let the guest choose one</label>
    <input class="input" id="guest" name="name" maxlength="64" dir="auto" autocomplete="off"></div>
    <fieldset><legend class="vh">Role</legend>
    \(guestRoles(chosen: .writer))
    </fieldset>
    <p><button class="btn main">Make a link</button></p>
    </form>
    """
  }

  /// Makes a link, which only the resulting page shows.
  func inviteGuest(to notebook: Notebook) throws -> Response {
    let role = try formRole()
    let origins = try ServedPage.origins(stateFolder: notebook.stateFolder)
    let origin = origins.dropFirst().first ?? request.entrance.origin
    let (made, token) = try site.guests.invite(request.form.typed("name"), as: role)
    let link = "\(origin)/\(Visitor.linkPath)/\(token)"
    let local: HTML = """
      <p class="hint">The page is on this machine only. For phones, run <code>notes web --lan</code>.</p>
      """
    let frame = Frame(back: (root + "/devices", "People and devices"))
    return .page(
      layout("Invitation", name: notebook.identity.name, frame) {
        """
        \(reachedHeading("Invite \(made.name ?? "a guest")"))
        <p>The guest opens this address, or holds the phone's camera at the code:</p>
        <pre class="command">\(link)</pre>
        \(QRCode(link)?.svg(label: "The address for a camera"))
        <p class="soft">The link works in one browser, until \(time(made.expires)). It is not shown again.</p>
        \(local, if: origins.count < 2)
        """
      })
  }

  private func formRole() throws -> Role {
    guard let role = request.form["role"].flatMap(Role.init(rawValue:)), role != .admin else {
      throw Refusal.brokenForm
    }
    return role
  }

  /// The guest whose ID is in the path.
  private func namedGuest() throws -> Guest {
    let guest = try site.presentGuests().first { $0.id == request.path[2] }
    guard let guest else { throw Refusal.noSuchMember }
    return guest
  }

  func guestPage(of notebook: Notebook) throws -> HTML {
    let guest = try namedGuest()
    return personPage(
      guest.name, at: "\(root)/devices/guest/\(guest.id)", in: notebook,
      role: "\(guestRoles(chosen: guest.role))",
      removal: """
        <p class="soft">The guest's browser has no access from now on. What the guest wrote stays.</p>
        """)
  }

  func changeGuestRole() throws -> Response {
    _ = try site.guests.setRole(formRole(), of: namedGuest().name)
    return .see("\(root)/devices?done=guest-role")
  }

  /// Removes a guest, or cancels a link.
  func removeGuest() throws -> Response {
    if let link = try site.guests.invitations().first(where: { $0.token == request.path[2] }) {
      try site.guests.withdraw(link)
      return .see("\(root)/devices?done=cancelled")
    }
    _ = try site.guests.remove(namedGuest().name)
    return .see("\(root)/devices?done=guest-removed")
  }
}
