internal import Exchange
internal import Git
internal import Glibc
internal import History
internal import Membership
internal import Notebook
internal import State
internal import System

extension PairingOffer {
  fileprivate var isProvedRenewal: Bool {
    if case .proved = renewal { true } else { false }
  }
}

/// The questions to a person who joins, and the first session: notes-join(1).
struct JoinDialogue {
  private let json: Bool
  private let yes: Bool
  /// The command that joins, without a folder, for a hint.
  private let command: String
  /// The folder for the notebook: the given one; the current one, if it already is the notebook, under
  /// its present or a former ID; otherwise a new one with the notebook's name, beside the notebook around
  /// the current folder.
  let place: @Sendable (PairingOffer) -> String
  /// Asks about the files of a given folder that become notes.
  private let demandConsent: () throws -> Void

  init(
    json: Bool, yes: Bool, folder: String?, include: Bool = false,
    command: String = "notes join CODE"
  ) throws {
    guard yes || Console.canAsk else {
      throw Failure.usage(
        "there is no terminal to ask whether to join", hint: "--yes joins without asking")
    }
    (self.json, self.yes, self.command) = (json, yes, command)
    let current = try NotebookLocator.folder(nil)
    let folder = try folder.map(NotebookLocator.folder)
    if let folder {
      let chosen = NotebookPlace(folder: folder)
      try chosen.check()
      demandConsent = {
        if Counted.access(StateFolder(ofNotebookIn: folder)[.notebook], F_OK) != 0 {
          try chosen.demandConsent(yes: yes, includesSecrets: include)
        }
      }
      if !Console.canAsk { try demandConsent() }
    } else {
      demandConsent = {}
    }
    place = { offer in
      if let folder { return folder }
      // If this fails, the current folder is in no notebook.
      let here = try? Notebook.open(at: Notebook.find(from: current))
      let ids = [offer.notebookID] + (offer.formerly ?? [])
      if let here, ids.contains(here.identity.id) { return here.folder }
      return Self.newFolder(in: here.map { Disk.parent(of: $0.folder) } ?? current, for: offer)
    }
  }

  /// - Parameters:
  ///   - isNamed: whether the user gave the client's device name; if false, this device keeps its name
  ///     from a clone.
  ///   - whenAnswered: called when the user has declined, or when the device is a member.
  func join(
    by client: PairingClient, isNamed: Bool = true, whenAnswered: () -> Void = {}
  ) throws -> Exit {
    let token = try Interruption.token()
    let joined: Joined
    var client = client
    client.naming = { [place, key = client.deviceID, asks = !yes && Console.canAsk] offer, name in
      // The notebook there may have had another ID when this device joined it: 'notes members
      // reset'.
      let present = isNamed ? nil : try? Notebook.open(at: place(offer)).identity
      return try Self.freeName(
        present?.device.name ?? name, among: offer.names(besides: key), asks: asks)
    }
    let waiting = WaitingLine("Looking for the device that invites ...")
    defer { waiting.end() }
    do {
      joined = try client.run(cancellation: token) { offer in
        waiting.end()
        return try decide(
          offer, into: place(offer), wasMember: offer.names(device: client.deviceID))
      }
    } catch SyncError.declined {
      whenAnswered()
      throw SyncError.declined
    } catch SyncError.interrupted(let what) {
      var failure = Failure(describing: SyncError.interrupted(what))
      failure.hint =
        "run the command again; if 'notes invite' has ended there, its code was used or cancelled: ask for a new one"
      throw failure
    }
    whenAnswered()
    return try fetch(joined, token)
  }

