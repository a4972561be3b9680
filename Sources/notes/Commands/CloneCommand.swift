internal import ArgumentParser
internal import Exchange
internal import Git
internal import Glibc
internal import History
internal import Membership
internal import Notebook
internal import System

struct CloneCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "clone", abstract: "Copy a notebook from a hub or bundle, or fetch one again.",
    discussion: """
      Fetches the notes with their history into a new folder, and makes the repository a hub there. \
      This does not make the device a member: it can read, but your changes stay on it until you run \
      'notes join CODE' in the folder.

      With --from-member it fetches SOURCE, a notebook that this device is a member of but does not have, or \
      all of these. Use it after a folder was lost, or after 'notes device import'; it needs no code.

      Examples:
        notes clone git@git.example.org:ada/notes.git
        notes clone /media/stick/notes.bundle ~/notes --device-name desk
        notes clone --from-member
        notes clone --from-member Home ~/notes
      """)

  @Argument(
    help: .named(
      "source", "A hub's address, or the file of a bundle; with --from-member a notebook's name."),
    completion: .file())
  var source: String?

  @Argument(
    help: .named("dir", "The folder for the notebook; by default named after the source."),
    completion: .directory)
  var folder: String?

  @Option(help: .named("name", "A name for this device; by default the host's name."))
  var deviceName: String?

  @Flag(help: "Fetch notebooks that this device is a member of.") var fromMember = false

  @OptionGroup var at: AtOption

  @OptionGroup var wait: WaitOption

  @OptionGroup var discovery: DiscoveryOption

  @OptionGroup var accepted: AcceptanceOptions

  @OptionGroup var options: CommonOptions

  private static let hubName = "origin"

  func validate() throws {
    if fromMember {
      if deviceName != nil {
        throw ValidationError("With --from-member the device keeps its name.")
      }
    } else if source == nil {
      throw ValidationError("Missing expected argument '<source>'")
    } else if !at.addresses.isEmpty || discovery.isOff {
      throw ValidationError("--at and --no-discovery go with --from-member.")
    }
  }

  func run() throws {
    guard let source, !fromMember else {
      return try CloneFromMember(
        name: source, folder: folder, addresses: at.addresses, wait: wait.seconds,
        discovery: discovery, options: options
      ).run()
    }
    try clone(source)
  }

  private func clone(_ source: String) throws {
    let here = try NotebookLocator.folder(nil)
    var status = stat()
    let isFile =
      Counted.stat(source, &status) == 0
      ? status.st_mode & S_IFMT == S_IFREG : source.hasSuffix(".bundle")
    let address = isFile ? try NotebookLocator.folder(source) : try Hub.address(source, from: here)
    let folder = try NotebookLocator.folder(self.folder ?? Self.name(for: source))
    try NotebookPlace(folder: folder).check()
    guard Cloning.isFree(folder) else { throw Self.isTaken(folder) }
    let data = try UserFolders().data
    let known = KnownNotebooks(dataFolder: data)
    var cloning = Cloning(
      of: isFile ? .bundle(address) : .hub(Hub(name: Self.hubName, url: address)),
      key: try DeviceKey.loadOrCreate(in: data),
      deviceName: try DeviceName.choose(given: deviceName))
    cloning.program.mayAsk = Console.canAsk
    cloning.options.allowsLarge = accepted.allowLarge
    cloning.options.allowsUnsigned = accepted.allowUnsigned
    let report = EventReport(json: options.json)
    defer { report.finish() }
    let notebook = try cloning.run(
      into: folder, cancellation: Interruption.token(),
      check: { found in
        let id = found.id
        // A folder that cannot be opened is not a notebook whose clone was interrupted.
        if let begun = try? Notebook.open(at: folder), begun.identity.id != id {
          throw Self.isTaken(folder)
        }
        try known.refuseSecond(id, beside: folder, by: isFile ? .cloneOfBundle : .cloneOfHub)
      }
    ) { event in if case .progress = event { report.write(event) } }
    report.finish()
    known.add(notebook)
    try notebook.keepMembership()
    try Self.tell(notebook, options)
    try (notebook.history.conflicts().isEmpty ? Exit.done : .conflictsToResolve).end()
  }

  static func isTaken(_ folder: String) -> Failure {
    Failure(
      .failed, "target_exists", "\(Visible.name(folder)) already exists and is not empty",
      hint: "give another folder as the last argument")
  }

  /// The last part of an address or path, without the usual suffixes.
  static func name(for source: String) -> String {
    let last = source.split { $0 == "/" || $0 == ":" }.last.map(String.init) ?? ""
    let end = [".git", ".bundle", FileInvite.ending].first { last.hasSuffix($0) } ?? ""
    let name = String(last.dropLast(end.count))
    return name.isEmpty || name.hasPrefix(".") ? "notes" : name
  }

  /// Reports the cloned notebook.
  static func tell(_ notebook: Notebook, _ options: CommonOptions) throws {
    let (identity, tip) = (notebook.identity, try notebook.state().tip)
    let count = try notebook.history.noteCount()
    options.write([
      [
        "type": "cloned", "notebook": identity.id, "name": identity.name, "path": notebook.folder,
        "device": identity.device.deviceID, "device_name": identity.device.name, "notes": count,
        "tip": tip,
      ]
    ]) { terminal in
      terminal.wrapped(
        "Notebook \(terminal.paint(Visible.name(identity.name), .bold)) in "
          + "\(Visible.name(notebook.folder)): \(Phrase.count(count, "note"))\n"
          + OwnMembership(of: notebook).text)
    }
  }
}
