internal import Exchange
internal import Git
internal import History
internal import Membership
internal import Notebook
internal import System

/// `notes join LINK`: clones the notebook from the hub that the link names, and leaves a request there. An admin's
/// device answers it at a visit to the hub: notes-hub(7), "Invitations".
struct LinkJoin {
  let link: InvitationLink
  let given: JoinOptions

  private static let hubName = "origin"

  /// Reads a link.
  static func parse(_ text: String) throws -> InvitationLink {
    guard let link = try InvitationLink(parsing: text) else {
      // The message does not repeat the text, which may be most of a secret.
      throw Failure.usage(
        "this link is incomplete or was changed",
        hint: "copy the whole link, from 'notes://join/' to its end, as one line")
    }
    return link
  }

  func run() throws {
    let address = Visible.name(AddressText.withoutSecrets(link.hub))
    do {
      try join()
    } catch {
      throw JoinFailure.explained(error, by: "link", of: Visible.name(link.inviter), at: address)
    }
  }

  private func join() throws {
    guard given.yes || Console.canAsk else {
      throw Failure.usage(
        "there is no terminal to ask whether to join", hint: "--yes joins without asking")
    }
    if link.expires <= TimeText.now { throw LinkError.expired }
    let here = try NotebookLocator.folder(nil)
    let address = try Hub.address(link.hub, from: here)
    // If this fails, the current folder is in no notebook.
    let current = try? Notebook.open(at: Notebook.find(from: here))
    let folder =
      try given.folder.map(NotebookLocator.folder)
      ?? (current?.identity.id == link.notebookID ? current?.folder : nil)
    if let current, folder == nil, former(of: current)?.notebookID == link.notebookID {
      throw isAnother(current, named: current.folder)
    }
    let place = JoinPlace(
      folder: try folder ?? JoinPlace.unnamed(CloneCommand.name(for: address)),
      isNamed: folder != nil)
    let data = try UserFolders().data
    let notebook: Notebook
    var wasMember = false
    if let present = try present(in: place, data) {
      guard try decide(into: place) else { throw SyncError.declined }
      try ask(from: present, at: address)
      notebook = present
    } else {
      guard try decide(into: place) else { throw SyncError.declined }
      (notebook, wasMember) = try clone(address, into: place, data)
    }
    KnownNotebooks(dataFolder: data).add(notebook)
    try wasMember
      ? JoinFailure.tellMember(of: notebook, by: "link", given.common) : tell(notebook)
    try (notebook.history.conflicts().isEmpty ? Exit.done : .conflictsToResolve).end()
  }

  /// The notebook in the folder; nil if the folder is to become it. Throws, before any question and without the hub, if
  /// this device cannot join there.
  private func present(in place: JoinPlace, _ data: String) throws -> Notebook? {
    // A folder that cannot be opened is not a notebook.
    if let present = try? Notebook.open(at: place.folder) {
      if present.identity.id != link.notebookID { throw isAnother(present, named: place.folder) }
      if try present.state().tip != nil { return present }
    }
    try KnownNotebooks(dataFolder: data)
      .refuseSecond(link.notebookID, beside: place.folder, by: .join("notes join LINK"))
    try place.check(by: given)
    return nil
  }

  /// The error for a folder that has another notebook, or a copy of this one from before its membership was
  /// started over. In such a copy, a device can join only with a code.
  private func isAnother(_ notebook: Notebook, named place: String) -> Failure {
    let shown = Visible.name(place)
    let former = former(of: notebook)
    let isFormer = former?.notebookID == link.notebookID
    let what =
      isFormer
      ? "\(shown) has this notebook from before \(Visible.name(former?.admin ?? "")) started its membership over"
      : "\(shown) has another notebook, or this one from before its membership was started over"
    let condition = isFormer ? "" : ", if it has the same notebook"
    return Failure(
      .failed, "already_a_notebook", what,
      hint: "to join in a new folder, run 'notes join LINK DIR'; "
        + "to join in \(shown)\(condition), ask an admin for a code of 'notes invite' instead")
  }

  private func former(of notebook: Notebook) -> StartedOver? {
    StartedOver(in: notebook.stateFolder, of: notebook.identity.id)
  }

  private func decide(into place: JoinPlace) throws -> Bool {
    if !given.common.json {
      let terminal = Console.output
      Output.standard.tell(
        """
        The link says: \(terminal.paint(Visible.name(link.inviter), .bold)) invites this device to a notebook \
        as \(link.role.rawValue)
          at \(Visible.name(AddressText.withoutSecrets(link.hub)))
          into \(Visible.name(place.folder))

        """ + place.warning(for: nil))
    }
    try place.demandConsent(by: given)
    return try given.yes || Console.confirm("Join?")
  }

  private func ask(from notebook: Notebook, at address: String) throws {
    let hub: Hub
    if let known = try notebook.hubs().first(where: { $0.url == address }) {
      hub = known
    } else {
      hub = Hub(name: Self.hubName, url: address)
      try notebook.add(hub)
    }
    let token = try Interruption.token()
    try receiveMembers(of: notebook, from: hub, token)
    var invitation = LinkInvitation(try notebook.sessionContext(), at: hub)
    invitation.program.mayAsk = Console.canAsk
    invitation.program.cancellation = token
    guard try invitation.answer(link.secret, name: given.name ?? notebook.identity.device.name)
    else {
      throw JoinFailure.isMember(of: notebook)
    }
  }

