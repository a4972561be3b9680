internal import Git
internal import Notebook
internal import Sync
internal import Watch

/// Tells the other devices, by the watcher that runs, that a note is being edited here, for as long
/// as the value lives; and tells who else is in it. Without a watcher it does neither.
final class EditingPresence {
  private let path: TreePath
  private let others: [String]
  /// The watcher tells for as long as this connection stands.
  private let connection: ControlClient?

  init(of path: TreePath, in notebook: Notebook) {
    self.path = path
    let peers = RunningWatcher.status(of: notebook)?.peers ?? []
    others = peers.filter { $0.shows.editing.contains(path) }.map(\.identity.name)
    connection = RunningWatcher.of(notebook)
    _ = connection?.ask(.edit(paths: [path]))
  }

  func warn() {
    guard !others.isEmpty else { return }
    let names = Phrase.list(others.map { Visible.name($0) })
    Output.errors.write(
      "notes: warning: \(path.label) is open on \(names), too; both edits will be merged\n")
    Output.errors.flush()
  }
}
