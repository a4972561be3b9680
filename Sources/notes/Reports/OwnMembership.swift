internal import Exchange
internal import Git
internal import History
internal import Membership
internal import Notebook
internal import Watch

/// The notices that the other devices grant this one fewer rights than a person may expect.
struct OwnMembership {
  private var member: MemberStatus?
  private var ownName = ""
  /// How many versions made here every other device refuses, because this one is a reader or was removed.
  private(set) var unsent = 0
  /// The notice that another machine uses this device's key; nil if none does.
  private(set) var sharing: KeySharing.Notice?
  /// The notice that an admin started the membership over and this device has not joined again; nil if it has,
  /// or if nobody did.
  private var startedOver: StartedOver?
  /// The invitation by a link or a file to which this device has responded.
  private var asked: AskedAdmission?
  /// The hubs that showed a member another history than this device.
  private(set) var hubs: [HubDifferenceNotice] = []
  /// The claims of the founder's place that this device has seen.
  private(set) var claims: [ClaimNews] = []
  /// The founders' keys that handed the notebook over twice, so that devices have different founders.
  private var twice: [HandedOverTwice] = []

  init() {}

  /// Reads the list of members; if it is unreadable, nothing is reported here: 'notes doctor' has
  /// its own check for that.
  init(of notebook: Notebook) {
    let folder = notebook.stateFolder
    ownName = notebook.identity.device.name
    // These notices are extras: `notes members` and `notes doctor` report unreadable files.
    member = try? MembershipStore.status(
      ofDevice: notebook.identity.device.deviceID, at: folder)
    ownName = member?.name ?? ownName
    startedOver = StartedOver(in: folder, of: notebook.identity.id)
    if member?.role == nil { asked = AskedAdmission(in: folder) }
    sharing = KeySharing(stateFolder: folder).notice(of: notebook.identity.device.deviceID)
    // An unreadable file adds no notice: `notes doctor` reports it.
    hubs = (try? HubDifferenceNotice.all(in: notebook)) ?? []
    claims = (try? ClaimNews.all(in: notebook)) ?? []
    // An unreadable list of members adds no notice either.
    twice = (try? HandedOverTwice.all(in: notebook)) ?? []
    if member?.role == .reader || isRemoved { unsent = (try? notebook.versionsOnlyHere()) ?? 0 }
  }

  /// Whether this device was removed, and no request of it to join again is open.
  var isRemoved: Bool { member?.isRemoved == true && asked?.isOpen != true }

  /// The role as a word in JSON: `removed`, `guest`, or the member's role.
  var word: String? { isRemoved ? "removed" : isGuest ? "guest" : member?.role?.rawValue }

  /// Whether this device has a clone and may become a member: it was never one, or it has asked again.
  private var isGuest: Bool { member.map { $0.role == nil } ?? false && !isRemoved }

  /// The message that changes stay here, because this device has not joined yet; nil if it has.
  var guestMessage: String? {
    guard isGuest else { return nil }
    let again = member?.isRemoved == true ? " again" : ""
    let deed = asked == nil ? "" : "has asked to join\(again), and "
    return "this device \(deed)is not a member yet: your changes stay here"
  }

  /// Whether this device has asked to join and is not a member yet.
  var hasAsked: Bool { isGuest && asked != nil }

  /// The reason why nobody will answer this device's request; nil if an admin's device may.
  var end: AskedAdmission.End? { isGuest ? asked?.end : nil }

  /// The advice how this device can join.
  var guestAdvice: String {
    guard let asked else { return Self.guestRemedy }
    if let end = asked.end { return end.words }
    if asked.expires <= TimeText.now {
      let deed =
        switch asked.place {
        case .hub: "'notes sync' or 'notes watch' here"
        case .file: "'notes bundle apply ANSWER' here"
        }
      return
        "the invitation has expired: if an admin's device answered before, \(deed) makes this device a "
        + "member; if not, ask for another invitation"
    }
    let time = TimeText.left(until: asked.expires, now: TimeText.now)
    return switch asked.place {
    case .hub where asked.needsLeave:
      "an admin must answer within \(time): on an admin's device, run 'notes sync', then 'notes "
        + "invitations'; then 'notes sync' or 'notes watch' here makes this device a member"
    case .hub(let name):
      "an admin's device answers at its next visit to \(Visible.name(name)), within \(time); "
        + "then 'notes sync' or 'notes watch' here makes this device a member"
    case .file(let path):
      "send \(Visible.name(path)) to an admin, who answers it within \(time) by 'notes invitations "
        + "answer FILE'; then 'notes bundle apply ANSWER' here makes this device a member"
    }
  }

  static let guestRemedy =
    "to join, run 'notes invite' on an admin's device, and 'notes join CODE' here"

  var adminNames: [String] { (member?.admins ?? []).map { Visible.name($0) } }

  /// The names that several members share.
  var sharedNames: SharedNames { SharedNames(member) }

  private var admins: String {
    let names = adminNames
    return names.isEmpty ? "an admin" : Phrase.list(names, "or")
  }

  /// The message that the membership was started over on another device; nil if it was not.
  var startedOverMessage: String? {
    startedOver.map { "the notebook's membership was started over by \(Visible.name($0.admin))" }
  }

  /// The advice how this device can join the new membership.
  var startedOverRemedy: String {
    "run 'notes invite' on \(Visible.name(startedOver?.admin ?? "")), then 'notes join CODE' here; "
      + "the notes here stay"
  }

  /// The message that this device's versions stay here; nil if they do not.
  var readerMessage: String? {
    unsent == 0 || isRemoved
      ? nil
      : "\(Phrase.count(unsent, "version")) made here \(unsent == 1 ? "stays" : "stay") here, "
        + "because this device is a reader"
  }

