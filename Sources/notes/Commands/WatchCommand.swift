internal import ArgumentParser
internal import Discovery
internal import Exchange
internal import Glibc
internal import History
internal import Logging
internal import Membership
internal import Notebook
internal import System
internal import Watch

struct WatchCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Save every change at once and keep all devices in sync.",
    discussion: """
      Runs in the foreground until you stop it. Each change in the folder becomes a version within \
      milliseconds, and reaches every connected device that runs 'notes watch' at once. One process \
      at one port serves several folders. The watcher visits hubs after changes, and every few \
      minutes. It logs each event as a line on standard error, without the text of a note.

      Examples:
        notes watch
        notes watch ~/notes ~/work --listen 0.0.0.0:4711
        notes watch --all --install
        notes watch --pause
      """)

  @Argument(
    help: .named("dir", "The notebooks' folders; the current folder by default."),
    completion: .directory)
  var directories: [String] = []
  @Flag(help: "All notebooks of this device.")
  var all = false
  @OptionGroup var listen: ListenOption
  @OptionGroup var discovery: DiscoveryOption
  @Flag(help: "Tell the running watcher to disconnect; it still saves.")
  var pause = false
  @Flag(help: "Tell the paused watcher to connect again.") var resume = false
  @Flag(help: "Let systemd run it now and whenever you log in.") var install = false
  @Flag(help: "Log details.") var verbose = false
  @OptionGroup var options: CommonOptions

  func validate() throws {
    if [pause, resume, install].count(where: { $0 }) > 1 {
      throw ValidationError("--pause, --resume and --install exclude each other.")
    }
    if all, !directories.isEmpty { throw ValidationError("--all cannot be combined with folders.") }
  }

  func run() throws {
    let known = KnownNotebooks(dataFolder: try UserFolders().data)
    if pause || resume { return try order(pause ? .pause : .resume, chosen(of: known)) }
    if install {
      let words = try all ? ["--all"] : chosen(of: known).map(\.folder)
      let program = realPath(of: "/proc/self/exe") ?? "notes"
      return try WatchInstallation(program: program, words: words).install(in: UserFolders().units)
    }
    let token = try Interruption.token()
    var locks: [String: WatchLock] = [:]
    while !token.isCancelled {
      let listed = known.folders()
      let notebooks = try watchable(chosen(of: known))
      locks = try lock(notebooks, having: locks)
      // Add the notebooks to the list only now: otherwise a process that watches all notebooks would lock them
      // first.
      if !all { for notebook in notebooks { known.add(notebook) } }
      do {
        let folders = notebooks.map(\.folder).filter { locks[$0] != nil }
        try watch(folders, until: token, whileKnown: listed, in: known)
      } catch MembershipError.begunAnew {
        // 'notes members reset' ran, or this device joined again: for the other devices, this
        // process serves another notebook now.
      }
    }
    try Interruption.exit.end()
  }

  /// Watches until `token` is cancelled or, if all notebooks are watched, until the list of
  /// notebooks changes.
  private func watch(
    _ folders: [String], until token: CancellationToken, whileKnown listed: [String],
    in known: KnownNotebooks
  ) throws {
    let notebooks = try folders.map { try Notebook.open(at: $0) }
    let contexts = try notebooks.map { try $0.sessionContext() }
    let finder = contexts.first.flatMap { discovery.discovery(for: $0.key.deviceID) }
    defer { finder?.stop() }
    let device = discovery.isOff ? nil : contexts.first?.key.deviceID
    let another: @Sendable () -> (any Discovery)? = {
      guard let device else { return nil }
      return AvahiDiscovery(deviceID: device)
    }
    let service = try Service(
      contexts: contexts, discovery: finder, finder: another, listen: listen.configured(),
      logger: speaks ? ServiceLogging.silent : ServiceLogging.logger(verbose: verbose),
      isWatching: true, control: UserFolders().runtime,
      hubInterval: Setting.hubIntervalInSeconds())
    let report = EventReport(json: options.json, .service(speaks ? ServiceText(notebooks) : nil))
    if speaks { Output.standard.tell(ServiceText.start("Watching", notebooks)) }
    Output.standard.flush()
    let hooks = WatchHooks(notebooks: notebooks)
    let notice = MembershipNotice(notebooks, tellsRole: speaks)
    let list = !all ? nil : known.watch { if known.folders() != listed { service.stop() } }
    defer { list?.stop() }
    try service.run(cancellation: token) { event in
      report.write(event)
      if case .gcDue(_, let folder) = event { BackgroundGC.start(inFolder: folder) }
      if case .membersChanged(let notebook) = event,
        contexts.contains(where: { $0.membership.notebookID == notebook && $0.isOutdated })
      {
        service.stop()
      }
      hooks.run(for: event)
      notice.tell(of: event)
    }
  }

  /// Whether a person reads the output, and not a log.
  private var speaks: Bool { ServiceLogging.speaks(json: options.json, verbose: verbose) }

  /// The notebooks to watch: with `--all`, those that are available.
  private func chosen(of known: KnownNotebooks) throws -> [Notebook] {
    guard all else {
      let folders = directories.isEmpty ? ["."] : directories
      return try folders.map { try Notebook.open(at: Notebook.find(from: $0)) }
    }
    return try known.notebooks()
  }

  /// The notebooks of which this device is a member, or will be one. With `--all`, the others do not end the watcher.
  private func watchable(_ notebooks: [Notebook]) throws -> [Notebook] {
    guard all else { return notebooks }
    var skipped: [(folder: String, error: any Error)] = []
    let watchable = try notebooks.filter { notebook in
      do {
        let context = try notebook.sessionContext()
        if !context.isGuest { _ = try context.credentials() }
        return true
      } catch let error as MembershipError {
        if case .begunAnew = error { throw error }
        skipped.append((notebook.folder, error))
        return false
      }
    }
    if watchable.isEmpty, let first = skipped.first { throw first.error }
    for (folder, error) in skipped { KnownNotebooks.leaveOut(folder, error) }
    return watchable
  }

  /// Locks the notebooks against other watchers; `held` are the locks that this process has, by
  /// folder. With `--all`, notebooks that another process watches are skipped.
  private func lock(
    _ notebooks: [Notebook], having held: [String: WatchLock]
  ) throws -> [String: WatchLock] {
    var locks: [String: WatchLock] = [:]
    for (number, notebook) in notebooks.enumerated() {
      do {
        locks[notebook.folder] =
          try held[notebook.folder]
          ?? WatchLock(stateFolder: notebook.stateFolder, folder: notebook.folder)
      } catch let error where all && (number < notebooks.count - 1 || !locks.isEmpty) {
        KnownNotebooks.leaveOut(notebook.folder, error)
      }
    }
    return locks
  }

  private func order(_ request: ControlRequest, _ notebooks: [Notebook]) throws {
    for notebook in notebooks {
      guard RunningWatcher.of(notebook)?.all(request) != nil else {
        throw RunningWatcher.missing(notebook)
      }
      let name = Visible.name(notebook.identity.name)
      options.tell(
        ["type": pause ? "paused" : "resumed", "notebook": notebook.identity.id],
        pause
          ? "\(name) is paused: it makes versions, but no device is connected. 'notes watch "
            + "--resume' connects again."
          : "\(name) is no longer paused: it connects to the other devices again.")
    }
  }
}

