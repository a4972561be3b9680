internal import ArgumentParser
internal import Channel
internal import Exchange
internal import Git
internal import Glibc
internal import History
internal import Membership
internal import Notebook

struct JoinCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "join", abstract: "Join a notebook by the code of an invitation.",
    discussion: """
      Finds the inviting device, shows what it offers, asks, and fetches everything. Without DIR \
      the notebook goes into a new folder of its name. A folder that holds notes already keeps \
      them: they are merged in.

      A list of processes may show the code to other users of this machine for a moment. \
      --code-file reads it from a file instead, or with '-' from standard input. Without a code it shows who invites \
      nearby, and asks for it.

      Examples:
        notes join
        notes join 42-X7K2-9QMDT4
        notes join 42-X7K2-9QMDT4 ~/notes --name phone
        notes join --code-file code ~/notes --yes
      """)

  @Argument(help: .named("code", "The code; left out where --code-file gives it."))
  var code: String?

  @Argument(help: .named("dir", "The folder for the notebook."), completion: .directory)
  var folder: String?

  @Option(
    help: .named("file", "Read the code from a file; '-' is standard input."), completion: .file())
  var codeFile: String?

  @Option(help: .named("device-name", "What to call this device; the host's name by default."))
  var name: String?

  @Flag(name: .shortAndLong, help: "Join without asking.") var yes = false

  @Flag(help: "Also take files of DIR that look like keys or credentials.") var include = false

  @OptionGroup var at: AtOption
  @OptionGroup var wait: WaitOption
  @OptionGroup var discovery: DiscoveryOption
  @OptionGroup var options: CommonOptions

  func validate() throws {
    if codeFile != nil, folder != nil { throw ValidationError("The code is given twice.") }
  }

  func run() throws {
    if code == nil, codeFile == nil, at.addresses.isEmpty {
      try tellWhoInvites()
      if !Console.canAsk || options.json { return }
    }
    let code = try invitationCode()
    if codeFile == nil, let given = self.code { CommandLineSecret.hide(given) }
    // Where a file gives the code, the folder is the only argument.
    let dialogue = try JoinDialogue(
      json: options.json, yes: yes, folder: codeFile == nil ? folder : self.code, include: include)
    let device = try DeviceName.choose(given: name)
    let key = try DeviceKey.loadOrCreate(in: UserFolders().data)
    var joining = PairingClient(code: code, name: device, key: key, folder: dialogue.place)
    joining.addresses = at.addresses
    // An announcement takes about a second to be seen.
    joining.window = max(wait.seconds, 5)
    if at.addresses.isEmpty { joining.discovery = discovery.discovery(for: key.deviceID) }
    try dialogue.join(by: joining).end()
  }

  /// Who invites nearby: names are not on the air, but devices of notebooks at hand are known.
  private func tellWhoInvites() throws {
    let ownID = try DeviceKey.load(in: UserFolders().data)?.deviceID ?? "NONE"
    guard let finder = discovery.discovery(for: ownID) else { return }
    let found = try NearbyInvitation.all(
      by: finder, within: wait.seconds, cancellation: Interruption.token())
    let names = try? NotebookLocator.notebook()
    let members = try names.map { try $0.membership().members() } ?? []
    for invitation in found {
      let name = members.first { $0.deviceID == invitation.deviceID }?.name
      if options.json {
        Output.standard.event([
          "type": "nearby", "locator": invitation.locator, "notebook": invitation.notebookID,
          "device": invitation.deviceID, "name": name,
          "address": invitation.addresses.first?.description,
        ])
      } else {
        Output.standard.line(
          "\(invitation.locator)-…  device \(invitation.deviceID.prefix(8))"
            + (name.map { " (\(Visible.name($0)))" } ?? "")
            + (invitation.addresses.first.map { " at \($0)" } ?? ""))
      }
    }
    if found.isEmpty {
      throw Failure(
        .noPeerReached, "nobody_invites", "nobody nearby invites",
        hint: "run 'notes invite' on the other device; --at HOST:PORT reaches one that is not found"
      )
    }
    Output.standard.flush()
  }

  private func invitationCode() throws -> InvitationCode {
    let given = try codeFile.map(SecretFile.firstLine) ?? code
    guard let text = given ?? (Console.canAsk ? Console.ask("The code of the invitation: ") : nil)
    else {
      throw Failure.usage(
        "the code of the invitation is missing", hint: "'notes invite' on the other device shows it"
      )
    }
    guard let parsed = InvitationCode(parsing: text) else {
      // The text is not repeated: it may be most of a secret.
      throw Failure.usage(
        "this is not the code of an invitation", hint: "a code looks like 42-X7K2-9QMDT4")
    }
    return parsed
  }
}

