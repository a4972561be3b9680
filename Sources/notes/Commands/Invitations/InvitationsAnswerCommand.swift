internal import ArgumentParser
internal import Exchange
internal import Glibc
internal import Membership
internal import Notebook
internal import System

struct InvitationsAnswerCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "answer",
    abstract: "Let in a device that asks by a file, or a member's other device.",
    discussion: """
      Shows the device's name and the beginning of its ID, and asks. For a request by a file, the answer is a bundle \
      with the members and the versions that the device lacks: 'notes bundle apply' there makes it a member.

      If a member asks for another device of its own at a hub or in a session, 'notes invitations' lists it; give the \
      first digits there instead of a file.

      Examples:
        notes invitations answer home.request
        notes invitations answer home.request /media/stick/home.answer --yes
        notes invitations answer 5f3a
      """)

  @Argument(
    help: .named(
      "request", "The file that 'notes join' wrote, or the first four or more digits of the list."),
    completion: .file())
  var request: String

  @Argument(help: .named("answer", "The new file."), completion: .file()) var answer: String?

  @Flag(name: .shortAndLong, help: "Let the device in without asking.") var yes = false

  @OptionGroup var options: CommonOptions

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    let context = try notebook.sessionContext()
    try context.membership.demandAdmin(context.key.deviceID)
    if let listed = try listed(in: notebook, context.membership) {
      if answer != nil {
        throw Failure.usage(
          "a device that asks at a hub or in a session needs no answer in a file",
          hint: "leave out the file name: 'notes invitations answer \(Visible.word(request))'")
      }
      return try letIn(listed, by: context, of: notebook)
    }
    let file = try read()
    try file.demandOpen(in: context.membership, of: notebook)
    let name =
      answer
      ?? FileInvite.name(
        request, ending: FileInvite.requestEnding, with: FileInvite.answerEnding)
    let place = try NewFile(named: name, outside: notebook)
    let wasMember = context.membership.member(ofDevice: file.request.deviceID) != nil
    if !wasMember { try demandConsent(to: file, in: context.membership) }
    _ = try DeletionOption.foundBefore { try notebook.save() }
    let (member, bundle) = try file.answer(by: context, of: notebook)
    _ = try Interruption.token()
    let size = try place.write(bundle)
    options.tell(
      json(of: member) + ["file": place.path, "versions": bundle.versions, "bytes": size],
      "\(Self.welcome(member, file, wasMember: wasMember)) Send "
        + "\(Visible.name(name)) back; on the new device, run 'notes bundle apply FILE'.")
  }

  /// Lets in a member's other device that asked at a hub or in a session.
  private func letIn(
    _ file: AdmissionFile, by context: SessionContext, of notebook: Notebook
  ) throws {
    try demandConsent(to: file, in: context.membership)
    // A hub may have a withdrawal, or another device's request for the same invitation.
    let unreached = try context.visitHubs(options)
    let device = file.request.deviceID
    if context.membership.member(ofDevice: device) == nil {
      _ = try listed(in: notebook, context.membership)
    }
    let member = try file.admit(by: context, of: notebook)
    options.tell(
      json(of: member) + ["invitation": file.offer.id.description],
      "\(Self.welcome(member, file)) It learns this at its next sync at the hub; "
        + "if it asked by a code, run 'notes join' there again.")
    try context.visitHubs(options, besides: unreached)
  }

  private func json(of member: Member) -> JSON {
    [
      "type": "answered", "name": member.name, "device": member.deviceID,
      "role": member.role.rawValue,
    ]
  }

  /// The words for a new member; if its name was taken, they say why it has another one.
  private static func welcome(
    _ member: Member, _ file: AdmissionFile, wasMember: Bool = false
  ) -> String {
    let (asked, name) = (file.request.request.name, member.deviceName)
    let membership = wasMember ? "was already a member" : "is now a member"
    return "\(Visible.name(member.name)) \(membership), as \(member.role.rawValue)."
      + (asked == name ? "" : " Another device is already called \(Visible.name(asked)).")
  }

  private func demandConsent(to file: AdmissionFile, in membership: MembershipStore) throws {
    if yes { return }
    let asker = file.request.request
    try Console.demandConsent(
      to: "letting a device in",
      "\(Visible.name(asker.name)), device \(asker.deviceID.prefix(16)), asks to join as "
        + "\(file.offer.role.rawValue)\(Self.owner(by: file.offer, in: membership)). Let it in?",
      otherwise: "the device was not let in")
  }

  /// The words that say whose device the new one becomes, if it is another device of a member.
  private static func owner(by offer: InvitationOffer, in membership: MembershipStore) -> String {
    guard offer.person == .own, let inviter = membership.member(ofDevice: offer.inviterID) else {
      return ""
    }
    return ", another device of \(Visible.name(inviter.person.name))"
  }

  /// The listed request whose invitation's ID begins with the given digits; nil if a file is meant.
  private func listed(
    in notebook: Notebook, _ membership: MembershipStore
  ) throws -> AdmissionFile? {
    guard let digits = InvitationDigits(request), Counted.access(request, F_OK) != 0 else {
      return nil
    }
    let links = try KnownOffers(notebook.stateFolder).all(in: membership)
    let found = try digits.link(among: links, that: { $0.request != nil })
    guard let file = found?.request else {
      if let shared = try digits.link(among: links, that: { $0.isShared && $0.status == .open }) {
        throw Failure(
          .failed, "no_request",
          "several devices ask by invitation \(shared.offer.id.short), so none is let in",
          hint:
            "cancel it with 'notes invitations cancel \(shared.offer.id.short)', and ask the member who made it for "
            + "a new one"
        )
      }
      throw Failure(
        .failed, "no_request",
        "no device asks by an invitation whose digits begin with '\(digits)'",
        hint: "'notes invitations' lists the devices that ask; a request in a file has a file name")
    }
    return file
  }

  private func read() throws -> AdmissionFile {
    let path = try NotebookLocator.folder(request)
    do {
      let bytes = try FileSystem<BundleError>.read(path, limit: AdmissionFile.maximumSize)
      if let file = try AdmissionFile(parsing: bytes) { return file }
    } catch BundleError.file(_, _, EFBIG) {}
    throw LinkError.noRequest
  }
}
