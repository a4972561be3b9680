internal import Exchange
internal import Git
internal import Glibc
internal import History
internal import Membership
internal import Notebook
internal import System

/// `notes join FILE`: receives the notebook from an invitation's file, and writes a request to an admin's
/// device. notes-security(7), "Invitations by a file".
struct FileJoin {
  let file: String
  let given: JoinOptions

  /// Whether the argument means a file: it is not a code, and it is a path or the name of an
  /// existing file.
  static func isFile(_ text: String) -> Bool {
    InvitationCode(parsing: text) == nil
      && (text.contains("/") || Counted.access(text, F_OK) == 0)
  }

  func run() throws {
    do {
      try join()
    } catch {
      throw JoinFailure.explained(error, by: "file", of: "an admin")
    }
  }

  private func join() throws {
    guard given.yes || Console.canAsk else {
      throw Failure.usage(
        "there is no terminal to ask whether to join", hint: "--yes joins without asking")
    }
    let path = try NotebookLocator.folder(file)
    let joined = try joinHere(by: path) ?? join(by: path)
    KnownNotebooks(dataFolder: try UserFolders().data).add(joined.notebook)
    if joined.wasMember {
      try JoinFailure.tellMember(of: joined.notebook, by: "file", given.common)
    } else {
      let request = try write(joined.invitation, for: joined.notebook)
      try tell(joined.notebook, joined.invitation, request)
    }
    try (joined.notebook.history.conflicts().isEmpty ? Exit.done : .conflictsToResolve).end()
  }

  private typealias Joined = (notebook: Notebook, invitation: FileInvitation, wasMember: Bool)

  /// Joins in the current folder, if that is in the notebook and no other folder is given.
  private func joinHere(by path: String) throws -> Joined? {
    guard given.folder == nil,
      // If this fails, the current folder is in no notebook, so there is none to join in.
      let current = try? Notebook.open(at: Notebook.find(from: NotebookLocator.folder(nil)))
    else { return nil }
    do {
      return try join(in: current, by: path)
    } catch BundleError.anotherNotebook {
      return nil
    }
  }

  private func join(by path: String) throws -> Joined {
    let place = JoinPlace(
      folder: try given.folder.map(NotebookLocator.folder)
        ?? JoinPlace.unnamed(CloneCommand.name(for: path)),
      isNamed: given.folder != nil)
    // A folder that cannot be opened is not a notebook.
    if let present = try? Notebook.open(at: place.folder), try present.state().tip != nil {
      return try join(in: present, by: path)
    }
    return try clone(path, into: place)
  }

  /// Shows who invites to what, and asks.
  ///
  /// - Parameter owner: the person whose device this one becomes, if it is not one of its own.
  private func decide(
    _ invitation: FileInvitation, by inviter: String?, for owner: String?, to notebook: String,
    into place: JoinPlace
  ) throws {
    if !given.common.json {
      let terminal = Console.output
      Output.standard.tell(
        """
        \(terminal.paint(Visible.name(inviter ?? "?"), .bold)) invites this device to \
        \(terminal.paint(Visible.name(notebook), .bold)) as \(invitation.offer.role.rawValue)
          by \(Visible.name(file))
          into \(Visible.name(place.folder))

        """)
      let person = invitation.offer.person.name
      Output.standard.tell(
        (owner.map { "  another device of \(Visible.name($0))\n" } ?? "")
          + (person.map { "  for \(Visible.name($0))\n" } ?? "")
          + place.warning(for: invitation.offer.role))
    }
    try place.demandConsent(by: given)
    guard try given.yes || Console.confirm("Join?") else { throw SyncError.declined }
  }

  /// Joins in a notebook that this device already has a copy of.
  private func join(
    in notebook: Notebook, by path: String
  ) throws -> Joined {
    let context = try notebook.sessionContext()
    let token = try Interruption.token()
    let invitation = try FileInvitation.read(path, for: context, cancellation: token)
    guard context.membership.role(ofDevice: context.key.deviceID) == nil else {
      throw JoinFailure.isMember(of: notebook)
    }
    try invitation.demandOpen(in: context.membership, for: context.key.deviceID)
    let inviter = context.membership.member(ofDevice: invitation.offer.inviterID)?.name
    try decide(
      invitation, by: inviter, for: invitation.owner(in: context.membership),
      to: notebook.identity.name,
      into: JoinPlace(folder: notebook.folder, isNamed: true))
    var run = BundleRun(context: context)
    run.isInvited = true
    _ = try run.apply(path, named: file, cancellation: token)
    return (notebook, invitation, false)
  }

