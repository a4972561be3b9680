internal import Exchange
internal import History
internal import Membership
internal import Notebook
internal import Watch

/// The watcher that runs for a notebook, if one does.
enum RunningWatcher {
  static func of(_ notebook: Notebook) -> ControlClient? {
    ControlClient.connect(
      in: UserFolders().runtime, notebookID: notebook.identity.id,
      deviceID: notebook.identity.device.deviceID)
  }

  /// How it is, and who is connected to it; nil when none runs, or it does not answer in time.
  static func status(of notebook: Notebook) -> WatcherStatus? {
    // It has it at hand.
    of(notebook)?.status(within: 1)
  }

  static func missing(_ notebook: Notebook) -> Failure {
    Failure(
      .failed, "not_watched", "'notes watch' is not running in \(Visible.name(notebook.folder))",
      hint: "start it there with 'notes watch'")
  }
}

extension SyncRun {
  /// How long a watcher may take, in seconds; it gives up earlier when nothing happens.
  private static let patience = 60.0
  /// How long others are looked for beside devices that are connected, in seconds: the watcher has
  /// been looking all the time.
  private static let windowBesideWatcher = 1.0

  func run(
    reportingTo report: EventReport, _ token: CancellationToken? = nil
  ) throws -> SyncOutcome {
    defer { report.finish() }
    return try run(cancellation: token ?? Interruption.token()) { report.write($0) }
  }

  /// Runs beside the notebook's watcher, where there is one: it synchronises the devices that are
  /// connected to it, and only the others are looked for.
  func runBesideWatcher(
    of notebook: Notebook, reportingTo report: EventReport
  ) throws -> SyncOutcome {
    guard let before = RunningWatcher.status(of: notebook),
      let watcher = RunningWatcher.of(notebook)
    else { return try run(reportingTo: report) }
    let wanted = try wantedMembers()
    // Here, so that what must not be saved is told here.
    _ = try notebook.save()
    let shown = watcher.synchronize(within: Self.patience, since: before) ?? []
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
      // Others find the watcher here.
      rest.listen = nil
      if !done.isEmpty { rest.window = min(rest.window, Self.windowBesideWatcher) }
      outcome = try rest.run(reportingTo: report)
    }
    outcome.sessions = done + outcome.sessions
    outcome.tip = try notebook.state().tip
    return outcome
  }
}
