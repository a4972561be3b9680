internal import Exchange
internal import Git
internal import Logging
internal import Membership
internal import Notebook
internal import WorkTree

/// One line for each event, with device and notebook. The line contains no text of a note and no secret, and
/// nothing from a peer that could disturb a terminal or imitate a log line.
struct ServiceLog: Sendable {
  let logger: Logger

  func write(_ event: Event) {
    logger.log(level: Self.level(of: event), "\(Self.line(for: event))")
  }

  func debug(_ line: String) { logger.debug("\(line.printable)") }

  func warn(_ line: String) { logger.warning("\(line.printable)") }

  private static func level(of event: Event) -> Logger.Level {
    switch event {
    case .looking, .saving, .progress, .shows, .editing, .membersChanged, .addressesChanged,
      .gcDue:
      .debug
    case .listening, .peer, .received, .finished, .invitation, .offered, .version, .connected,
      .disconnected:
      .info
    case .joined, .declined, .ended, .folder, .keyRequested, .completed, .admitted, .saveNews,
      .followed:
      .notice
    case .discoveryFailed, .replaced, .failed, .differs, .wrongCode, .held, .notebookFailed,
      .broughtBack, .watchLimit, .hubWentBack, .hubMembersWentBack, .hubOthers, .hubSplit,
      .linkShared, .deviceAsked, .claim, .keyShared, .alteredMerges:
      .warning
    }
  }

  private static func line(for event: Event) -> String {
    switch event {
    case .listening(let address, let port): "listening on \(address) port \(port)"
    case .discoveryFailed(let cause): text(cause.error)
    case .looking(let names): "looking for \(names.map(\.printable).joined(separator: ", "))"
    case .saving(let done, let total): "saving \(done.files) of \(things(total.files, "file"))"
    case .peer(let peer): "connected: \(name(peer))"
    case .progress(let transfer): "\(name(transfer.peer)): \(transfer.stage)"
    case .received(let peer, let join, _):
      "received from \(name(peer)): \(things(join.changes.count, "changed file")), "
        + things(join.conflicts.count, "new conflict")
    case .finished(let session):
      "done with \(name(session.peer)): sent \(session.sentVersions) and received "
        + "\(things(session.receivedVersions, "version")), "
        + (session.isInSync ? "in sync" : "not in sync")
    case .failed(let failure):
      (failure.peer.map { "session with \(name($0)) failed: " }
        ?? "\(failure.address.printable) refused: ") + text(failure.error)
    case .differs(let peer, let difference):
      "the same versions merge differently at \(name(peer)): \(short(difference.peerTip)) by rules "
        + "\(difference.peerRules.map(String.init) ?? "unknown"), here \(short(difference.tip)) "
        + "by rules \(difference.rules); the next edit removes the difference"
    case .hubWentBack, .hubMembersWentBack, .hubOthers, .hubSplit: lineOfHub(event)
    case .alteredMerges(let peer, let merges, let notebook):
      "\(short(notebook)): versions from \(name(peer)) contain altered merges: "
        + merges.map(short).joined(separator: ", ")
    case .followed(let author, let forgettings, let peer, let notebook):
      "\(short(notebook)): \(author?.printable ?? "another device") forgot something "
        + "(\(things(forgettings.count, "forgetting"))); this device has followed, by the "
        + "history from \(name(peer))"
    case .admitted(let hub, let device, let notebook):
      "\(short(notebook)): \(device.name.printable) (\(short(device.deviceID))) is now a member, "
        + "as \(device.role.rawValue), by an invitation "
        + "\(hub.isHub ? "at" : "of") \(name(hub))"
    case .linkShared(let hub, let id, let names, _, let notebook):
      "\(short(notebook)): several devices used the link of invitation \(id.prefix(8)) at \(name(hub)): "
        + names.map(\.printable).joined(separator: ", ")
    case .deviceAsked(let hub, let device, let member, _, let notebook):
      "\(short(notebook)): \(member.printable) asks \(hub.isHub ? "at \(name(hub)) " : "")to let in "
        + "\(device.name.printable) (\(short(device.deviceID))) as \(device.role.rawValue)"
    case .invitation(let open):
      "invitation \(open.code.locator) for a \(open.role.rawValue) is open on port \(open.port)"
    case .joined(let locator, let device):
      "joined by invitation \(locator) as \(device.role.rawValue): \(device.name.printable) "
        + "(\(short(device.deviceID))) at \(device.address.printable)"
    case .offered(let locator, let address):
      "invitation \(locator) was shown to \(address.printable)"
    case .declined(let locator, let address):
      "\(address.printable) did not join by invitation \(locator)"
    case .wrongCode(let locator, let address, let left):
      "wrong code for invitation \(locator) from \(address.printable), \(left) attempts left"
    case .ended(let locator, let end): "invitation \(locator) ended: \(end)"
    case .completed, .replaced, .version, .saveNews, .connected, .disconnected, .shows, .editing,
      .membersChanged,
      .addressesChanged, .held, .notebookFailed, .broughtBack, .watchLimit, .folder,
      .gcDue, .keyShared, .keyRequested, .claim:
      lineOfNotebook(event)
    }
  }

