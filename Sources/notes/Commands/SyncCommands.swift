internal import ArgumentParser
internal import Exchange
internal import Git
internal import History
internal import Membership
internal import Notebook
internal import Watch

// sync, pull and push differ only in the direction of versions.

struct SyncCommand: ExchangeCommand {
  static let mode = SyncMode.both
  static let configuration = CommandConfiguration(
    commandName: "sync", abstract: "Exchange versions with the devices in reach.",
    discussion: """
      Saves your changes, finds the notebook's devices on the local network, receives the versions \
      this one lacks and sends the versions they lack. It merges edits of both sides; if both \
      changed the same lines, the note contains each text between markers. While it looks for \
      devices it also listens, so two people who run it at the same time find each other. Then it \
      visits the hubs of 'notes remote add'.

      Examples:
        notes sync
        notes sync phone
        notes sync --hub
        notes sync --at 192.168.1.20:4711
      """)

  @OptionGroup var exchange: ExchangeOptions
  @OptionGroup var visits: HubVisitOptions
  @OptionGroup var listening: ListenOption
  @OptionGroup var stats: StatsOption
  @OptionGroup var options: CommonOptions

  var listen: ListenOption? { listening }
  var hubVisits: HubVisitOptions? { visits }
}

struct PullCommand: ExchangeCommand {
  static let mode = SyncMode.pull
  static let configuration = CommandConfiguration(
    commandName: "pull", abstract: "Receive versions without sending any.",
    discussion: """
      Like 'notes sync' in one direction. The command saves your changes here and merges them with \
      the versions it receives.

      Examples:
        notes pull
        notes pull phone --json
      """)

  @OptionGroup var exchange: ExchangeOptions
  @OptionGroup var stats: StatsOption
  @OptionGroup var options: CommonOptions
}

struct PushCommand: ExchangeCommand {
  static let mode = SyncMode.push
  static let configuration = CommandConfiguration(
    commandName: "push", abstract: "Send versions without receiving any.",
    discussion: """
      Like 'notes sync' in one direction. The receiving device merges, so a push is never refused \
      for being behind.

      Examples:
        notes push
        notes push phone
      """)

  @OptionGroup var exchange: ExchangeOptions
  @OptionGroup var stats: StatsOption
  @OptionGroup var options: CommonOptions
}

/// Whether and how a sync visits hubs.
struct HubVisitOptions: ParsableArguments {
  @Flag(help: "Sync only with hubs.") var hub = false
  @Flag(help: "Do not sync with hubs.") var noHub = false
  @Flag(help: "Merge a hub's history that shares no version with the notebook.")
  var allowUnrelated = false
  @Flag(help: "Accept, once, versions that no member vouches for, and vouch for them.")
  var allowUnsigned = false

  func validate() throws {
    if hub, noHub { throw ValidationError("--hub and --no-hub exclude each other.") }
  }
}

struct ExchangeOptions: ParsableArguments {
  @Argument(
    help: .named("peer", "Only these devices, by name or the beginning of their ID."),
    completion: LiveCompletion.peers)
  var peers: [String] = []

  @OptionGroup var deletions: DeletionOption
  @Flag(
    help:
      "Accept very large versions: over 1 GiB, over half the free disk space, or costly to unpack.")
  var allowLarge = false
  @OptionGroup var at: AtOption
  @OptionGroup var wait: WaitOption
  @OptionGroup var discovery: DiscoveryOption
}

protocol ExchangeCommand: CountedCommand {
  static var mode: SyncMode { get }
  var exchange: ExchangeOptions { get }
  /// The address to listen on; nil if the command does not listen while it looks for devices.
  var listen: ListenOption? { get }
  /// The options for hubs; nil if the command visits no hubs.
  var hubVisits: HubVisitOptions? { get }
}

extension ExchangeCommand {
  var listen: ListenOption? { nil }
  var hubVisits: HubVisitOptions? { nil }

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    let context = try notebook.sessionContext()
    var meant = try MeantPlaces(exchange, hubVisits, in: notebook, context)
    if context.isGuest { try meant.leaveOutDevices(of: notebook) }
    let report = EventReport(json: options.json, concludes: true)
    defer { report.tellFailures() }
    defer { BackgroundGC.startIfDue(in: notebook) }
    var outcome = SyncOutcome()
    if meant.includesDevices {
      let run = syncRun(with: context, peers: meant.peers)
      // The connections of a watcher can be used instead of new ones.
      let mayUseWatcher =
        listen.map { $0.address == nil } ?? false && exchange.at.addresses.isEmpty
        && !exchange.deletions.isAllowed && !exchange.allowLarge
      outcome =
        try mayUseWatcher
        ? run.runBesideWatcher(of: notebook, reportingTo: report) : run.run(reportingTo: report)
    }
    var visit = HubRun(context: context, hubs: meant.hubs)
    visit.options = sessionOptions
    visit.allowsUnrelated = hubVisits?.allowUnrelated ?? false
    visit.program.mayAsk = Console.canAsk
    defer { report.finish() }
    try visit.run(addingTo: &outcome, cancellation: Interruption.token()) { report.write($0) }
    try notebook.keepMembership()
    try report.conclude(outcome, in: notebook, mode: Self.mode).end()
  }

  private var sessionOptions: SessionOptions {
    var options = SessionOptions()
    options.mode = Self.mode
    options.allowsMassDeletion = exchange.deletions.isAllowed
    options.allowsLarge = exchange.allowLarge
    options.allowsUnsigned = hubVisits?.allowUnsigned ?? false
    return options
  }

  private func syncRun(with context: SessionContext, peers: [String]) -> SyncRun {
    var run = SyncRun(context: context)
    run.options = sessionOptions
    run.addresses = exchange.at.addresses
    run.window = exchange.wait.seconds
    run.peers = peers
    if exchange.at.addresses.isEmpty {
      run.discovery = exchange.discovery.discovery(for: context.key.deviceID)
    }
    run.listen = listen.map { $0.address ?? .anywhere }
    return run
  }
}