extension PairingOffer {
  fileprivate var isProvedRenewal: Bool {
    if case .proved = renewal { true } else { false }
  }
}

struct JoinDialogue {
  private let json: Bool
  private let yes: Bool
  /// Where the notebook goes: into the given folder; where the current one is in it already, under
  /// this or a former ID, into that; else into a new folder of its name, beside the notebook that the
  /// current one is in.
  let place: @Sendable (PairingOffer) -> String

  init(json: Bool, yes: Bool, folder: String?, include: Bool = false) throws {
    guard yes || Console.canAsk else {
      throw Failure.usage(
        "there is no terminal to ask whether to join", hint: "--yes joins without asking")
    }
    (self.json, self.yes) = (json, yes)
    let current = try NotebookLocator.folder(nil)
    let folder = try folder.map(NotebookLocator.folder)
    if let folder {
      let chosen = NotebookPlace(folder: folder)
      try chosen.check()
      if access(folder + "/.git/notes/notebook", F_OK) != 0 {
        try chosen.demandConsent(yes: yes, includesSecrets: include)
      }
    }
    place = { offer in
      if let folder { return folder }
      let here = try? Notebook.open(at: Notebook.find(from: current))
      let ids = [offer.notebookID] + (offer.formerly ?? [])
      if let here, ids.contains(here.identity.id) { return here.folder }
      return Self.newFolder(in: here.map { Disk.parent(of: $0.folder) } ?? current, for: offer)
    }
  }

  /// - Parameter whenAnswered: called when the user has declined, or the device is a member.
  func join(by client: PairingClient, whenAnswered: () -> Void = {}) throws -> Exit {
    let token = try Interruption.token()
    let joined: Joined
    var client = client
    client.naming = { [key = client.deviceID, asks = !yes && Console.canAsk] offer, name in
      try Self.freeName(name, among: offer.names(besides: key), asks: asks)
    }
    do {
      joined = try client.run(cancellation: token) { try decide($0, into: place($0)) }
    } catch SyncError.declined {
      whenAnswered()
      throw SyncError.declined
    }
    whenAnswered()
    return try fetch(joined, token)
  }

  /// The name, or where another device has it, one that the user chooses or that has a number behind.
  private static func freeName(
    _ name: String, among taken: [String], asks: Bool
  ) throws -> String {
    func isTaken(_ name: String) -> Bool {
      taken.contains { $0.lowercased() == name.lowercased() }
    }
    guard isTaken(name) else { return name }
    let free = DeviceName.numbered(name, isTaken)
    let fact = "Another device of the notebook is called \(Visible.name(name))"
    guard asks else {
      Output.errors.line("notes: warning: \(fact); this one is called \(Visible.name(free)) there")
      return free
    }
    while true {
      guard let given = Console.ask("\(fact).\nWhat to call this one? [\(Visible.name(free))] ")
      else { throw Failure.interrupted }
      let chosen = given.isEmpty ? free : given
      do {
        try DisplayName.check(chosen)
        if !isTaken(chosen) { return chosen }
      } catch { Output.errors.line("\(error)") }
    }
  }

  /// A folder of the notebook's name, with a number where there are files: whoever invites chooses
  /// the name, and is not to choose with it what is sent to the members.
  private static func newFolder(in parent: String, for offer: PairingOffer) -> String {
    let safe = String(offer.notebookName.map { $0 == "/" ? "-" : $0 })
    let name = parent + "/" + (safe.hasPrefix(".") || safe.hasPrefix("-") ? "notes" : safe)
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
    do {
      return try !Disk.names(in: path).isEmpty
    } catch {
      return error.errno != ENOENT
    }
  }

