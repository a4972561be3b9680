internal import Exchange
internal import Git
internal import History
internal import Membership
internal import Notebook
internal import Watch
internal import WorkTree

struct StatusReport {
  let status: NotebookStatus
  let folder: String
  let conflicts: [ConflictReport]
  var watcher: WatcherStatus?
  var ownMembership = OwnMembership()
  var held: [RefusalNotice] = []
  /// The news of roles, for people only: reading it records that it was told.
  var roleNews: RoleNews?

  var json: JSON {
    [
      "type": "status", "notebook": status.identity.id, "name": status.identity.name,
      "device": status.identity.device.deviceID, "device_name": status.identity.device.name,
      "path": folder, "tip": status.state.tip, "heads": status.state.heads,
      "changes": status.changes, "staged": status.staged,
      "mass_deletion": status.massDeletion.map { ["deleted": $0.deleted, "of": $0.total] as JSON },
      "held": held.map(\.json), "conflicts": conflicts, "skipped": status.skipped,
      "ignored_notes": status.ignoredNotes,
      "interrupted": status.isInterrupted, "missing": status.missing, "watched": watcher != nil,
      "connected": watcher?.peers.map(\.identity.deviceID),
      "branch": status.branch, "git_operation": status.gitOperation?.rawValue,
      "unmerged": status.unmerged, "hard_links": status.hardLinks,
      "role": ownMembership.word, "unsent": ownMembership.unsent,
      "key_shared": ownMembership.sharing.map { TimeText.rfc3339($0.time) },
      "hub_differences": ownMembership.hubs.map(\.json),
      "claims": ownMembership.claims.map(\.json),
    ]
  }

  private func words(for watched: WatcherStatus) -> String {
    if watched.watcher.isPaused { return "'notes watch' is running, with connections paused." }
    if watched.peers.isEmpty { return "'notes watch' is running; no other device is connected." }
    let names = Phrase.list(
      watched.peers.map { ownMembership.sharedNames.shown($0.identity.name, $0.identity.deviceID) })
    let areInSync = watched.peers.allSatisfy { $0.shows.tip == status.state.tip }
    return areInSync
      ? "'notes watch' is running, in sync with \(names)."
      : "'notes watch' is running, connected with \(names)."
  }

  /// The version's branch, in words, if it is not the usual one of a repository.
  static func words(forBranch branch: String?) -> String {
    guard let branch else {
      return "HEAD is detached: versions are on no branch; run 'git switch BRANCH'.\n"
    }
    return ["main", "master"].contains(branch) ? "" : "On branch \(Visible.name(branch)).\n"
  }

  func text(on terminal: Terminal, now: Int64) -> String {
    let identity = status.identity
    var text = terminal.paint(Visible.name(identity.name), .bold)
    text += " on \(Visible.name(identity.device.name))"
    text += (status.state.tip.map { ", version \($0.short)" } ?? ", no version yet") + "\n"
    text += Self.words(forBranch: status.branch)
    if let operation = status.gitOperation {
      text += "A git \(operation.rawValue) is in progress; nothing is saved until it ends:\n"
      text += "  \(operation.remedy)\n"
    }
    if !status.unmerged.isEmpty {
      text += "Git could not merge \(Phrase.list(status.unmerged.map { Visible.name($0) }))"
      text += "; until you merge them, nothing is saved:\n  \(status.unmerged.mergeRemedy)\n"
    }
    if let watcher { text += words(for: watcher) + "\n" }
    text += roleNews?.text ?? ""
    text += ownMembership.text
    text += held.map(\.text).joined()
    text += missingText
    if status.changes.isEmpty, conflicts.isEmpty, !status.isInterrupted, status.missing.isEmpty {
      text +=
        status.state.tip == nil
        ? "Nothing to save yet.\n"
        : status.skipped.contains(where: \.reason.isUnsaved)
          ? "Everything else is saved; these files are not:\n" : "Everything is saved.\n"
    }
    if status.isInterrupted {
      text += "\nThe last command was interrupted; the next command that writes completes it.\n"
    }
    if !conflicts.isEmpty {
      text += "\n" + terminal.paint("Conflicts to resolve", .boldYellow) + "\n"
      text += conflicts.text(on: terminal, now: now, indent: "  ")
      text += "  edit the note, or 'notes resolve NOTE --keep newer'\n"
    }
    if !status.changes.isEmpty {
      text += "\n" + terminal.paint("Changed since the last version", .bold) + "\n"
      text += status.changes.text(on: terminal)
      text += stagedText + massDeletionText
    }
    text += status.skipped.text(on: terminal)
    if !status.hardLinks.isEmpty {
      let names = status.hardLinks.prefix(5).map { Visible.name($0) }
      let more = status.hardLinks.count - names.count
      text += "\n" + terminal.paint("With a second name on this disk", .bold) + "\n"
      text += names.map { "  \($0)\n" }.joined()
      text += more > 0 ? "  and \(Phrase.number(more)) more\n" : ""
      text += "  an edit from another device changes only this name\n"
    }
    if status.ignoredNotes > 0 {
      text += "\nIgnored by .gitignore rules: \(Phrase.count(status.ignoredNotes, "note"))\n"
    }
    return text
  }
}