  /// The name; if another device has it, a name that the user chooses, or the name with a number.
  private static func freeName(
    _ name: String, among taken: [String], asks: Bool
  ) throws -> String {
    func isTaken(_ name: String) -> Bool {
      taken.contains { $0.lowercased() == name.lowercased() }
    }
    guard isTaken(name) else { return name }
    let free = DisplayName.numbered(name, isTaken)
    let fact = "Another device of the notebook is called \(Visible.name(name))"
    guard asks else {
      Output.errors.line("notes: warning: \(fact); this one is called \(Visible.name(free)) there")
      return free
    }
    while true {
      guard let given = Console.ask("\(fact).\nWhat to call this one? [\(Visible.name(free))] ")
      else { throw Failure.interrupted }
      let chosen = given.isEmpty ? free : given
      if ["y", "yes", "n", "no"].contains(chosen.lowercased()) {
        Output.errors.line("this is the device's name, which all members see")
        continue
      }
      do {
        try DisplayName.check(chosen)
        if !isTaken(chosen) { return chosen }
      } catch { Output.errors.line("\(error)") }
    }
  }

  /// A folder with the notebook's name, and with a number if the folder has files: the inviter
  /// chooses the name, and must not be able to choose by it which files are sent to the members.
  private static func newFolder(in parent: String, for offer: PairingOffer) -> String {
    let safe = String(offer.notebookName.map { $0 == "/" ? "-" : $0 })
    let name = parent + "/" + (safe.hasPrefix(".") || safe.hasPrefix("-") ? "notes" : safe)
    let names = [name] + (2...99).map { "\(name) \($0)" }
    return names.first { path in
      // A folder that cannot be opened is not a notebook: the name is free only if nothing is
      // there.
      if let notebook = try? Notebook.open(at: path) {
        return notebook.identity.id == offer.notebookID
      }
      return !holdsFiles(path)
    } ?? name
  }

  /// Whether a folder is not empty, or something else has its name.
  private static func holdsFiles(_ path: String) -> Bool {
    do {
      return try !Disk.names(in: path).isEmpty
    } catch {
      return error.errno != ENOENT
    }
  }

  /// Throws if this device already has what the invitation gives, so that the invitation stays open for another one.
  /// An interrupted join is continued. A device may join again for a greater role, or to follow another founder.
  private func refuseMember(
    _ offer: PairingOffer, in folder: String, _ known: KnownNotebooks
  ) throws {
    // A folder that cannot be opened is not a notebook.
    guard let notebook = try? Notebook.open(at: folder), notebook.identity.id == offer.notebookID,
      known.folders().contains(notebook.folder), try notebook.state().tip != nil
    else { return }
    let (device, membership) = (notebook.identity.device.deviceID, try notebook.membership())
    guard let role = membership.role(ofDevice: device), role >= offer.role,
      offer.names(device: device), try membership.claims().isEmpty
    else { return }
    throw JoinFailure.isMember(of: notebook)
  }

  private func decide(
    _ offer: PairingOffer, into folder: String, wasMember: Bool
  ) throws -> Bool {
    let known = KnownNotebooks(dataFolder: try UserFolders().data)
    try known.refuseSecond(offer.notebookID, beside: folder, by: .join(command))
    try refuseMember(offer, in: folder, known)
    if json {
      Output.standard.event([
        "type": "offer", "notebook": offer.notebookID, "name": offer.notebookName,
        "notes": offer.notes, "attachments": offer.files, "bytes": offer.allBytes,
        "inviter": offer.inviter, "person": offer.person, "called": offer.called,
        "role": offer.role.rawValue, "expires": TimeText.rfc3339(offer.expires),
        "renewal": offer.renewal != nil, "proved": offer.isProvedRenewal,
      ])
    } else {
      let terminal = Console.output
      Output.standard.tell(
        """
        \(terminal.paint(Visible.name(offer.inviter), .bold)) invites this device to the notebook \
        \(terminal.paint(Visible.name(offer.notebookName), .bold)) as \(offer.role.rawValue)
          \(Phrase.files(offer.notes, offer.files ?? 0)), \(Phrase.bytes(offer.allBytes))
          into \(Visible.name(folder))

        """)
      if let person = offer.person {
        Output.standard.tell("  another device of \(Visible.name(person))\n")
      }
      if let name = offer.called { Output.standard.tell("  for \(Visible.name(name))\n") }
      if wasMember {
        Output.standard.tell(
          "  this device is already a member: it keeps its name, and its role if that is greater\n")
      } else if offer.role == .reader {
        Output.standard.tell("  a reader only receives: your changes stay on this device\n")
      }
      switch offer.renewal {
      case .proved(let admin):
        Output.standard.tell(
          """
          The notebook in this folder was started over by its admin \(Visible.name(admin)).
          Joining leaves the old membership, and with it the devices that have not
          joined the new one; the notes stay.

          """)
      case nil where offer.role != .reader && Self.holdsFiles(folder):
        Output.standard.tell(JoinPlace.filesBecomeNotes)
      default: break
      }
    }
    if offer.renewal == .claimed { return try giveAway(folder, to: offer) }
    // Only now does the person know to what the files would be added.
    if Console.canAsk { try demandConsent() }
    return try yes || Console.confirm("Join?")
  }