/// The devices and hubs that the arguments name.
private struct MeantPlaces {
  /// The IDs of devices; empty for all.
  private(set) var peers: [String] = []
  private(set) var hubs: [Hub] = []
  private(set) var includesDevices = true
  /// Whether the notebook has hubs and the command visits none.
  private let isHubLeftOut: Bool

  /// A device that has not joined yet may receive versions from a hub.
  mutating func leaveOutDevices(of notebook: Notebook) throws(Failure) {
    includesDevices = false
    guard hubs.isEmpty else { return }
    throw Failure(
      .refusedByPeer, "not_a_member", "this device is not a member of the notebook yet",
      hint: (isHubLeftOut ? "'notes sync' fetches the hub's versions; " : "")
        + OwnMembership(of: notebook).guestAdvice)
  }

  init(
    _ exchange: ExchangeOptions, _ visits: HubVisitOptions?, in notebook: Notebook,
    _ context: SessionContext
  ) throws {
    let known = try notebook.hubs()
    isHubLeftOut = visits == nil && !known.isEmpty
    let all = visits?.noHub == false ? known : []
    if visits == nil, let hub = known.first(where: { exchange.peers.contains($0.name) }) {
      throw Failure.usage(
        "'\(Visible.name(hub.name))' is a hub; only 'notes sync' visits hubs",
        hint: "'notes sync \(Visible.word(hub.name))' sends and receives there")
    }
    let areHubsAlone = visits?.hub == true
    if areHubsAlone, all.isEmpty {
      throw Failure.usage("the notebook has no hub", hint: "'notes remote add NAME URL' adds one")
    }
    hubs = all.filter { exchange.peers.contains($0.name) }
    let others = exchange.peers.filter { name in !hubs.contains { $0.name == name } }
    let everybody = context.membership.members()
    // All devices with a given name are meant.
    peers = try others.flatMap {
      try everybody.members(named: $0, besides: context.key.deviceID).map(\.deviceID)
    }
    if exchange.peers.isEmpty, exchange.at.addresses.isEmpty || areHubsAlone { hubs = all }
    includesDevices = !areHubsAlone && (exchange.peers.isEmpty || !peers.isEmpty)
  }
}

enum RunningWatcher {
  static func of(_ notebook: Notebook) -> ControlClient? {
    ControlClient.connect(
      in: UserFolders().runtime, notebookID: notebook.identity.id,
      deviceID: notebook.identity.device.deviceID)
  }

  /// The watcher's state and the connected devices; nil if no watcher runs, or if it does not
  /// answer in time.
  static func status(of notebook: Notebook) -> WatcherStatus? {
    of(notebook)?.status(within: 1)
  }

  static func missing(_ notebook: Notebook) -> Failure {
    Failure(
      .failed, "not_watched", "'notes watch' is not running in \(Visible.name(notebook.folder))",
      hint: "start it there with 'notes watch'")
  }
}

extension SyncRun {
  /// How long a watcher may take, in seconds; the wait ends earlier if nothing happens.
  private static let patience = 60.0
  /// How long to look for devices beside a watcher, in seconds: the watcher has been looking all the time.
  private static let windowBesideWatcher = 1.0

  func run(
    reportingTo report: EventReport, _ token: CancellationToken? = nil
  ) throws -> SyncOutcome {
    defer { report.finish() }
    return try run(cancellation: token ?? Interruption.token()) { report.write($0) }
  }

  /// A running watcher syncs with its devices, and only the others are looked for.
  func runBesideWatcher(
    of notebook: Notebook, reportingTo report: EventReport
  ) throws -> SyncOutcome {
    guard let before = RunningWatcher.status(of: notebook),
      let watcher = RunningWatcher.of(notebook)
    else { return try run(reportingTo: report) }
    let wanted = try wantedMembers()
    // Saves here, so that this command reports a refused save.
    _ = try notebook.autosave()
    let shown =
      WaitingLine.show("Waiting for 'notes watch', which exchanges versions ...") {
        watcher.synchronize(within: Self.patience, since: before)
      } ?? []
    let tip = try notebook.state().tip
    var done: [SessionResult] = []
    for var result in shown where result.peerTip == tip {
      guard wanted.contains(where: { $0.deviceID == result.peer.deviceID }) else { continue }
      result.tip = tip
      done.append(result)
      report.write(.finished(result))
    }
    let others = wanted.map(\.deviceID).filter { device in
      !done.contains { $0.peer.deviceID == device }
    }
    var outcome = SyncOutcome()
    if !others.isEmpty || wanted.isEmpty {
      var rest = self
      rest.peers = others
      // Other devices find the watcher, so this process need not listen.
      rest.listen = nil
      if !done.isEmpty { rest.window = min(rest.window, Self.windowBesideWatcher) }
      outcome = try rest.run(reportingTo: report)
    }
    outcome.sessions = done + outcome.sessions
    outcome.tip = try notebook.state().tip
    return outcome
  }
}
