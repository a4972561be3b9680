internal import History
internal import Notebook
internal import Watch

/// The watcher that runs for a notebook, if one does.
enum RunningWatcher {
  /// A connection to it; nil when none runs.
  static func of(_ notebook: Notebook) -> ControlClient? {
    ControlClient.connect(
      in: UserFolders().runtime, notebookID: notebook.identity.id,
      deviceID: notebook.identity.device.deviceID)
  }

  /// What it says of itself, and of the devices that are connected to it, a line each; empty when none
  /// runs, or it does not answer in time.
  static func says(of notebook: Notebook) -> [ControlReply] {
    guard let watcher = of(notebook) else { return [] }
    let replies = watcher.all(ControlRequest(.peers), within: patience)
    return replies.last?.type == "done" ? replies.dropLast() : []
  }

  /// What it says of the devices alone; nil when none runs.
  static func peers(of notebook: Notebook) -> [ControlReply]? {
    let replies = says(of: notebook)
    return replies.isEmpty ? nil : replies.filter { $0.type == "peer" }
  }

  /// How long it may take to say so, in seconds: it has it at hand.
  private static let patience = 1.0

  /// That none runs where one is needed.
  static func missing(_ notebook: Notebook) -> Failure {
    Failure(
      .failed, "not_watched", "'notes watch' is not running in \(Visible.name(notebook.folder))",
      hint: "start it there with 'notes watch'")
  }
}