  private static func lineOfHub(_ event: Event) -> String {
    switch event {
    case .hubWentBack(let hub, let former, let tip):
      "\(name(hub)) had \(short(former)) and now has \(tip.map { "\(short($0))" } ?? "nothing"); "
        + "this device sends the synced versions again"
    case .hubMembersWentBack(let hub):
      "\(name(hub)) has a shorter list of members than at the last visit; this device knows the "
        + "missing entries"
    case .hubOthers(let hub, let references):
      "the branch of \(name(hub)) was replaced, because something was forgotten; these references "
        + "may still lead to it: "
        + references.map(\.printable).joined(separator: ", ")
    case .hubSplit(let hub, let kept, let joined):
      "\(name(hub)) has two branches of the notebook: \(kept) is kept, \(joined) is merged into it"
    default: ""
    }
  }

  private static func lineOfNotebook(_ event: Event) -> String {
    switch event {
    case .completed(let peer, let notebook):
      "\(short(notebook)): the missing objects of the history have arrived from \(name(peer))"
    case .replaced(let plain, let notebook):
      "\(short(notebook ?? "")): \(short(plain.version)) replaces \(short(plain.made)), which was "
        + "made with git and contains files that other devices refuse: "
        + plain.excluded.map { "\($0.path)".printable }.joined(separator: ", ")
    case .version(let notebook, let saved):
      "\(short(notebook)): version of \(things(saved.changes.count, "changed file"))"
    case .saveNews(let notebook, let news):
      "\(short(notebook)): a save of \("\(news.path)".printable) "
        + (news.kind == .merged
          ? "was based on an older text, and merged"
          : "removes \(things(news.lines, "line")) of "
            + "\(news.devices.joined(separator: ", ").printable)")
    case .connected(let notebook, let peer): "\(short(notebook)): connected to \(name(peer))"
    case .disconnected(let notebook, let peer):
      "\(short(notebook)): no longer connected to \(name(peer))"
    case .shows(let notebook, let peer, let tip):
      "\(short(notebook)): \(name(peer)) shows \(tip.map { "\($0)" } ?? "nothing")"
    case .editing(let notebook, let peer, let paths):
      "\(short(notebook)): \(name(peer)) edits \(things(paths.count, "note"))"
    case .membersChanged(let notebook): "\(short(notebook)): the members have changed"
    case .addressesChanged(let notebook): "\(short(notebook)): a device was reached elsewhere"
    case .held(let notebook, let deleted, let total):
      "\(short(notebook)): held back a version that would delete \(deleted) of \(total) notes; "
        + "'notes save --allow-deletes' makes it"
    case .notebookFailed(let notebook, let cause): "\(short(notebook)): \(text(cause.error))"
    case .broughtBack(let notebook, let files, let version):
      "\(short(notebook)): a power cut damaged "
        + files.map { "\($0.path)".printable }.joined(separator: ", ")
        + "; \(short(version)) restores the last saved texts"
    case .keyShared(let notebook, let witness):
      "\(short(notebook)): another machine uses this device's key"
        + (witness.map { "; \($0.printable) connected to both" } ?? "")
        + "; 'notes device renew' makes a new key for this machine"
    case .keyRequested(let notebook, let peer):
      "\(short(notebook)): \(name(peer)) asks for a certificate for a new key: "
        + "'notes members certify \(short(peer.deviceID))'"
    case .claim(let news, let notebook):
      "\(short(notebook)): "
        + (ClaimNotice(news, shown: \.printable).map { "\($0.message); \($0.remedy)" }
          ?? "\(news.name.printable) is the founder now, by its claim")
    case .watchLimit(let notebook, let interval):
      "\(short(notebook)): cannot watch more folders (fs.inotify.max_user_watches); the folder is "
        + "scanned every \(Int(interval)) s instead"
    case .folder(let notebook, let isThere):
      "\(short(notebook)): the folder is \(isThere ? "available again" : "unavailable")"
    case .gcDue(let notebook, _): "\(short(notebook)): there is enough to pack"
    default: ""
    }
  }

  private static func name(_ peer: PeerIdentity) -> String {
    if peer.isHub { return "hub \(peer.name.printable) at \(peer.address.printable)" }
    return "\(peer.name.printable) (\(short(peer.deviceID))) at \(peer.address.printable)"
  }

  private static func text(_ error: any Error) -> String { "\(error)".printable }

  private static func things(_ number: Int, _ thing: String) -> String {
    number == 1 ? "1 \(thing)" : "\(number) \(thing)s"
  }

  private static func short(_ version: ObjectID) -> Substring { version.hex.prefix(10) }

  private static func short(_ id: String) -> String { String(id.prefix(8)).printable }
}