extension SessionContext {
  /// Whether the device's key, or its key in the notebook, has changed since the watch began.
  fileprivate var isOutdated: Bool {
    // If a folder is unavailable, the key has not changed.
    guard let present = try? Notebook.open(at: folder).sessionContext() else { return false }
    return present.key.deviceID != key.deviceID
      || present.request?.deviceID != request?.deviceID
  }
}

struct ServeCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "serve", abstract: "Let other devices sync with this one until you stop it.",
    discussion: """
      Runs in the foreground, so that 'notes sync' on another device finds this one at any time. \
      Each session first saves the changes here. Each event is logged as a line on standard error, \
      without the text of a note.

      Examples:
        notes serve
        notes serve --listen 0.0.0.0:4711 --verbose
      """)

  @OptionGroup var listen: ListenOption
  @OptionGroup var discovery: DiscoveryOption
  @Flag(help: "Log details.") var verbose = false
  @OptionGroup var options: CommonOptions

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    let context = try notebook.sessionContext()
    let finder = discovery.discovery(for: context.key.deviceID)
    defer { finder?.stop() }
    let speaks = ServiceLogging.speaks(json: options.json, verbose: verbose)
    let service = try Service(
      contexts: [context], discovery: finder, listen: listen.configured(),
      logger: speaks ? ServiceLogging.silent : ServiceLogging.logger(verbose: verbose))
    let report = EventReport(json: options.json, .service(speaks ? ServiceText([notebook]) : nil))
    if speaks { Output.standard.tell(ServiceText.start("Serving", [notebook])) }
    Output.standard.flush()
    try service.run(cancellation: Interruption.token()) { report.write($0) }
    try Interruption.exit.end()
  }
}

enum ServiceLogging {
  /// Whether a service writes text for people on a terminal, instead of its log.
  static func speaks(json: Bool, verbose: Bool) -> Bool {
    !json && !verbose && Console.output.isInteractive && Console.errors.isInteractive
  }

  static func logger(verbose: Bool) -> Logger {
    var logger = Logger(label: "notes") { StreamLogHandler.standardError(label: $0) }
    logger.logLevel = verbose ? .debug : .info
    return logger
  }

  static var silent: Logger { Logger(label: "notes") { _ in SwiftLogNoOpLogHandler() } }
}
