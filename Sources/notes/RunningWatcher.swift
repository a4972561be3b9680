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

  /// That none runs where one is needed.
  static func missing(_ notebook: Notebook) -> Failure {
    Failure(
      .failed, "not_watched", "nobody watches \(Visible.name(notebook.folder))",
      hint: "'notes watch' does")
  }
}
