internal import Channel
internal import Membership
internal import Notebook
internal import Sync

/// What joining says and asks: the offer, and what came of it.
struct JoinDialogue {
  let json: Bool
  /// Whether the answer is yes without a question.
  let yes: Bool

  /// Where the notebook goes: into the given folder, or a new one of its name in the current one.
  static func place(given: String?) throws -> @Sendable (PairingOffer) -> String {
    let current = try Place.folder(nil)
    let folder = try given.map { try Place.folder($0) }
    return { offer in folder ?? current + "/" + folderName(offer.notebookName) }
  }

  /// Shows the offer and asks.
  func decide(_ offer: PairingOffer, into folder: String) -> Bool {
    if json {
      Output.standard.event([
        "type": .string("offer"), "notebook": .string(offer.notebookID),
        "name": .string(offer.notebookName), "notes": .int(offer.notes),
        "bytes": .int(offer.bytes), "inviter": .string(offer.inviter),
        "role": .string(offer.role.rawValue),
        "expires": .string(TimeText.rfc3339(offer.expires)),
        "renewal": .bool(offer.isRenewal),
      ])
    } else {
      let terminal = Console.output
      Output.standard.write(
        """
        \(terminal.paint(Visible.name(offer.inviter), .bold)) invites this device to the notebook \
        \(terminal.paint(Visible.name(offer.notebookName), .bold)) as \(offer.role.rawValue)
          \(Counted.things(offer.notes, "note")), \(Counted.bytes(offer.bytes))
          into \(Visible.name(folder))

        """)
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
    let report = SyncReport(json: json)
    let notebook = try Notebook.open(at: joined.context.folder)
    KnownNotebooks(dataFolder: try UserFolders().data).add(notebook)
    let outcome: SyncOutcome
    do {
      defer { report.finish() }
      outcome = try run.run(cancellation: token) { report.tell($0) }
    }
    if let failure = outcome.failures.first, outcome.sessions.isEmpty {
      let cause = Failure(describing: failure.error)
      throw Failure(
        cause.exit, "first_sync_failed",
        "this device is a member now, but the first sync failed: \(cause.message)",
        hint: "run 'notes sync' in \(Visible.name(notebook.folder))")
    }
    let conflicts = try notebook.conflicts()
    if json {
      Output.standard.event([
        "type": .string("joined"), "notebook": .string(notebook.identity.id),
        "path": .string(notebook.folder), "role": .string(joined.offer.role.rawValue),
        "tip": outcome.tip.map(JSON.id) ?? .null,
      ])
    } else {
      Output.standard.line(
        "Joined \(Visible.name(notebook.identity.name)) in \(Visible.name(notebook.folder)): "
          + Counted.things(try notebook.noteCount(), "note"))
    }
    return conflicts.isEmpty ? .done : .conflictsToResolve
  }

  /// A folder's name that a notebook's name makes.
  private static func folderName(_ name: String) -> String {
    let safe = String(name.map { $0 == "/" ? "-" : $0 })
    return safe.hasPrefix(".") || safe.hasPrefix("-") ? "notes" : safe
  }
}