extension StatusReport {
  private var stagedText: String {
    let names = status.staged.map { Visible.name($0.path) }
    if names.isEmpty || !status.unmerged.isEmpty { return "" }
    let more = names.count > 3 ? ["\(Phrase.number(names.count - 3)) more"] : []
    return "  staged with git: \(Phrase.list(names.prefix(3) + more)); save also saves the rest\n"
  }

  private var missingText: String {
    guard let first = status.missing.first else { return "" }
    let more =
      status.missing.count > 1 ? " and \(Phrase.number(status.missing.count - 1)) more" : ""
    return
      "The history lacks object \(first.short)\(more); 'notes sync' asks other devices and hubs.\n"
  }

  private var massDeletionText: String {
    guard let loss = status.massDeletion else { return "" }
    return "  'notes save' refuses to delete \(Phrase.number(loss.deleted)) of "
      + "\(Phrase.count(loss.total, "note"));\n"
      + "  to delete them: 'notes save --allow-deletes'\n"
  }
}

struct InitReport {
  let identity: NotebookIdentity
  let folder: String
  let noteCount: Int
  let fileCount: Int
  let bytes: Int
  let saved: SaveResult
  let tip: ObjectID?
  /// Whether the folder already had a history.
  let isRepository: Bool
  /// The remotes of that repository.
  var remotes: [Hub] = []

  /// - Parameter bytes: the total size of all files.
  init(
    identity: NotebookIdentity, folder: String, files: [(path: TreePath, entry: TreeEntry)],
    bytes: Int, saved: SaveResult, tip: ObjectID?, isRepository: Bool = false
  ) {
    (self.identity, self.folder, self.bytes, self.saved) = (identity, folder, bytes, saved)
    (self.tip, self.isRepository) = (tip, isRepository)
    noteCount = files.count { $0.path.isNote }
    fileCount = files.count - noteCount
  }

  var json: JSON {
    [
      "type": "initialised", "notebook": identity.id, "name": identity.name, "path": folder,
      "device": identity.device.deviceID, "device_name": identity.device.name, "notes": noteCount,
      "attachments": fileCount, "bytes": bytes, "tip": tip, "skipped": saved.skipped,
      "remotes": remotes.map { ["name": $0.name, "url": $0.shownURL] as JSON },
    ]
  }

  /// The sentence about making the remotes hubs.
  private var offer: String {
    if remotes.isEmpty { return "" }
    return "\nnotes syncs with git's remotes only if you make them hubs:\n"
      + remotes.map {
        "  notes remote add \(Visible.word($0.name)) \(Visible.word($0.shownURL))\n"
      }.joined()
  }

  func text(on terminal: Terminal) -> String {
    let name = terminal.paint(Visible.name(identity.name), .bold)
    let held = "\(Phrase.files(noteCount, fileCount)) (\(Phrase.bytes(bytes)))"
    var text = "Notebook \(name) in \(Visible.name(folder))\n"
    text +=
      tip == nil
      ? "It is empty so far.\n"
      : isRepository
        ? "The notebook contains \(held), and the history of the git repository.\n"
        : "The first version contains \(held).\n"
    text += saved.skipped.text(on: terminal)
    return text + """

      Next:
        notes save      saves what you wrote as a version
        notes invite    lets another device join

      """ + offer
  }
}
