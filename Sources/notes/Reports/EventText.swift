internal import Exchange
internal import Git
internal import History
internal import Membership
internal import Merge
internal import Notebook
internal import Watch
internal import WorkTree

/// The words for events, for people; nil for events that are only for programs and logs.
struct EventText {
  let occasion: EventReport.Occasion
  var terminal: Terminal { Console.output }

  func words(for event: Event) -> String? {
    switch event {
    case .finished(let result): result.text(on: terminal)
    case .failed(let failure):
      terminal.paint(Self.culprit(failure), .bold) + ": "
        + terminal.paint(Failure(describing: failure.error).message, .red) + "\n"
    case .invitation(let open): words(for: [open])
    case .declined(_, let address):
      "\(Visible.name(address)) did not join; the invitation stays open.\n"
    case .wrongCode(_, let address, let left):
      terminal.paint("Wrong code", .boldYellow)
        + " from \(Visible.name(address)); \(Phrase.count(left, "attempt")) left.\n"
    case .admitted(let hub, let device, _):
      "\(Visible.name(device.name)) is now a member, as \(device.role.rawValue)"
        + (hub.name == PeerIdentity.bundle
          ? "\n" : ", by an invitation \(hub.isHub ? "at" : "of") \(Visible.name(hub.name))\n")
    case .followed(let author, let forgettings, _, _):
      terminal.paint(author.map { Visible.name($0) } ?? "another device", .bold)
        + " forgot \(ForgettingReport.list(forgettings)); this device has followed\n"
    case .completed(let peer, _):
      terminal.paint(Visible.name(peer.name), .bold)
        + " sent what was missing in the history here\n"
    case .keyRequested(_, let peer):
      terminal.paint(Visible.name(peer.name), .bold)
        + " asks for a certificate for a new key: 'notes members certify "
        + "\(peer.deviceID.prefix(8))'\n"
    case .claim(let news, _) where news.state == .accepted:
      terminal.paint(Visible.name(news.name), .bold) + " is the founder now, by its claim\n"
    case .joined(_, let device):
      terminal.paint(Visible.name(device.name), .bold) + " joined as \(device.role.rawValue)\n"
    default: nil
    }
  }

  /// The warning about an event on standard error, after which the command continues.
  func warning(of event: Event) -> String? {
    switch event {
    case .replaced(let plain, _): return plain.warning
    case .saveNews(_, let news): return Self.warning(news.sentence, news.hint)
    case .hubWentBack(let hub, let former, let tip):
      return Self.warning(
        tip == nil
          ? "\(Visible.name(hub.name)) no longer has any version; this device sends all of them "
            + "again"
          : "\(Visible.name(hub.name)) was set back or rewritten; this device still has the versions "
            + "that it had synced",
        "it had version \(former.hex.prefix(10))")
    case .hubMembersWentBack(let hub):
      return Self.warning(
        "\(Visible.name(hub.name)) has a shorter list of members than at the last visit; this "
          + "device knows the missing entries",
        "devices that visited it in the meantime may not know of a removal or a new member")
    case .alteredMerges(let peer, let merges, _):
      return Self.warning(
        "the versions from \(Visible.name(peer.name)) contain "
          + (merges.count == 1
            ? "a merge that differs" : "\(Phrase.number(merges.count)) merges that differ")
          + " from what notes computes; notes names nobody as author of the changes",
        merges.first.map {
          "'notes show \($0.short)' shows \(merges.count == 1 ? "it" : "the first")"
        })
    case .linkShared(let hub, let id, let names, let isUsed, _):
      return Self.warning(
        "several devices used the link of invitation \(id.prefix(8)) at \(Visible.name(hub.name)): "
          + Phrase.list(names.map { Visible.name($0) }),
        isUsed
          ? "'notes members' shows the members; remove a device that nobody knows"
          : "none of them was let in: 'notes invitations cancel \(id.prefix(8))' cancels the link; then make another"
      )
    case .deviceAsked(let hub, let device, let member, let invitation, _):
      return Self.warning(
        "\(Visible.name(member)) asks \(hub.isHub ? "at \(Visible.name(hub.name)) " : "")to let in another device, "
          + "\(Visible.name(device.name)) (\(device.deviceID.prefix(8))), as \(device.role.rawValue)",
        "'notes invitations answer \(invitation.prefix(8))' lets it in")
    case .claim(let news, _):
      return ClaimNotice(news).map { Self.warning($0.message, $0.remedy) }
    case .hubOthers(let hub, let references):
      return Self.warning(
        "\(Visible.name(hub.name)) no longer has the forgotten text, unless these references lead "
          + "to it: "
          + Phrase.list(references.map { Visible.name($0) }),
        "'git push \(Visible.word(hub.name)) --delete NAME' removes one there")
    case .hubSplit(let hub, let kept, let joined):
      return Self.warning(
        "\(Visible.name(hub.name)) has two branches of this notebook: \(kept) is kept, and "
          + "\(joined) is merged into it")
    case .discoveryFailed(let cause):
      let failure = Failure(describing: cause.error)
      guard case .invitation = occasion else { return Self.warning(failure.message, failure.hint) }
      return Self.warning(
        failure.message, "on the other device, add --at and this device's address to 'notes join'")
    case .failed(let failure):
      guard case .invitation = occasion else { return nil }
      return Self.warning(
        "\(Self.culprit(failure)): \(Failure(describing: failure.error).message)")
    default: return nil
    }
  }

