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

  /// How it is, and who is connected to it; nil when none runs, or it does not answer in time.
  static func status(of notebook: Notebook) -> WatcherStatus? {
    of(notebook)?.status(within: patience)
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
