internal import ArgumentParser
internal import Exchange
internal import Git
internal import History
internal import Membership
internal import Notebook

struct InvitationsCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "invitations",
    abstract: "List, cancel, answer, accept or decline invitations.",
    discussion: """
      Lists what 'notes invite' opened here, the newest first, and the invitations that other \
      members of this notebook sent to this device.

      Examples:
        notes invitations
        notes invitations cancel 42
        notes invitations answer home.request
        notes invitations accept laptop ~/second
        notes invitations decline laptop
      """,
    subcommands: [
      InvitationsCancelCommand.self, InvitationsAnswerCommand.self, InvitationsAcceptCommand.self,
      InvitationsDeclineCommand.self,
    ])

  @OptionGroup var options: CommonOptions

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    let membership = try notebook.membership()
    let report = try InvitationsReport(
      made: InvitationBook(stateFolder: notebook.stateFolder).all(),
      links: KnownOffers(notebook.stateFolder).all(in: membership), members: membership.members(),
      received: ReceivedInvitations(stateFolder: notebook.stateFolder).all(),
      isAdmin: membership.role(ofDevice: notebook.identity.device.deviceID) == .admin)
    options.write(report.json) { report.text(on: $0, now: TimeText.now) }
  }
}

struct InvitationsCancelCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "cancel", abstract: "Cancel an open invitation.",
    discussion: """
      If 'notes invite' waits for this code, it ends. A cancelled link or file lets no device in: admins' \
      devices learn of it at their next sync, and refuse all who use it. A member that is not an admin \
      can cancel its own link or file.

      Examples:
        notes invitations cancel 42
        notes invitations cancel 5f3a
      """)

  @Argument(
    help: .named(
      "digits", "The first two digits of the code, or four digits of a link's or file's ID."))
  var locator: String

  @OptionGroup var options: CommonOptions

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    // A whole link is secret, and hexadecimal digits can look like a code.
    if InvitationLink.isMeant(by: locator) { CommandLineSecret.hide(locator) }
    if try cancelLink(in: notebook) { return }
    // If a person pastes the whole code, its beginning identifies the invitation.
    let digits = InvitationCode(parsing: locator)?.locator ?? locator
    guard try InvitationBook(stateFolder: notebook.stateFolder).cancel(locator: digits) else {
      if let ended = try endedLink(in: notebook) { throw ended }
      throw Failure(
        .failed, "no_such_invitation", "no invitation '\(Visible.name(digits))' is open here",
        hint: "'notes invitations' lists them; give at least four digits of a link or file")
    }
    options.tell(["type": "cancelled", "locator": digits], "Cancelled: \(digits).")
  }
}

extension InvitationsCancelCommand {
  /// Cancels an invitation by a link or a file. Returns false if none has an ID with that beginning.
  private func cancelLink(in notebook: Notebook) throws -> Bool {
    guard let digits = try InvitationDigits(id(inLink: locator) ?? locator) else { return false }
    let context = try notebook.sessionContext()
    let links = try KnownOffers(notebook.stateFolder).all(in: context.membership)
    var cancellation = OfferCancellation(by: context)
    cancellation.program.mayAsk = Console.canAsk
    let open = try digits.link(among: links) { $0.status == .open }
    guard
      let known = try open ?? digits.link(among: links, that: { cancellation.isPossible(for: $0) })
    else { return false }
    let offer = known.offer
    let withdraws = cancellation.withdraws(offer)
    if !withdraws { try context.membership.demandAdmin(context.key.deviceID) }
    var unreached: HubError?
    do {
      guard try cancellation.cancel(offer, at: notebook.hubs()) else { return false }
    } catch let error as HubError {
      // The cancellation is recorded here, and sessions tell it to other devices.
      unreached = error
    }
    let news =
      unreached == nil
      ? "at the hub, or at their next sync with this device."
      : "at their next sync with this device. To tell the hub, run this command again."
    options.tell(
      ["type": "cancelled", "invitation": offer.id.description],
      "Cancelled: \(offer.id.short)." + (withdraws ? " Admins' devices learn of it \(news)" : ""))
    if let unreached { throw unreached }
    try tell(of: offer, as: context, withdraws: withdraws)
    return true
  }

  /// The error for a link or file that cannot be cancelled any more; nil if the digits are those of none.
  private func endedLink(in notebook: Notebook) throws -> Failure? {
    guard let digits = try InvitationDigits(id(inLink: locator) ?? locator) else { return nil }
    let membership = try notebook.membership()
    let links = try KnownOffers(notebook.stateFolder).all(in: membership)
    return try digits.link(among: links, that: { _ in true }).map {
      hasEnded($0, membership.members())
    }
  }

  /// The ID of the invitation in a link that a person pastes; nil if the text is no link.
  private func id(inLink text: String) throws -> String? {
    guard InvitationLink.isMeant(by: text) else { return nil }
    return try LinkJoin.parse(text).secret.id.description
  }

  /// The error for an invitation that cannot be cancelled any more.
  private func hasEnded(_ link: KnownOffers.Known, _ members: [Member]) -> Failure {
    let shown = "invitation \(link.offer.id.short)"
    guard case .used(let devices) = link.status else {
      return Failure(
        .failed, "invitation_ended", "\(shown) lets no device in any more",
        hint: "'notes invitations' shows its state")
    }
    let names = devices.compactMap { device in
      members.first { $0.deviceID == device && !$0.isRemoved }?.name
    }
    return Failure(
      .failed, "invitation_ended", "\(shown) was already used",
      hint: names.first.map {
        "'notes members remove \(Visible.word($0))' removes the device that it let in"
      }
        ?? "the device that it let in is no longer a member")
  }

