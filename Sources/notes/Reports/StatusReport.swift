internal import Git
internal import History
internal import Notebook
internal import Watch

/// What `notes status` tells.
struct StatusReport {
  let status: NotebookStatus
  let folder: String
  let conflicts: [Conflict]
  /// What the running watcher says; empty when none runs.
  var watcher: [ControlReply] = []

  var json: JSON {
    [
      "notebook": .string(status.identity.id), "name": .string(status.identity.name),
      "device": .string(status.identity.device.deviceID),
      "device_name": .string(status.identity.device.name), "path": .string(folder),
      "tip": status.state.tip.map(JSON.id) ?? .null,
      "heads": .array(status.state.heads.map(JSON.id)),
      "changes": .array(status.changes.map(\.json)),
      "conflicts": .array(conflicts.map(\.json)),
      "skipped": .array(status.skipped.map(\.json)),
      "interrupted": .bool(status.isInterrupted), "watched": .bool(!watcher.isEmpty),
      "connected": watcher.isEmpty
        ? .null : .array(connected.compactMap { $0.device.map(JSON.string) }),
    ]
  }

  /// The devices that are connected.
  private var connected: [ControlReply] { watcher.filter { $0.type == "peer" } }

  private func watched(_ head: ControlReply) -> String {
    if head.paused == true { return "Watched, with connections paused." }
    if connected.isEmpty { return "Watched; no other device is here." }
    let behind = connected.filter { $0.tip != status.state.tip?.hex }
    let names = Counted.list(connected.map { Visible.name($0.name ?? "") })
    if behind.isEmpty { return "Watched, and in sync with \(names)." }
    return "Watched; here: \(names)."
  }

  func text(on terminal: Terminal, now: Int64) -> String {
    let identity = status.identity
    var text = terminal.paint(Visible.name(identity.name), .bold)
    text += " on \(Visible.name(identity.device.name))"
    text += status.state.tip.map { ", version \($0.short)" } ?? ", no version yet"
    text += "\n"
    if let head = watcher.first { text += watched(head) + "\n" }
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
