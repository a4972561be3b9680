internal import Exchange
internal import Git
internal import History
internal import Membership
internal import Notebook

/// The notice that this device or another one holds versions back, and the command that accepts
/// them.
struct RefusalNotice {
  let held: RefusedVersions.Entry
  /// The name of the device or hub on the other side.
  let name: String
  let ownName: String
  /// The branch of a hub that this device has visited before.
  var branch: String?

  /// The held back versions of present members and hubs; empty if they cannot be read.
  static func all(in notebook: Notebook) -> [RefusalNotice] {
    // These notices are extras: `notes doctor` reports unreadable files.
    let all = (try? RefusedVersions(stateFolder: notebook.stateFolder).all(in: notebook)) ?? []
    if all.isEmpty { return [] }
    // Without a readable membership, there are no notices about members.
    let members = ((try? notebook.membership())?.members() ?? []).filter { !$0.isRemoved }
    let role = members.first { $0.deviceID == notebook.identity.device.deviceID }?.role
    let names = Dictionary(members.map { ($0.deviceID, $0.name) }) { first, _ in first }
    // Without readable settings, there are no notices about hubs.
    let hubs = ((try? notebook.hubs()) ?? []).map(\.name)
    let own = Visible.word(notebook.identity.device.name)
    return all.compactMap { held in
      guard let name = names[held.device] ?? hubs.first(where: { $0 == held.device })
      else { return nil }
      // No device would accept a reader's versions from the hub.
      let maySend = role.map { $0 > .reader } ?? false
      let isHub = names[held.device] == nil
      let branch = maySend && isHub ? visitedBranch(of: name, in: notebook) : nil
      return RefusalNotice(held: held, name: name, ownName: own, branch: branch)
    }
  }

  /// The notice of the hub with this name, whose versions nobody vouches for; nil if there is none.
  static func ofUnsigned(at hub: String, in notebook: Notebook) -> RefusalNotice? {
    all(in: notebook).first {
      $0.held.device == hub && $0.refusal.reason == .unsigned && !$0.refusal.isThere
    }
  }

  /// The notebook's branch, if git remembers it from a visit to this hub. Nil if a command could not set it
  /// back alone, because the hub also has its twin, or if a shell would not take a name as it is.
  private static func visitedBranch(of hub: String, in notebook: Notebook) -> String? {
    let repository = notebook.repository
    do {
      guard let branch = try repository.head().branch, isPlain(branch), isPlain(hub) else {
        return nil
      }
      let visited = try [branch, "main", "master"].filter {
        try repository.reference("refs/remotes/\(hub)/\($0)") != nil
      }
      return Set(visited) == [branch] ? branch : nil
    } catch {
      // If the references cannot be read, the notice is only shorter.
      return nil
    }
  }

  /// Whether a shell takes a name as it is, wherever it stands in a word.
  private static func isPlain(_ name: String) -> Bool {
    Visible.word(name) == name && !name.hasPrefix("-")
  }

  private var refusal: PeerState.Refusal { held.refusal }

  /// The message in lower case, without a full stop.
  var message: String {
    let shown = Visible.name(name)
    guard refusal.isThere else {
      return "changes from \(shown) are held back" + (held.words.map { ": " + $0 } ?? "")
    }
    let start = "changes from this device are held back on \(shown): "
    return switch refusal.reason {
    case .massDeletion: start + "they would delete most of its notes"
    case .largeVersion: start + "they are very large"
    case .tooLarge: start + "the merged version would exceed a limit"
    case .pruned: start + "it removed a version that is still here"
    case .forgotten: start + "they are from before something was forgotten"
    case .unsigned: start + "no member vouches for them"
    }
  }

  /// The command that accepts the versions.
  var remedy: String {
    let command = refusal.isThere ? "on \(Visible.name(name)) run 'notes sync \(ownName) " : nil
    let sync = command ?? "run 'notes sync \(Visible.word(name)) "
    return switch refusal.reason {
    case .massDeletion: "to accept them, \(sync)--allow-deletes'"
    case .largeVersion: "to accept them, \(sync)--allow-large'"
    case .tooLarge: "delete files that you do not need, then sync again"
    case .unsigned where refusal.isThere: "save something here, then sync again"
    case .unsigned:
      "to accept them, \(sync)--allow-unsigned'" + (returning.map { "; \($0)" } ?? "")
    case .forgotten: "sync with an admin's device"
    case .pruned where refusal.isThere: "'notes doctor --repair' also removes it here"
    case .pruned: "'notes doctor --repair' on \(Visible.name(name)) also removes it there"
    }
  }

  /// The commands that keep the refused version here, and replace it at the hub by this device's, if the hub still has
  /// it: notes-hub(7), "A refused version".
  private var returning: String? {
    guard let branch, held.heads.count == 1 else { return nil }
    let (hub, version) = (name, held.heads[0])
    return
      "to remove them from the hub and keep them in a branch here: 'git fetch --no-tags --refmap= \(hub) "
      + "\(branch):refused-\(version.short) && git push --force-with-lease=\(branch):\(version) \(hub) \(branch)'"
  }

  var text: String { "\(message.prefix(1).uppercased())\(message.dropFirst());\n  \(remedy)\n" }

  var json: JSON {
    [
      "name": name, "device": held.device, "reason": refusal.name, "message": message,
      "remedy": remedy, "time": TimeText.rfc3339(held.time),
    ]
  }
}