  private func clone(
    _ path: String, into place: JoinPlace
  ) throws -> Joined {
    if place.mergesFiles { try JoinPlace.demandOutside(path, of: place.folder) }
    try place.check(by: given)
    let data = try UserFolders().data
    let key = try DeviceKey.loadOrCreate(in: data)
    // A notebook without a request would be of no use.
    _ = try isAsked(by: key.deviceID)
    var cloning = Cloning(
      of: .bundle(path), key: key, deviceName: try DeviceName.choose(given: given.name))
    // The user has already been asked.
    cloning.options.allowsLarge = true
    cloning.mergesFiles = place.mergesFiles
    let known = KnownNotebooks(dataFolder: data)
    var opened: FileInvitation?
    var wasMember = false
    // The list has the notebook from its first version on, so that no second folder gets it if the rest fails.
    defer { opened.map { known.addIfThere($0.offer.notebookID, in: place.folder) } }
    let report = EventReport(json: given.common.json)
    defer { report.finish() }
    let notebook = try cloning.run(
      into: place.folder, cancellation: Interruption.token(),
      check: { found in
        try known.refuseSecond(found.id, beside: place.folder, by: .join("notes join FILE"))
        let open = try found.openInvitation()
        try decide(open, by: found.inviter, for: found.owner, to: found.name, into: place)
        opened = open
        wasMember = found.devices.contains(key.deviceID)
      }
    ) { event in if case .progress = event { report.write(event) } }
    guard let opened else { throw LinkError.noInvitation }
    return (notebook, opened, wasMember)
  }

  /// Writes the request beside the invitation, replacing an earlier request of this device.
  private func write(_ invitation: FileInvitation, for notebook: Notebook) throws -> String {
    let request = try invitation.request(
      for: notebook.sessionContext(), name: given.name ?? notebook.identity.device.name)
    let path = try NotebookLocator.folder(requestFile)
    if try isAsked(by: request.request.deviceID) {
      try Disk.replace(path, with: request.bytes)
    } else {
      try NewFile(named: requestFile, outside: notebook).write(request.bytes)
    }
    try invitation.recordRequest(at: path, in: notebook)
    return path
  }

  /// The name of the file for the request.
  private var requestFile: String {
    FileInvite.name(file, ending: FileInvite.ending, with: FileInvite.requestEnding)
  }

  /// Whether the request's file is an earlier request of this device. Throws if the file is something else, or cannot
  /// be written.
  private func isAsked(by device: String) throws -> Bool {
    let path = try NotebookLocator.folder(requestFile)
    let content = Disk.contentIfAny(path, limit: AdmissionFile.maximumSize)
    if let former = try content.flatMap({ try AdmissionFile(parsing: $0) }) {
      if former.request.deviceID == device { return true }
      throw Failure(
        .refusedByPeer, "link_used",
        "\(Visible.name(requestFile)) is another device's request",
        hint: "ask an admin for another file; or remove that request if it is not wanted")
    }
    _ = try NewFile(named: requestFile, outside: nil)
    return false
  }

  private func tell(
    _ notebook: Notebook, _ invitation: FileInvitation, _ request: String
  ) throws {
    let identity = notebook.identity
    let count = try notebook.history.noteCount()
    given.common.write([
      [
        "type": "asked", "notebook": identity.id, "name": identity.name, "path": notebook.folder,
        "request": request, "role": invitation.offer.role.rawValue,
        "expires": TimeText.rfc3339(invitation.offer.expires), "notes": count,
        "person": AskedAdmission(in: notebook.stateFolder)?.owner,
      ]
    ]) { terminal in
      terminal.wrapped(
        "Notebook \(terminal.paint(Visible.name(identity.name), .bold)) in "
          + "\(Visible.name(notebook.folder)): \(Phrase.count(count, "note"))\n"
          + OwnMembership(of: notebook).text
          + "The admin sees this device's ID, which begins with "
          + "\(identity.device.deviceID.prefix(8)).\n")
    }
  }
}
