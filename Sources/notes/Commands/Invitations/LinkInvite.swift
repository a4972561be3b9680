internal import Exchange
internal import Git
internal import Membership
internal import Notebook
internal import QRCodes
internal import System

/// `notes invite --hub NAME`: an invitation that a person sends as a link. It is open for days, and waits at the
/// hub: notes-hub(7), "Invitations".
struct LinkInvite {
  let hub: String
  let role: Role?
  let people: InvitedPeople
  let seconds: Int64
  let options: CommonOptions

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    let context = try notebook.sessionContext()
    let role = try people.role(role, by: context)
    let isAdmin = context.membership.role(ofDevice: context.key.deviceID) == .admin
    let people = try people.checked(by: context)
    let hub = try notebook.hub(named: hub)
    let report = EventReport(json: options.json)
    defer { report.finish() }
    // The hub must have the notes and the members to which the link leads.
    var outcome = SyncOutcome()
    var visit = HubRun(context: context, hubs: [hub])
    visit.program.mayAsk = Console.canAsk
    let token = try Interruption.token()
    try visit.run(addingTo: &outcome, cancellation: token) { report.write($0) }
    report.finish()
    if let failure = outcome.failures.first { throw failure.error }
    var invitation = LinkInvitation(context, at: hub)
    invitation.program.mayAsk = Console.canAsk
    invitation.program.cancellation = token
    var first: InvitationLink?
    var failure: (any Error)?
    for person in people where !Output.standard.isClosed {
      do {
        let link = try invitation.make(role: role, person: person, seconds: seconds)
        // No device keeps the secret, so a link that is not shown at once may be lost.
        options.write([json(link, for: person)]) { _ in
          (first == nil ? opening(link, for: people) : "") + text(link, for: person)
        }
        Output.standard.flush()
        first = first ?? link
      } catch  where first != nil {
        failure = error
        break
      }
    }
    if let first {
      options.write([]) { _ in ending(first, for: people, at: hub, isAdmin: isAdmin) }
    }
    if let failure { throw failure }
  }

  private func json(_ link: InvitationLink, for person: InvitedPerson) -> JSON {
    [
      "type": "link", "link": link.text, "invitation": link.secret.id.description,
      "person": person.name, "role": link.role.rawValue, "expires": TimeText.rfc3339(link.expires),
      "hub": hub,
    ]
  }

  /// The lines above the links: what to do with them.
  private func opening(_ first: InvitationLink, for people: [InvitedPerson]) -> String {
    let each = people.count == 1 ? "this link" : "each of these links"
    let deed =
      people[0] == .own
      ? "Open \(each) on one other device of yours; nobody else may read it."
      : "Send \(each) to one person, in a way that nobody else can read."
    return "\(deed) It lets one device join as \(first.role.rawValue), within "
      + "\(TimeText.left(until: first.expires, now: TimeText.now)):\n"
  }

  /// A link, alone on a line, so that it can be copied as a whole.
  private func text(_ link: InvitationLink, for person: InvitedPerson) -> String {
    "\nInvitation \(link.secret.id.short)"
      + (person.name.map { ", for \(Visible.name($0))" } ?? "") + ":\n\(link.text)\n"
  }

  /// The lines below the links.
  private func ending(
    _ first: InvitationLink, for people: [InvitedPerson], at hub: Hub, isAdmin: Bool
  ) -> String {
    let isOne = people.count == 1
    let shown = Visible.name(hub.name)
    return (isOne ? drawn(first) : "")
      + "\n\(people[0] == .own ? "That device" : "The person") needs write access to \(shown), which the link "
      + "does not give, and runs 'notes join LINK'. An admin's device lets the new one in when it next visits "
      + "\(shown): "
      + (isAdmin
        ? "this one by 'notes sync', or by itself while 'notes watch' runs.\n"
        : "after 'notes config own-devices true' there, or a yes by 'notes invitations answer'.\n")
      + (hub.limits.isEmpty
        ? "" : "The link may not work elsewhere: \(hub.limits.joined(separator: "; ")).\n")
      + "'notes invitations cancel \(isOne ? first.secret.id.short : "ID")' cancels a link.\n"
  }

  /// The command with the link, drawn for a camera if the terminal can show it.
  private func drawn(_ link: InvitationLink) -> String {
    let lines = QRCode.lines(ofText: "notes join \(link.text)")
    return lines.isEmpty ? "" : "\n" + lines.map { $0 + "\n" }.joined()
  }
}

extension Hub {
  /// Why the address may not lead another person, or another machine, to this repository.
  var limits: [String] {
    if url.hasPrefix("/") { return ["\(Visible.name(url)) is a folder of this machine"] }
    let mark = url.firstRange(of: "://")
    let scheme = mark.map { url[..<$0.lowerBound].lowercased() } ?? "ssh"
    guard ["ssh", "https"].contains(scheme) else { return [] }
    let place = url[(mark?.upperBound ?? url.startIndex)...].prefix {
      $0 != "/" && (mark != nil || $0 != ":")
    }
    let parts = place.split(separator: "@").map(String.init)
    let host = (parts.last ?? "").prefix { $0 != ":" }
    let user = parts.count > 1 ? parts[0] : nil
    let isSSH = scheme == "ssh"
    var limits: [String] = []
    // ssh's settings can give a host any name.
    if !host.contains("."), !host.hasPrefix("[") {
      limits.append("'\(Visible.name(String(host)))' is a name that only some machines know")
    }
    if let user, isSSH, user != "git" {
      limits.append("it logs in as \(Visible.name(user)), so the person needs access as that user")
    }
    if user == nil, isSSH { limits.append("it names no user, so ssh takes the person's own name") }
    return limits
  }
}
