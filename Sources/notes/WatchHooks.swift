internal import Notebook
internal import Sync
internal import Watch
internal import WorkTree

/// The user's commands for what a watcher receives: `on-change` and `on-conflict` of the settings.
struct WatchHooks {
  private let hooks = Hooks(logger: ServiceLogging.logger(verbose: false))
  private let folders: [String: String]

  init(notebooks: [Notebook]) {
    folders = Dictionary(
      notebooks.map { ($0.identity.id, $0.folder) }, uniquingKeysWith: { first, _ in first })
  }

  /// Runs what the settings name for what was received.
  func run(for event: Event) {
    guard case .received(let peer, let join, let notebook?) = event,
      let folder = folders[notebook]
    else { return }
    // Read anew each time: a changed setting holds at once.
    guard let settings = try? Settings.read(in: UserFolders().config) else { return }
    if let onChange = settings[Setting.onChange.rawValue], !join.changes.isEmpty {
      hooks.run(
        onChange,
        on: Hooks.Occasion(
          event: "change", folder: folder, paths: join.changes.map(\.path), device: peer.name))
    }
    if let onConflict = settings[Setting.onConflict.rawValue], !join.conflicts.isEmpty {
      hooks.run(
        onConflict,
        on: Hooks.Occasion(
          event: "conflict", folder: folder, paths: join.conflicts, device: peer.name))
    }
  }
}