  /// Visits the hubs after a cancellation, and says which devices admins had let in, and after an admin's cancellation
  /// which hubs do not know of it yet.
  private func tell(
    of offer: InvitationOffer, as context: SessionContext, withdraws: Bool
  ) throws {
    Output.standard.flush()
    let hubs = try context.notebook().hubs()
    let unreached = try context.visitHubs(options).sorted().map { Visible.name($0) }
    let members = context.membership.members()
    let joined: [String] =
      if case .used(let devices) = context.membership.status(of: offer) { devices } else { [] }
    for device in joined {
      let member = members.first { $0.deviceID == device }
      let (name, isRemoved) = (member?.name ?? device, member?.isRemoved ?? true)
      options.tell(
        [
          "type": "already_joined", "name": name, "device": device,
          "state": isRemoved ? "removed" : "member",
        ],
        "\(withdraws ? "An" : "Another") admin's device had already let in \(Visible.name(name)), which is "
          + (isRemoved
            ? "now removed. To let it back in, invite it again."
            : withdraws
              ? "a member: an admin can remove it."
              : "still a member: 'notes members remove' removes it."))
    }
    if withdraws { return }
    let others = members.others(besides: context.key.deviceID).filter { $0.role == .admin }
    if options.json || others.isEmpty || unreached.isEmpty && !hubs.isEmpty { return }
    let names = Phrase.list(others.map { Visible.name($0.name) }, "or")
    let places = Phrase.list(unreached)
    Output.standard.line(
      hubs.isEmpty
        ? "Until the next sync with this device, \(names) may still let a device in by it; that device is removed then."
        : "Until this device visits \(places), \(names) may let a device in there; that device is removed then. "
          + "'notes sync' visits \(places) again.")
  }
}

struct InvitationsAcceptCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "accept",
    abstract: "Join a notebook to which a member of this notebook invites this device.",
    discussion: """
      Shows the offer, asks, and fetches everything, as 'notes join' does. NAME is the device or \
      the notebook; omit it if there is only one invitation.

      Examples:
        notes invitations accept
        notes invitations accept laptop ~/second --yes
      """)

  @Argument(help: "The inviting device, or the notebook.") var name: String?

  @Argument(help: .named("dir", "The folder for the notebook."), completion: .directory)
  var folder: String?

  @Flag(name: .shortAndLong, help: "Join without asking.") var yes = false

  @Flag(help: "Also add files of DIR that look like keys or credentials.") var include = false

  @OptionGroup var options: CommonOptions

  func run() throws {
    let answer = try InvitationAnswer(to: name)
    let dialogue = try JoinDialogue(
      json: options.json, yes: yes, folder: folder, include: include,
      command: "notes invitations accept NAME")
    try dialogue.join(by: answer.joining(into: dialogue.place), whenAnswered: answer.forget).end()
  }
}

struct InvitationsDeclineCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "decline", abstract: "Decline an invitation of a member of this notebook.",
    discussion: """
      Tells the inviting device, if it is still waiting. NAME is the device or the notebook; omit \
      it if there is only one invitation.

      Examples:
        notes invitations decline laptop
      """)

  @Argument(help: "The inviting device, or the notebook.") var name: String?

  @OptionGroup var options: CommonOptions

  func run() throws {
    let answer = try InvitationAnswer(to: name)
    let client = answer.joining { _ in "" }
    // If the inviter's device is out of reach, it does not learn that the invitation was declined.
    _ = try? client.run(cancellation: Interruption.token()) { _ in false }
    answer.forget()
    let inviter = answer.received.inviter
    options.tell(
      ["type": "declined", "inviter": inviter],
      "Declined the invitation of \(Visible.name(inviter)).")
  }
}

struct InvitationAnswer {
  let received: ReceivedInvitation
  private let list: ReceivedInvitations
  private let key: DeviceKey
  private let deviceName: String

  init(to name: String?) throws {
    let notebook = try NotebookLocator.notebook()
    key = try notebook.sessionContext().key
    deviceName = notebook.identity.device.name
    list = ReceivedInvitations(stateFolder: notebook.stateFolder)
    received = try Self.choice(of: name, among: list.all())
  }

  private static func choice(
    of name: String?, among all: [ReceivedInvitation]
  ) throws(Failure) -> ReceivedInvitation {
    let matches = all.filter { received in
      guard let name else { return true }
      return received.inviter == name || received.invitation.notebookName == name
        || (name.utf8.count >= 4 && received.inviterID.hasPrefix(name.uppercased()))
    }
    guard let received = matches.first else {
      let names = all.flatMap { [$0.inviter, $0.invitation.notebookName] }
      throw Failure(
        .failed, "no_such_invitation", "this device has no such invitation",
        hint: name.flatMap { Failure.guess($0, among: names) }
          ?? "'notes invitations' lists them; they arrive in a sync and expire after ten minutes")
    }
    guard matches.count == 1 else {
      let choices = matches.prefix(5).map {
        "\(Visible.name($0.inviter)) to \(Visible.name($0.invitation.notebookName))"
      }
      throw Failure(
        .failed, "ambiguous_invitation", "there are several invitations for this device",
        hint: "name the inviting device or the notebook: \(Phrase.list(choices))")
    }
    return received
  }

  func joining(into folder: @escaping @Sendable (PairingOffer) -> String) -> PairingClient {
    var joining = PairingClient(
      code: received.invitation.code, name: deviceName, key: key, folder: folder)
    joining.addresses = [received.address]
    return joining
  }

  func forget() { list.forget(received) }
}
