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
    let people = try people.checked(against: context.membership)
    guard let hub = try notebook.hubs().first(where: { $0.name == hub }) else {
      throw HubDefect.noSuchHub(hub)
    }
    let report = EventReport(json: options.json)
    defer { report.finish() }
    // The hub must have the notes and the members to which the link leads.
    var outcome = SyncOutcome()
    var visit = HubRun(context: context, hubs: [hub])
    visit.program.mayAsk = Console.canAsk
    try visit.run(addingTo: &outcome, cancellation: Interruption.token()) { report.write($0) }
    report.finish()
    if let failure = outcome.failures.first { throw failure.error }
    var invitation = LinkInvitation(context, at: hub)
    invitation.program.mayAsk = Console.canAsk
    invitation.program.cancellation = try Interruption.token()
    let isOne = people.count == 1
    for (index, person) in people.enumerated() {
      let link = try invitation.make(role: role, person: person, seconds: seconds)
      options.write([
        [
          "type": "link", "link": link.text, "invitation": link.secret.id.description,
          "person": person.name, "role": role.rawValue, "expires": TimeText.rfc3339(link.expires),
          "hub": hub.name,
        ]
      ]) { terminal in
        let heading =
          isOne
          ? "Send this link to one person, in a way that nobody else can read. It lets"
          : "Send each of these links to one person, in a way that nobody else can read. It lets"
        // The link is not broken into lines, so that it can be copied as a whole.
        return
          (index > 0
          ? ""
          : terminal.wrapped(
            "\(heading) one device join as \(role.rawValue), within "
              + "\(TimeText.left(until: link.expires, now: TimeText.now)):\n") + "\n")
          + (person.name.map { "for \(Visible.name($0)):\n" } ?? "") + "\(link.text)\n\n"
          + (isOne
            ? QRCode.lines(ofText: "notes join \(link.text)").map { $0 + "\n" }.joined() : "")
          + (index < people.count - 1
            ? ""
            : terminal.wrapped(
              "The person needs write access to \(Visible.name(hub.name)), which the link does not give, and runs "
                + "'notes join LINK'. An admin's device lets the new one in when it next visits \(Visible.name(hub.name)): "
                + (isAdmin
                  ? "this one by 'notes sync', or by itself while 'notes watch' runs.\n"
                  : "after 'notes config own-devices true' there.\n")))
      }
    }
  }
}
