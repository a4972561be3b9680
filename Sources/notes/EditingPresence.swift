internal import Git
internal import Notebook
internal import System
internal import Watch

/// Tells the other devices, by the watcher that runs, that a note is being edited here, for as long
/// as the value lives; and tells who else is in it. Without a watcher it does neither.
final class EditingPresence {
  private let path: TreePath
  private let others: [String]
  /// The watcher tells for as long as this connection stands.
  private let connection: ControlClient?

  /// How long the watcher may take to answer, in seconds: nobody waits long for a courtesy.
  private static let patience = 2.0

  init(of path: TreePath, in notebook: Notebook) {
    self.path = path
    let name = String(hexadecimal: path.bytes)
    let replies =
      RunningWatcher.of(notebook)?.all(ControlRequest(.peers), within: Self.patience) ?? []
    others = replies.filter { $0.editing?.contains(name) == true }.compactMap(\.name)
    connection = RunningWatcher.of(notebook)
    var request = ControlRequest(.edit)
    request.paths = [name]
    _ = connection?.ask(request)
  }

  func warn() {
    guard !others.isEmpty else { return }
    let names = Phrase.list(others.map { Visible.name($0) })
    Output.errors.write(
      "notes: warning: \(path.label) is open on \(names), too; both edits will be merged\n")
    Output.errors.flush()
  }
}
