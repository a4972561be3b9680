internal import ArgumentParser
internal import Channel
internal import Discovery
internal import Glibc
internal import Logging
internal import Membership
internal import Notebook
internal import Sync
internal import Watch

struct WatchCommand: Verb {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Version what you write at once, and keep all devices up to date.",
    discussion: """
      Runs in the foreground until it is stopped. What is written in the folder becomes a version \
      within milliseconds and is on every device that runs 'notes watch', too, before you look up. \
      Several folders are served by one process at one port. What happens is logged on standard \
      error, a line an event, without the text of a note.

      Examples:
        notes watch
        notes watch ~/notes ~/work --listen 0.0.0.0:4711
        notes watch --pause
      """)

  @Argument(
    help: ArgumentHelp("The notebooks' folders; the current one by default.", valueName: "dir"))
  var directories: [String] = []
  @OptionGroup var listen: ListenOption
  @OptionGroup var discovery: DiscoveryOption
  @Flag(help: "Let a running watcher close its connections; it goes on making versions.")
  var pause = false
  @Flag(help: "Let a paused watcher connect again.")
  var resume = false
  @Flag(help: "Have systemd run it for you, now and whenever you log in.")
  var install = false
  @Flag(help: "Log also what is usually not worth a line.")
  var verbose = false
  @OptionGroup var format: JSONOption
  @OptionGroup var place: PlaceOption

  var writesJSON: Bool { format.json }

  func validate() throws {
    if [pause, resume, install].count(where: { $0 }) > 1 {
      throw ValidationError("--pause, --resume and --install exclude each other.")
    }
  }

  func perform() throws -> Exit {
    let folders = directories.isEmpty ? ["."] : directories
    let notebooks = try folders.map { try Notebook.open(at: Notebook.find(from: $0)) }
    if pause || resume { return try order(pause ? .pause : .resume, notebooks) }
    if install {
      let program = realpath("/proc/self/exe", nil)
      defer { free(program) }
      try WatchInstallation(
        program: program.map { String(cString: $0) } ?? "notes", folders: notebooks.map(\.folder)
      ).install(in: UserFolders().units)
      return .done
    }
    let locks = try notebooks.map {
      try WatchLock(stateFolder: $0.stateFolder, folder: $0.folder)
    }
    defer { withExtendedLifetime(locks) {} }
    let contexts = try notebooks.map { try OwnDevice.context(in: $0) }
    let finder = contexts.first.flatMap { discovery.discovery(for: $0.key.deviceID) }
    defer { finder?.stop() }
    let service = try Service(
      contexts: contexts, discovery: finder,
      listen: listen.address ?? Address(host: Address.anyHost, port: 0),
      logger: ServiceLogging.logger(verbose: verbose), isWatching: true,
      control: UserFolders().runtime)
    let report = ServiceReport(json: format.json, tellsPeople: false)
    let hooks = try WatchHooks(notebooks: notebooks)
    try service.run(cancellation: Interruption.token()) { event in
      report.tell(event)
      guard case .watch(let event) = event else { return }
      if case .housekeepingDue(_, let folder) = event { BackgroundTidying.start(inFolder: folder) }
      hooks.tell(event)
    }
    return Interruption.exit
  }

  /// Tells the watcher of each notebook what to do.
  private func order(_ verb: ControlRequest.Verb, _ notebooks: [Notebook]) throws -> Exit {
    for notebook in notebooks {
      guard let watcher = RunningWatcher.of(notebook),
        watcher.all(ControlRequest(verb)).last?.type == "done"
      else { throw RunningWatcher.missing(notebook) }
    }
    return .done
  }
}
