internal import Exchange
internal import Git
internal import Membership
internal import Notebook

/// `notes invite --file FILE`: an invitation as a file that a person passes on, with the notebook
/// in it.
struct FileInvite {
  let file: String
  let role: Role?
  let people: InvitedPeople
  let seconds: Int64
  let options: CommonOptions

  /// The usual suffixes of the three files' names.
  static let (ending, requestEnding, answerEnding) = (".invitation", ".request", ".answer")

  /// A file name with another suffix, or with an additional one.
  static func name(_ name: String, ending former: String, with ending: String) -> String {
    (name.hasSuffix(former) ? String(name.dropLast(former.count)) : name) + ending
  }

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    let context = try notebook.sessionContext()
    let role = try people.role(role, by: context)
    let isAdmin = context.membership.role(ofDevice: context.key.deviceID) == .admin
    let person = try people.checked(by: context)[0]
    let place = try NewFile(named: file, outside: notebook)
    _ = try DeletionOption.foundBefore { try notebook.save() }
    let invitation = try FileInvitation(
      to: context, role: role, person: person, seconds: seconds)
    let bundle = try NewBundle(of: notebook, for: context, with: invitation)
    _ = try Interruption.token()
    let bytes = try place.write(bundle)
    try invitation.keep(for: context)
    let offer = invitation.offer
    options.write([
      [
        "type": "invitation_file", "file": place.path, "invitation": offer.id.description,
        "person": person.name, "role": role.rawValue, "expires": TimeText.rfc3339(offer.expires),
        "bytes": bytes,
      ]
    ]) { terminal in
      terminal.wrapped(
        "Wrote the notebook and invitation \(offer.id.short) (\(Phrase.bytes(bytes))) to "
          + "\(Visible.name(file)).\n"
          + (person == .own
            ? "Open the file on one other device of yours; nobody else may read it. "
            : "Give the file to one person, in a way that nobody else can read. ")
          + "It lets one device join as \(role.rawValue), within "
          + "\(TimeText.left(until: offer.expires, now: TimeText.now)).\n"
          + "'notes join FILE' there writes a request. 'notes invitations answer "
          + "REQUEST', \(isAdmin ? "here or on another" : "on an") admin's device, makes the answer.\n"
      )
    }
  }
}
