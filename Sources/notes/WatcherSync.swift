internal import History
internal import Membership
internal import Notebook
internal import Sync
internal import Watch

/// A sync beside a running watcher: the devices it is connected to are synchronised by it, and only
/// the others are looked for.
struct WatcherSync {
  private let notebook: Notebook
  private let sync: SyncRun

  /// How long the watcher may take, in seconds; it gives up earlier when nothing happens.
  private static let patience = 60.0
  /// How long others are looked for beside devices that are connected, in seconds: the watcher has
  /// been looking all the time.
  private static let window = 1.0

  init(_ notebook: Notebook, _ sync: SyncRun) {
    self.notebook = notebook
    self.sync = sync
  }

  func run(_ report: EventReport) throws -> SyncOutcome {
    guard let before = RunningWatcher.peers(of: notebook),
      let watcher = RunningWatcher.of(notebook)
    else { return try sync.run(reportingTo: report) }
    let wanted = try sync.wantedMembers()
    // Here, so that what must not be saved is told here.
    _ = try notebook.save()
    let shown = watcher.synchronize(within: Self.patience, since: before) ?? []
    let tip = try notebook.state().tip
    let done = shown.filter { result in
      result.peerTip == tip && wanted.contains { $0.deviceID == result.peer.deviceID }
    }.map { result in
      var result = result
      result.tip = tip
      return result
    }
    for result in done { report.tell(.finished(result)) }
    let others = wanted.filter { member in
      !done.contains { $0.peer.deviceID == member.deviceID }
    }
    var outcome = SyncOutcome()
    if !others.isEmpty || wanted.isEmpty {
      var rest = sync
      rest.peers = others.map(\.deviceID)
      // Others find the watcher here.
      rest.listen = nil
      if !done.isEmpty { rest.window = min(rest.window, Self.window) }
      outcome = try rest.run(reportingTo: report)
    }
    outcome.sessions = done + outcome.sessions
    outcome.tip = try notebook.state().tip
    return outcome
  }
}

extension SyncRun {
  func run(reportingTo report: EventReport) throws -> SyncOutcome {
    try run(cancellation: Interruption.token()) { report.tell($0) }
  }
}
