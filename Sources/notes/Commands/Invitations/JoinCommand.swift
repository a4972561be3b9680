internal import ArgumentParser
internal import Channel
internal import Membership
internal import Sync

struct JoinCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "join",
    abstract: "Join a notebook by the code of an invitation.",
    discussion: """
      Finds the inviting device, shows what it offers, asks, and fetches everything. Without DIR \
      the notebook goes into a new folder of its name. A folder that holds notes already keeps \
      them: they are merged in.

      A list of processes may show the code to other users of this machine for a moment. \
      --code-file reads it from a file instead, or with '-' from standard input. Without a code it shows who invites \
      nearby, and asks for it.

      Examples:
        notes join
        notes join 42-X7K2-9QMD
        notes join 42-X7K2-9QMD ~/notes --name phone
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

  @Flag(name: .shortAndLong, help: "Join without asking.")
  var yes = false

  @OptionGroup var at: AtOption
  @OptionGroup var wait: WaitOption
  @OptionGroup var discovery: DiscoveryOption
  @OptionGroup var options: CommonOptions

  func validate() throws {
    if codeFile != nil, folder != nil { throw ValidationError("The code is given twice.") }
  }

  /// The folder as given: where a file gives the code it is the only argument.
  private var givenFolder: String? { codeFile == nil ? folder : code }

  func run() throws {
    if code == nil, codeFile == nil, at.addresses.isEmpty {
      try tellWhoInvites()
      if !Console.canAsk || options.json { return }
    }
    let code = try invitationCode()
    if codeFile == nil, let given = self.code { CommandLineSecret.hide(given) }
    guard yes || Console.canAsk else {
      throw Failure.usage(
        "there is no terminal to ask whether to join", hint: "--yes joins without asking")
    }
    let users = UserFolders()
    let device = try DeviceName.choose(given: name, folders: users)
    let key = try DeviceKey.loadOrCreate(in: users.data)
    let dialogue = JoinDialogue(json: options.json, yes: yes)
    let place = try JoinDialogue.place(given: givenFolder)
    let token = try Interruption.token()
    var joining = PairingClient(code: code, name: device, key: key, folder: place)
    joining.addresses = at.addresses
    joining.window = max(wait.seconds, Self.shortestSearch)
    if at.addresses.isEmpty { joining.discovery = discovery.discovery(for: key.deviceID) }
    let joined = try joining.run(cancellation: token) { dialogue.decide($0, into: place($0)) }
    try dialogue.fetch(joined, token).end()
  }

  /// An announcement takes about a second to be seen.
  private static let shortestSearch = 5.0

  /// Who invites nearby: names are not on the air, but devices of notebooks at hand are known.
  private func tellWhoInvites() throws {
    guard let finder = discovery.discovery(for: try ownID()) else { return }
    let found = try NearbyInvitation.all(
      by: finder, within: wait.seconds, cancellation: Interruption.token())
    let names = try? NotebookLocator.notebook()
    let members = try names.map { try $0.membership().members() } ?? []
    for invitation in found {
      let name = members.first { $0.deviceID == invitation.deviceID }?.name
      if options.json {
        Output.standard.event(
          [
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

  private func ownID() throws -> String {
    try DeviceKey.load(in: UserFolders().data)?.deviceID ?? "NONE"
  }

  private func invitationCode() throws -> InvitationCode {
    var text: String?
    if let codeFile {
      text = try SecretFile.firstLine(of: codeFile)
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
}