  var readerRemedy: String {
    "\(admins) can make it a writer: 'notes members role \(Visible.word(ownName)) writer'"
  }

  /// The message that this device was removed; nil if it was not.
  var removalMessage: String? {
    guard isRemoved else { return nil }
    return "this device was removed from the notebook"
      + (unsent == 0
        ? ""
        : "; as far as is known, \(Phrase.count(unsent, "version")) here "
          + "\(unsent == 1 ? "is" : "are") on no other device")
  }

  var removalRemedy: String { "\(admins) can invite it again; the notes here stay" }

  /// The message that another machine uses this device's key: the device `witness` has connected to both, or
  /// this machine has connected to the other one.
  static func keyMessage(_ witness: String?) -> String {
    "another machine uses this device's key"
      + (witness.map { "; \(Visible.name($0)) connected to both" } ?? "")
  }

  static let keyRemedy = "'notes device renew' makes a new key for this machine"

  /// The message that members are nearby, and serve another notebook than this one.
  static func elsewhereMessage(_ names: [String]) -> String {
    "\(Phrase.list(names)) \(names.count == 1 ? "serves" : "serve") another notebook"
  }

  static let elsewhereRemedy =
    "if an admin has started the membership over, run 'notes invite' on that admin's device and "
    + "'notes join CODE' here"

  /// The command with which an admin certifies this device's new key.
  var certifying: String { "'notes members certify \(Visible.word(ownName))' on \(admins)" }

  private var keyMessage: String? { sharing.map { Self.keyMessage($0.witness) } }

  private typealias Line = (message: String, remedy: String)

  /// The reasons why this device is not a member.
  private var reasonsOfAbsence: [Line] {
    [
      (removalMessage, removalRemedy), (startedOverMessage, startedOverRemedy),
      (guestMessage, guestAdvice),
    ].compactMap { message, remedy in message.map { ($0, remedy) } }
  }

  private var lines: [Line] {
    reasonsOfAbsence
      + [(readerMessage, readerRemedy), (keyMessage, Self.keyRemedy)]
      .compactMap { message, remedy in message.map { ($0, remedy) } }
      + hubs.map { ($0.message, HubDifferenceNotice.remedy) }
      + twice.map { ($0.message, $0.remedy) }
      + claims.compactMap { ClaimNotice($0) }.filter { $0.isOpen || $0.isContested }
      .map { ($0.message, $0.remedy) }
  }

  /// The messages for people, a line for each.
  var text: String { Self.text(of: lines) }

  /// The messages that this device is not a member.
  var textOfAbsence: String { Self.text(of: reasonsOfAbsence) }

  private static func text(of lines: [Line]) -> String {
    lines.map { "\($0.prefix(1).uppercased())\($0.dropFirst());\n  \($1)\n" }.joined()
  }

  /// Writes the messages as a warning on standard error.
  func warn() {
    for (message, remedy) in lines {
      Output.errors.write(
        Console.errors.wrapped("notes: warning: \(message)\nnotes: hint: \(remedy)\n"))
      Output.errors.flush()
    }
  }
}

extension AskedAdmission.End {
  /// The reason, and what to do.
  fileprivate var words: String {
    switch self {
    case .cancelled: "the invitation was cancelled: ask for another one"
    case .used: "another device has used the invitation: ask for another one"
    case .shared:
      "several devices ask by this invitation, so none of them is let in: ask for another one"
    case .missing: "the hub no longer has the invitation: ask for another one"
    case .void: "the inviter may no longer invite this device: ask an admin for another invitation"
    case .expired: "the invitation has expired: ask for another one"
    }
  }
}

extension Notebook {
  /// How many versions by people are here and, as far as is known, on no other device.
  fileprivate func versionsOnlyHere() throws -> Int {
    guard let tip = try repository.head().commit else { return 0 }
    let known = try repository.references(under: "refs/remotes/").map(\.id)
    return try versionCount(from: [tip], lacking: known)
  }
}

/// Tells a person who starts a watcher, and later one who edits notes, that the changes stay here: once for each
/// notebook, and again when nobody will answer the device's request any more. A person at a terminal is also told of
/// another role.
final class MembershipNotice {
  private let notebooks: [Notebook]
  private var told: Set<String> = []
  private var ends: [String: AskedAdmission.End] = [:]

  private let tellsRole: Bool

  init(_ notebooks: [Notebook], tellsRole: Bool) {
    (self.notebooks, self.tellsRole) = (notebooks, tellsRole)
    for notebook in notebooks {
      tell(of: notebook)
      tellRole(in: notebook)
    }
  }

  func tell(of event: Event) {
    if case .membersChanged(let id) = event,
      let notebook = notebooks.first(where: { $0.identity.id == id })
    {
      let end = OwnMembership(of: notebook).end
      if let end, end != ends[id] { tell(of: notebook) }
      return tellRole(in: notebook)
    }
    guard case .version(let id, _) = event, !told.contains(id),
      let notebook = notebooks.first(where: { $0.identity.id == id })
    else { return }
    tell(of: notebook)
  }

  private func tellRole(in notebook: Notebook) {
    guard tellsRole, let news = RoleNews.take(of: notebook) else { return }
    Output.standard.tell(Console.output.wrapped(news.text))
    Output.standard.flush()
  }

  private func tell(of notebook: Notebook) {
    let standing = OwnMembership(of: notebook)
    if standing.text.isEmpty { return }
    told.insert(notebook.identity.id)
    ends[notebook.identity.id] = standing.end
    standing.warn()
  }
}
