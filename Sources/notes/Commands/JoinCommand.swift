internal import ArgumentParser
internal import Channel
internal import Glibc
internal import Membership
internal import Notebook
internal import Sync

struct JoinCommand: Verb {
  static let configuration = CommandConfiguration(
    commandName: "join",
    abstract: "Join a notebook by the code of an invitation.",
    discussion: """
      Finds the inviting device, shows what it offers, asks, and fetches everything. Without DIR \
      the notebook goes into a new folder of its name. A folder that holds notes already keeps \
      them: they are merged in.

      A list of processes shows the code to other users of this machine. --code-file reads it \
      from a file instead, or with '-' from standard input; without a code it is asked for.

      Examples:
        notes join 42-X7K2-9QMD
        notes join 42-X7K2-9QMD ~/notes --name phone
        notes join --code-file code ~/notes --yes
      """)

  @Argument(
    help: ArgumentHelp("The code; left out where --code-file gives it.", valueName: "code"))
  var code: String?

  @Argument(help: ArgumentHelp("The folder for the notebook.", valueName: "dir"))
  var folder: String?

  @Option(
    help: ArgumentHelp("Read the code from a file; '-' is standard input.", valueName: "file"))
  var codeFile: String?

  @Option(
    help: ArgumentHelp(
      "What to call this device; the host's name by default.", valueName: "device-name"))
  var name: String?

  @Flag(name: .shortAndLong, help: "Join without asking.")
  var yes = false

  @OptionGroup var at: AtOption
  @OptionGroup var wait: WaitOption
  @OptionGroup var discovery: DiscoveryOption
  @OptionGroup var format: JSONOption
  @OptionGroup var place: PlaceOption

  var writesJSON: Bool { format.json }

  func validate() throws {
    if codeFile != nil, folder != nil { throw ValidationError("The code is given twice.") }
  }

  /// The folder as given: where a file gives the code it is the only argument.
  private var givenFolder: String? { codeFile == nil ? folder : code }

  func perform() throws -> Exit {
    let code = try invitationCode()
    guard yes || Console.canAsk else {
      throw Failure.usage(
        "there is no terminal to ask whether to join", hint: "--yes joins without asking")
    }
    let users = UserFolders()
    let device = try DeviceName.choose(given: name, folders: users)
    let key = try DeviceKey.loadOrCreate(in: users.data)
    let current = try Place.folder(nil)
    let given = try givenFolder.map { try Place.folder($0) }
    let place: @Sendable (PairingOffer) -> String = { offer in
      given ?? current + "/" + Self.folderName(offer.notebookName)
    }
    let token = try Interruption.token()
    var joining = Joining(code: code, name: device, key: key, folder: place)
    joining.addresses = at.addresses
    joining.window = max(wait.seconds, Self.shortestSearch)
    if at.addresses.isEmpty { joining.discovery = discovery.discovery(for: key.deviceID) }
    let joined = try joining.run(cancellation: token) { try decide($0, into: place($0)) }
    return try fetch(joined, token)
  }

  /// An announcement takes about a second to be seen.
  private static let shortestSearch = 5.0

  private func invitationCode() throws -> InvitationCode {
    var text: String?
    if let codeFile {
      text = try Self.firstLine(of: codeFile)
    } else if let code {
      text = code
    } else if Console.canAsk {
      text = Console.ask("The code of the invitation: ")
    }
    guard let text else {
      throw Failure.usage(
        "the code of the invitation is missing", hint: "'notes invite' on the other device shows it"
      )
    }
    guard let parsed = InvitationCode(parsing: text) else {
      // The text is not repeated: it may be most of a secret.
      throw Failure.usage(
        "this is not the code of an invitation", hint: "a code looks like 42-X7K2-9QMD")
    }
    return parsed
  }

  private static func firstLine(of file: String) throws -> String {
    if file == "-" { return readLine(strippingNewline: true) ?? "" }
    guard let stream = fopen(file, "re") else {
      throw Failure(
        .failed, "code_unreadable",
        "\(Visible.name(file)) cannot be read: \(Failure.reason(errno))")
    }
    defer { fclose(stream) }
    // A code is short; whatever else the file holds is none.
    var buffer = [UInt8](repeating: 0, count: 256)
    let count = fread(&buffer, 1, buffer.count, stream)
    return String(decoding: buffer[..<count].prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
  }

  private func decide(_ offer: PairingOffer, into folder: String) throws -> Bool {
    if format.json {
      Output.standard.event([
        "type": .string("offer"), "notebook": .string(offer.notebookID),
        "name": .string(offer.notebookName), "notes": .int(offer.notes),
        "bytes": .int(offer.bytes), "inviter": .string(offer.inviter),
        "role": .string(offer.role.rawValue),
        "expires": .string(TimeText.rfc3339(offer.expires)),
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
    }
    return yes || Console.confirm("Join?")
  }

  /// The first session, with the device that was joined.
  private func fetch(_ joined: Joined, _ token: CancellationToken) throws -> Exit {
    var run = SyncRun(context: joined.context)
    run.addresses = [joined.address]
    let report = SyncReport(json: format.json)
    let notebook = try Notebook.open(at: joined.context.folder)
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
    if format.json {
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
