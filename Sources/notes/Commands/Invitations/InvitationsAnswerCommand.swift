internal import ArgumentParser
internal import Exchange
internal import Glibc
internal import Membership
internal import Notebook
internal import System

struct InvitationsAnswerCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "answer",
    abstract: "Let in the device that made a request by a file, and write the answer.",
    discussion: """
      Shows the device's name and the beginning of its ID, and asks. The answer is a bundle with the members and the \
      versions that the device lacks: 'notes bundle apply' there makes it a member.

      Examples:
        notes invitations answer home.request
        notes invitations answer home.request /media/stick/home.answer --yes
      """)

  @Argument(help: .named("request", "The file that 'notes join' wrote."), completion: .file())
  var request: String

  @Argument(help: .named("answer", "The new file."), completion: .file()) var answer: String?

  @Flag(name: .shortAndLong, help: "Let the device in without asking.") var yes = false

  @OptionGroup var options: CommonOptions

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    let context = try notebook.sessionContext()
    try context.membership.demandAdmin(context.key.deviceID)
    let file = try read()
    try file.demandOpen(in: context.membership, of: notebook)
    let name =
      answer
      ?? FileInvite.name(
        request, ending: FileInvite.requestEnding, with: FileInvite.answerEnding)
    let place = try NewFile(named: name, outside: notebook)
    let asker = file.request.request
    if !yes {
      try Console.demandConsent(
        to: "letting a device in",
        "\(Visible.name(asker.name)), device \(asker.deviceID.prefix(8)), asks to join as "
          + "\(file.offer.role.rawValue)\(Self.owner(by: file.offer, in: context.membership)). Let it in?",
        otherwise: "the device was not let in")
    }
    _ = try DeletionOption.foundBefore { try notebook.save() }
    let (member, bundle) = try file.answer(by: context, of: notebook)
    _ = try Interruption.token()
    let size = try place.write(bundle)
    options.tell(
      [
        "type": "answered", "name": member.name, "device": member.deviceID,
        "role": member.role.rawValue, "file": place.path, "versions": bundle.versions,
        "bytes": size,
      ],
      "\(Visible.name(member.name)) is now a member, as \(member.role.rawValue). Send "
        + "\(Visible.name(name)) back; on the new device, run 'notes bundle apply FILE'.")
  }

  /// The words that say whose device the new one becomes, if it is another device of a member.
  private static func owner(by offer: InvitationOffer, in membership: MembershipStore) -> String {
    guard offer.person == .own, let inviter = membership.member(ofDevice: offer.inviterID) else {
      return ""
    }
    return ", another device of \(Visible.name(inviter.person.name))"
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