  /// Visits the hub, because the copy here may not know yet who used the invitation, and that this device is a member.
  private func receiveMembers(
    of notebook: Notebook, from hub: Hub, _ token: CancellationToken
  ) throws {
    var visit = HubRun(context: try notebook.sessionContext(), hubs: [hub])
    visit.program.mayAsk = Console.canAsk
    var outcome = SyncOutcome()
    try visit.run(addingTo: &outcome, cancellation: token) { _ in }
    // A removed device may not visit the hub before it has asked.
    if let error = outcome.failures.first?.error as? HubError { throw error }
  }

  private func clone(
    _ address: String, into place: JoinPlace, _ data: String
  ) throws -> (Notebook, wasMember: Bool) {
    let key = try DeviceKey.loadOrCreate(in: data)
    var cloning = Cloning(
      of: .hub(Hub(name: Self.hubName, url: address)), key: key,
      deviceName: try DeviceName.choose(given: given.name))
    cloning.program.mayAsk = Console.canAsk
    // The user has already been asked.
    cloning.options.allowsLarge = true
    cloning.secret = link.secret
    cloning.mergesFiles = place.mergesFiles
    // The list has the notebook from its first version on, so that no second folder gets it if the rest fails.
    defer { KnownNotebooks(dataFolder: data).addIfThere(link.notebookID, in: place.folder) }
    let report = EventReport(json: given.common.json)
    defer { report.finish() }
    var wasMember = false
    let notebook = try cloning.run(
      into: place.folder, cancellation: Interruption.token(),
      check: { found in
        if found.id != link.notebookID { throw HubError.anotherNotebook }
        wasMember = found.devices.contains(key.deviceID)
      }
    ) { event in if case .progress = event { report.write(event) } }
    return (notebook, wasMember)
  }

  private func tell(_ notebook: Notebook) throws {
    let identity = notebook.identity
    let count = try notebook.history.noteCount()
    let asked = AskedAdmission(in: notebook.stateFolder)
    // The hub at which this device has already asked; nil if it asked by a file.
    let hub: String? = if case .hub(let name) = asked?.place { name } else { nil }
    // The inviter has signed the role in the request; the link's role is not proved.
    let role = asked?.role ?? link.role
    given.common.write([
      [
        "type": "asked", "notebook": identity.id, "name": identity.name, "path": notebook.folder,
        "hub": hub, "role": role.rawValue,
        "expires": TimeText.rfc3339(link.expires), "notes": count, "person": asked?.owner,
      ]
    ]) { terminal in
      terminal.wrapped(
        "Notebook \(terminal.paint(Visible.name(identity.name), .bold)) in "
          + "\(Visible.name(notebook.folder)): \(Phrase.count(count, "note"))\n"
          + (role == link.role
            ? "" : "The invitation is for \(role.withArticle), whatever the link says.\n")
          + (asked?.owner.map { "This device becomes another device of \(Visible.name($0)).\n" }
            ?? "")
          + OwnMembership(of: notebook).text)
    }
  }
}

/// The reports and hints for a person who joins by a link or a file: neither the notebook nor the hub is theirs.
enum JoinFailure {
  /// The error of a device that needs no invitation.
  static func isMember(of notebook: Notebook) -> Failure {
    Failure(
      .failed, "already_a_member", "this device is already a member of the notebook",
      hint: "'notes -C \(Visible.word(notebook.folder)) sync' receives what is new")
  }

  /// Reports a notebook that came to a member's device, which did not need the invitation.
  static func tellMember(
    of notebook: Notebook, by thing: String, _ options: CommonOptions
  ) throws {
    try notebook.keepMembership()
    try CloneCommand.tell(notebook, options)
    if !options.json {
      Output.standard.line(
        "This device was already a member: it did not use the \(thing), which still works.")
    }
  }

  /// The error with such a hint.
  ///
  /// - Parameters:
  ///   - thing: the word for what the person was given.
  ///   - inviter: the name of the person who gave it.
  ///   - address: the hub's address; nil for a file.
  static func explained(
    _ error: any Error, by thing: String, of inviter: String, at address: String? = nil
  ) -> any Error {
    let another = "ask \(inviter) for another \(thing)"
    let hub = address ?? "the hub"
    let hint: String
    switch error {
    case SyncError.declined: hint = "the \(thing) works until it expires"
    case LinkError.missing: hint = "if the \(thing) is complete, \(another)"
    case LinkError.used: hint = "if that is no device of yours, tell \(inviter); \(another)"
    case LinkError.expired, LinkError.cancelled, LinkError.noInvitation: hint = another
    case LinkError.void: hint = "ask an admin to make a \(thing) for this device"
    case HubError.notLetIn, HubError.readOnly:
      hint =
        "check your key or password for \(hub); the link gives no access, so ask \(inviter) who can let "
        + "you write there"
    case HubError.refused:
      hint =
        "the new device writes a request to the hub: ask \(inviter) who can let \(hub) accept it"
    case BundleError.anotherNotebook:
      hint = "give another folder: 'notes join FILE DIR'"
    case HubError.unreachable:
      hint = "check the network; if it works, ask \(inviter) how to reach \(hub) from here"
    case HubError.noRepository, HubError.withoutMembers, HubError.anotherNotebook:
      hint = "if the link is complete, ask \(inviter) how to reach \(hub) from here"
    default: return error
    }
    var failure = Failure(describing: error)
    failure.hint = hint
    return failure
  }
}