  /// Asks whether the notebook in the folder may become another one, when nothing proves that they
  /// are the same: notes-security(7), STARTING OVER.
  private func giveAway(_ folder: String, to offer: PairingOffer) throws -> Bool {
    guard Console.canAsk else {
      throw Failure(
        .failed, "renewal_unproved",
        "the inviting device says that its notebook is the one in \(Visible.name(folder)), started over; "
          + "nothing proves it",
        hint:
          "choose another folder to keep the two apart, or confirm on a terminal (--yes is not enough)"
      )
    }
    let notebook = try Notebook.open(at: folder)
    let versions = try notebook.versionCount(from: notebook.state().heads)
    return try Console.confirm(
      """
      \(Visible.name(offer.inviter)) says that this is the notebook in that folder, started over.
      Nothing proves it: no admin known here has signed it.
      Joining leaves the present membership, and gives the members of the other
      notebook everything in the folder, with its history:
      \(Phrase.count(try notebook.history.noteCount(), "note")), \
      \(Phrase.count(versions, "version")).
      Give them all of it?
      """, byDefault: false)
  }

  private func fetch(_ joined: Joined, _ token: CancellationToken) throws -> Exit {
    var run = SyncRun(context: joined.context)
    run.addresses = [joined.address]
    // The joining user was shown how large the notebook is.
    run.options.allowsLarge = true
    let notebook = try Notebook.open(at: joined.context.folder)
    let known = KnownNotebooks(dataFolder: try UserFolders().data)
    // The notebook is listed at the end: 'notes watch --all' starts at once with a listed notebook.
    defer { known.add(notebook) }
    let outcome: SyncOutcome
    do {
      outcome = try run.run(reportingTo: EventReport(json: json), token)
    } catch SyncError.stopped {
      throw Failure.firstSyncInterrupted(in: notebook.folder)
    }
    if let failure = outcome.failures.first, outcome.sessions.isEmpty {
      throw Failure.firstSync(failed: Failure(describing: failure.error), in: notebook.folder)
    }
    try notebook.keepMembership()
    let conflicts = try notebook.history.conflicts()
    let device = notebook.identity.device.deviceID
    let role = try notebook.membership().role(ofDevice: device) ?? joined.offer.role
    if json {
      Output.standard.event([
        "type": "joined", "notebook": notebook.identity.id, "path": notebook.folder,
        "role": role.rawValue, "tip": outcome.tip,
      ])
    } else {
      Output.standard.line(
        "Joined \(Visible.name(notebook.identity.name)) in \(Visible.name(notebook.folder)): "
          + Phrase.count(try notebook.history.noteCount(), "note"))
      if joined.offer.names(device: device) {
        Output.standard.line("This device was already a member: its role is \(role.rawValue).")
      }
    }
    return conflicts.isEmpty ? .done : .conflictsToResolve
  }
}