  private func decide(_ offer: PairingOffer, into folder: String) throws -> Bool {
    if json {
      Output.standard.event([
        "type": "offer", "notebook": offer.notebookID, "name": offer.notebookName,
        "notes": offer.notes, "attachments": offer.files, "bytes": offer.allBytes,
        "inviter": offer.inviter,
        "role": offer.role.rawValue, "expires": TimeText.rfc3339(offer.expires),
        "renewal": offer.renewal != nil, "proved": offer.isProvedRenewal,
      ])
    } else {
      let terminal = Console.output
      Output.standard.write(
        """
        \(terminal.paint(Visible.name(offer.inviter), .bold)) invites this device to the notebook \
        \(terminal.paint(Visible.name(offer.notebookName), .bold)) as \(offer.role.rawValue)
          \(Phrase.files(offer.notes, offer.files ?? 0)), \(Phrase.bytes(offer.allBytes))
          into \(Visible.name(folder))

        """)
      if offer.role == .reader {
        Output.standard.write("  a reader receives: what you write stays on this device\n")
      }
      switch offer.renewal {
      case .proved(let admin):
        Output.standard.write(
          """
          The notebook in this folder was begun anew by its admin \(Visible.name(admin)).
          Joining leaves the old membership, and with it the devices that have not
          joined the new one; the notes stay.

          """)
      case nil where Self.holdsFiles(folder):
        Output.standard.write("  what is there becomes part of it, and its members receive it\n")
      default: break
      }
    }
    if offer.renewal == .claimed { return try giveAway(folder, to: offer) }
    return yes || Console.confirm("Join?")
  }

  /// Asks whether the notebook in the folder is to become another one, which nothing proves to be the
  /// same: notes-security(7), BEGINNING ANEW.
  private func giveAway(_ folder: String, to offer: PairingOffer) throws -> Bool {
    guard Console.canAsk else {
      throw Failure(
        .failed, "renewal_unproved",
        "nothing proves that this is the notebook in \(Visible.name(folder)), begun anew",
        hint: "another folder keeps the two apart; on a terminal the command asks, --yes or not")
    }
    let notebook = try Notebook.open(at: folder)
    let versions = try notebook.repository.walk(from: notebook.state().heads).all().count
    return Console.confirm(
      """
      \(Visible.name(offer.inviter)) says that this is the notebook in that folder, begun anew.
      Nothing proves it: no admin known here has signed it.
      Joining leaves the present membership, and lets the members of the other
      notebook have all that is in the folder, with its history:
      \(Phrase.count(try notebook.history.noteCount(), "note")), \
      \(Phrase.count(versions, "version")).
      Give them all of it?
      """, byDefault: false)
  }

  private func fetch(_ joined: Joined, _ token: CancellationToken) throws -> Exit {
    var run = SyncRun(context: joined.context)
    run.addresses = [joined.address]
    // Whoever joins was shown how much there is.
    run.options.allowsLarge = true
    let notebook = try Notebook.open(at: joined.context.folder)
    let known = KnownNotebooks(dataFolder: try UserFolders().data)
    // Not before: 'notes watch --all' begins with it at once.
    defer { known.add(notebook) }
    let outcome: SyncOutcome
    do {
      outcome = try run.run(reportingTo: EventReport(json: json), token)
    } catch SyncError.stopped {
      throw Failure(
        .interrupted, "interrupted", "interrupted; this device is a member already",
        hint: "'notes -C \(Visible.word(notebook.folder)) sync' goes on")
    }
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
}

/// A secret among the arguments, which other users see in the list of processes: proc(5), cmdline.
enum CommandLineSecret {
  /// Overwrites an argument in the memory that the list is made from. Whoever looked before has seen
  /// it, so reading the secret from a file or standard input is the safer way.
  static func hide(_ secret: String) {
    for position in 0..<Int(CommandLine.argc) {
      guard let argument = CommandLine.unsafeArgv[position], strcmp(argument, secret) == 0
      else { continue }
      memset(argument, Int32(UInt8(ascii: "x")), strlen(argument))
    }
  }
}