  /// The device's name, with its ID if two failed devices have the same name.
  static func culprit(_ failure: SyncFailure) -> String {
    failure.peer.map { peer in
      Visible.name(peer.name) + (peer.isHub ? "" : " (\(peer.deviceID.prefix(8)))")
    }
      ?? Visible.name(failure.address)
  }

  func isByStranger(_ failure: SyncFailure) -> Bool {
    if case .exchange = occasion { false } else { failure.peer == nil }
  }

  private static func warning(_ message: String, _ hint: String? = nil) -> String {
    Console.errors.wrapped(
      "notes: warning: \(message)\n" + (hint.map { "notes: hint: \($0)\n" } ?? ""))
  }

  /// The addresses as options of 'notes join'.
  private static func addresses(_ hosts: [String], port: UInt16) -> String {
    let options = hosts.map { "--at \(Address(host: $0, port: port))" }
    return options.isEmpty ? "--at HOST:\(port)" : Phrase.list(options, "or")
  }

  private static let adminNeeded =
    "\nIt works while an admin's device is in reach. If 'notes config own-devices true' was not run there, an admin\n"
    + "must answer: 'notes invitations' there shows how. Then try the code again.\n"
    + "'notes invite --mine --hub NAME' makes a link that waits for an admin."

  /// The words for invitations that are open now; there are several only if none is for a known device.
  func words(for all: [OpenInvitation]) -> String {
    guard case .invitation(let guest, let hosts, let needsAdmin) = occasion, let open = all.first
    else { return "" }
    let minutes = TimeText.left(until: open.expires, now: TimeText.now)
    guard let guest else {
      let isOne = all.count == 1
      let commands = all.map { one in
        "  notes join \(terminal.paint(one.code.description, .bold))"
          + (one.person.map { "  for " + Visible.name($0) } ?? "")
      }
      return """
        On \(isOne ? "the other device, run" : "each of the other devices, run one of these"):

        \(commands.joined(separator: "\n"))

        \(isOne ? "The" : "Each") code lets one device join as \(open.role.rawValue). It expires \
        in \(minutes), or after three wrong codes.\(needsAdmin ? Self.adminNeeded : "")
        If \(isOne ? "the other" : "a") device does not find this one, add \(Self.addresses(hosts, port: open.port)).
        Waiting; Ctrl-C cancels the \(isOne ? "invitation" : "invitations").

        """
    }
    return """
      This device invites \(terminal.paint(Visible.name(guest), .bold)) as \(open.role.rawValue) as soon as it \
      reaches that device. Then, on that device, run:

        notes invitations accept

      It expires in \(minutes). Waiting; Ctrl-C cancels the invitation.

      """
  }

  func progress(of event: Event) -> String? {
    switch event {
    case .looking(let names): "Looking for \(Phrase.list(names.map { Visible.name($0) })) ..."
    case .saving(let done, let total): Phrase.work("saving", done, of: total)
    case .progress(let transfer): transfer.words
    default: nil
    }
  }
}

extension SessionResult {
  func text(on terminal: Terminal) -> String {
    "\(terminal.paint(Visible.name(peer.name), .bold)): \(summary)\n" + joins.text(on: terminal)
  }

  /// `received 3 versions, sent 1 version; in sync`.
  private var summary: String {
    let parts = [("received", receivedVersions), ("sent", sentVersions)].filter { $0.1 > 0 }
      .map { $0.0 + " " + Phrase.count($0.1, "version") }
    let moved = parts.isEmpty ? "nothing new" : parts.joined(separator: ", ")
    if tipDifference != nil { return moved + "; merged differently, see 'notes doctor'" }
    return moved + (isInSync ? "; in sync" : "")
  }
}

extension [MergeOutcome] {
  fileprivate func text(on terminal: Terminal) -> String {
    let changes = flatMap(\.changes)
    var table = Table(flexible: 1, indent: "  ")
    let waiting = Set(last?.waiting ?? [])
    table.rows = changes.prefix(20).map { change in
      [
        waiting.contains(change.path) ? Styled("waits", .boldYellow) : change.kind.cell,
        Styled(Visible.name(change.path)),
      ]
    }
    table.rows += flatMap(\.reports).compactMap(\.cells)
    table.rows += flatMap(\.conflicts).map {
      [Styled("conflict", .boldYellow), Styled(Visible.name($0)), Styled("to resolve", .dim)]
    }
    var lines = table.lines(for: terminal)
    if changes.count > 20 {
      lines.insert("  and \(Phrase.count(changes.count - 20, "file")) more", at: 20)
    }
    return lines.map { $0 + "\n" }.joined()
  }
}

extension MergeReport {
  fileprivate var cells: [Styled]? {
    let remark: String
    switch kind {
    case .conflict: return nil
    case .merged(let rules): remark = rules.phrase
    case .keptEdit: remark = "edited by one, deleted by another: kept"
    case .renamed(let former): remark = "renamed from \(Visible.name(former))"
    case .renamedDifferently(let former):
      remark = "renamed differently from \(Visible.name(former)): both names kept"
    case .folderRenamed(let folder):
      remark = "added to a folder that another device renamed to \(Visible.name(folder))"
    case .copied(let original): remark = "kept beside \(Visible.name(original))"
    }
    return [Styled("merged", .cyan), Styled(Visible.name(path)), Styled(remark, .dim)]
  }
}
