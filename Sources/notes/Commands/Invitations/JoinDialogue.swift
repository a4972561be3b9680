internal import Channel
internal import Glibc
internal import History
internal import Membership
internal import Notebook
internal import Sync

/// What joining says and asks: the offer, and what came of it.
struct JoinDialogue {
  let json: Bool
  let yes: Bool

  /// Where the notebook goes: into the given folder; where the current one is in it already, under
  /// this or a former ID, into that; else into a new folder of its name.
  static func place(given: String?) throws -> @Sendable (PairingOffer) -> String {
    let current = try NotebookLocator.folder(nil)
    let folder = try given.map { try NotebookLocator.folder($0) }
    return { offer in
      if let folder { return folder }
      let ids = [offer.notebookID] + offer.formerly
      if let here = try? Notebook.open(at: Notebook.find(from: current)),
        ids.contains(here.identity.id)
      {
        return here.folder
      }
      return newFolder(in: current, for: offer)
    }
  }

  /// A folder of the notebook's name, with a number where files stand there: whoever invites chooses
  /// the name, and is not to choose with it what is sent to the members.
  private static func newFolder(in parent: String, for offer: PairingOffer) -> String {
    let name = parent + "/" + folderName(offer.notebookName)
    let names = [name] + (2...99).map { "\(name) \($0)" }
    return names.first { path in
      if let notebook = try? Notebook.open(at: path) {
        return notebook.identity.id == offer.notebookID
      }
      return !holdsFiles(path)
    } ?? name
  }

  /// Whether anything is in a folder, or there is something of its name that is none.
  private static func holdsFiles(_ path: String) -> Bool {
    guard let stream = opendir(path) else { return errno != ENOENT }
    defer { closedir(stream) }
    var count = 0
    // The folder itself and the one above it are always there.
    while count < 3, readdir(stream) != nil { count += 1 }
    return count > 2
  }

  func decide(_ offer: PairingOffer, into folder: String) -> Bool {
    if json {
      Output.standard.event([
        "type": "offer", "notebook": offer.notebookID, "name": offer.notebookName,
        "notes": offer.notes, "bytes": offer.bytes, "inviter": offer.inviter,
        "role": offer.role.rawValue, "expires": TimeText.rfc3339(offer.expires),
        "renewal": offer.isRenewal,
      ])
    } else {
      let terminal = Console.output
      Output.standard.write(
        """
        \(terminal.paint(Visible.name(offer.inviter), .bold)) invites this device to the notebook \
        \(terminal.paint(Visible.name(offer.notebookName), .bold)) as \(offer.role.rawValue)
          \(Phrase.count(offer.notes, "note")), \(Phrase.bytes(offer.bytes))
          into \(Visible.name(folder))

        """)
      if !offer.isRenewal, Self.holdsFiles(folder) {
        Output.standard.write("  what is there becomes part of it, and its members receive it\n")
      }
      if offer.isRenewal {
        Output.standard.write(
          """
          The notebook in this folder was begun anew there. Joining leaves the old membership, and
          with it the devices that have not joined the new one; the notes stay.

          """)
      }
    }
    return yes || Console.confirm("Join?")
  }

  /// The first session, with the device that was joined.
  func fetch(_ joined: Joined, _ token: CancellationToken) throws -> Exit {
    var run = SyncRun(context: joined.context)
    run.addresses = [joined.address]
    let notebook = try Notebook.open(at: joined.context.folder)
    let known = KnownNotebooks(dataFolder: try UserFolders().data)
    // Not before: 'notes watch --all' begins with it at once.
    defer { known.add(notebook) }
    let outcome = try run.run(reportingTo: EventReport(json: json), token)
    if let failure = outcome.failures.first, outcome.sessions.isEmpty {
      throw Failure.firstSync(failed: Failure(describing: failure.error), in: notebook.folder)
    }
    let conflicts = try notebook.history.conflicts()
    if json {
      Output.standard.event([
        "type": "joined", "notebook": notebook.identity.id, "path": notebook.folder,
        "role": joined.offer.role.rawValue, "tip": outcome.tip,
      ])
    } else {
      Output.standard.line(
        "Joined \(Visible.name(notebook.identity.name)) in \(Visible.name(notebook.folder)): "
          + Phrase.count(try notebook.history.noteCount(), "note"))
    }
    return conflicts.isEmpty ? .done : .conflictsToResolve
  }

  private static func folderName(_ name: String) -> String {
    let safe = String(name.map { $0 == "/" ? "-" : $0 })
    return safe.hasPrefix(".") || safe.hasPrefix("-") ? "notes" : safe
  }
}
