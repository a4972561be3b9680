internal import ArgumentParser
internal import Channel
internal import Exchange
internal import Git
internal import Glibc
internal import History
internal import Membership
internal import Notebook

struct JoinCommand: CountedCommand {
  static let configuration = CommandConfiguration(
    commandName: "join", abstract: "Join a notebook by the code, link or file of an invitation.",
    discussion: """
      Finds the inviting device, shows what it offers, asks, and fetches everything. Without DIR \
      the notebook goes into a new folder of its name. If the folder already \
      contains notes, they stay and are merged with the notebook's.

      With a link from 'notes invite --hub' it clones the notebook from the hub, and leaves a request \
      there; a device of an admin answers it at its next visit.

      With a file from 'notes invite --file' it takes the notebook from the file, and writes a request beside \
      it. Send that to the admin, and give the admin's answer to 'notes bundle apply'.

      A list of processes may show the code to other users of this machine for a moment. \
      --code-file reads it from a file instead, or with '-' from standard input. Without a code it shows who invites \
      nearby, and asks for it.

      Examples:
        notes join
        notes join 42-X7K2-9QMDT4
        notes join 42-X7K2-9QMDT4 ~/notes --device-name phone
        notes join --code-file code ~/notes --yes
        notes join notes://join/... ~/notes
        notes join home.invitation ~/notes
      """)

  @Argument(help: .named("code", "The code, link or file, unless --code-file gives it."))
  var code: String?

  @Argument(help: .named("dir", "The folder for the notebook."), completion: .directory)
  var folder: String?

  @Option(
    name: [.customLong("device-name"), .customLong("name")],
    help: .named("device-name", "A name for this device; by default the host's name."))
  var name: String?

  @Option(
    help: .named("file", "Read the code from a file; '-' is standard input."), completion: .file())
  var codeFile: String?

  @Flag(name: .shortAndLong, help: "Join without asking.") var yes = false

  @Flag(help: "Also add files of DIR that look like keys or credentials.") var include = false

  @OptionGroup var at: AtOption
  @OptionGroup var wait: WaitOption
  @OptionGroup var discovery: DiscoveryOption
  @OptionGroup var stats: StatsOption
  @OptionGroup var options: CommonOptions

  func validate() throws {
    if codeFile != nil, folder != nil { throw ValidationError("The code is given twice.") }
  }

  func run() throws {
    if code == nil, codeFile == nil, at.addresses.isEmpty {
      try tellWhoInvites()
      if !Console.canAsk || options.json { return }
    }
    if let codeFile, codeFile != "-", let folder = code {
      try JoinPlace.demandOutside(
        NotebookLocator.folder(codeFile), of: NotebookLocator.folder(folder))
    }
    let given = try givenText()
    if let given, InvitationLink.isMeant(by: given) {
      let link = try LinkJoin.parse(given)
      if codeFile == nil { CommandLineSecret.hide(given) }
      return try LinkJoin(link: link, given: joinOptions(codeFile == nil ? folder : code)).run()
    }
    if codeFile == nil, let given, FileJoin.isFile(given) {
      return try FileJoin(file: given, given: joinOptions(folder)).run()
    }
    let code = try invitationCode(given)
    if codeFile == nil, let given = self.code { CommandLineSecret.hide(given) }
    // If the code is in a file, the folder is the only argument.
    let dialogue = try JoinDialogue(
      json: options.json, yes: yes, folder: codeFile == nil ? folder : self.code, include: include)
    let device = try DeviceName.choose(given: name)
    let key = try DeviceKey.loadOrCreate(in: UserFolders().data)
    var joining = PairingClient(code: code, name: device, key: key, folder: dialogue.place)
    joining.addresses = at.addresses
    // Search for at least five seconds, because an announcement takes a while to arrive.
    joining.window = max(wait.seconds, 5)
    if at.addresses.isEmpty { joining.discovery = discovery.discovery(for: key.deviceID) }
    try dialogue.join(by: joining, isNamed: name != nil).end()
  }

  private func joinOptions(_ folder: String?) -> JoinOptions {
    JoinOptions(folder: folder, name: name, yes: yes, include: include, common: options)
  }

  /// Lists who invites nearby: announcements contain no names, but devices in this device's
  /// notebooks are known.
  private func tellWhoInvites() throws {
    let ownID = try DeviceKey.load(in: UserFolders().data)?.deviceID ?? "NONE"
    guard let finder = discovery.discovery(for: ownID) else { return }
    let token = try Interruption.token()
    let found = try WaitingLine.show("Looking for invitations nearby ...") {
      try NearbyInvitation.all(by: finder, within: wait.seconds, cancellation: token)
    }
    // The notebook is used only for names: the command may be run outside of one.
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
        hint: "run 'notes invite' on the other device; if it is not found, give its address with "
          + "--at HOST:PORT"
      )
    }
    Output.standard.flush()
  }

  /// The code or link from the command line or the file.
  private func givenText() throws -> String? { try codeFile.map(SecretFile.firstLine) ?? code }

  private func invitationCode(_ given: String?) throws -> InvitationCode {
    guard let text = given ?? (Console.canAsk ? Console.ask("The code of the invitation: ") : nil)
    else {
      throw Failure.usage(
        "the code of the invitation is missing",
        hint: "'notes invite' on the other device shows "
          + "the code"
      )
    }
    guard let parsed = InvitationCode(parsing: text) else {
      // The message does not repeat the text, which may be most of a secret.
      throw Failure.usage(
        "this is not the code of an invitation", hint: "a code looks like 42-X7K2-9QMDT4")
    }
    return parsed
  }
}

/// A secret among the arguments, which other users can see in the list of processes: proc(5),
/// cmdline.
enum CommandLineSecret {
  /// Overwrites an argument in the memory from which the list is read. A program may have read it
  /// before, so it is safer to pass the secret in a file or on standard input.
  static func hide(_ secret: String) {
    for position in 0..<Int(CommandLine.argc) {
      guard let argument = CommandLine.unsafeArgv[position], strcmp(argument, secret) == 0
      else { continue }
      memset(argument, Int32(UInt8(ascii: "x")), strlen(argument))
    }
  }
}
