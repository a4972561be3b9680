internal import Git
internal import History
internal import Notebook
internal import Sync
internal import Watch
internal import WorkTree

struct StatusReport {
  let status: NotebookStatus
  let folder: String
  let conflicts: [Conflict]
  /// What the running watcher says; nil when none runs.
  var watcher: WatcherStatus?

  var json: JSON {
    [
      "notebook": status.identity.id, "name": status.identity.name,
      "device": status.identity.device.deviceID, "device_name": status.identity.device.name,
      "path": folder, "tip": status.state.tip, "heads": status.state.heads,
      "changes": status.changes, "conflicts": conflicts, "skipped": status.skipped,
      "interrupted": status.isInterrupted, "watched": watcher != nil,
      "connected": watcher?.peers.map(\.identity.deviceID),
    ]
  }

  private func words(for watched: WatcherStatus) -> String {
    if watched.watcher.isPaused { return "Watched, with connections paused." }
    if watched.peers.isEmpty { return "Watched; no other device is here." }
    let names = Phrase.list(watched.peers.map { Visible.name($0.identity.name) })
    let areInSync = watched.peers.allSatisfy { $0.shows.tip == status.state.tip }
    return areInSync ? "Watched, and in sync with \(names)." : "Watched; here: \(names)."
  }

  func text(on terminal: Terminal, now: Int64) -> String {
    let identity = status.identity
    var text = terminal.paint(Visible.name(identity.name), .bold)
    text += " on \(Visible.name(identity.device.name))"
    text += status.state.tip.map { ", version \($0.short)" } ?? ", no version yet"
    text += "\n"
    if let watcher { text += words(for: watcher) + "\n" }
    if status.changes.isEmpty, conflicts.isEmpty, !status.isInterrupted {
      text += status.state.tip == nil ? "Nothing to save yet.\n" : "Everything is saved.\n"
    }
    if status.isInterrupted {
      text += "\nThe last command was interrupted; the next one that writes completes it.\n"
    }
    if !conflicts.isEmpty {
      text += "\n" + terminal.paint("Conflicts to resolve", .boldYellow) + "\n"
      text += ConflictsReport(conflicts: conflicts).lines(on: terminal, now: now)
      text += "  edit the note, or 'notes resolve NOTE --keep newer'\n"
    }
    if !status.changes.isEmpty {
      text += "\n" + terminal.paint("Changed since the last version", .bold) + "\n"
      text += ChangeList(changes: status.changes).text(on: terminal)
    }
    text += SkippedFiles(status.skipped).text(on: terminal)
    return text
  }
}
