internal import Exchange
internal import Git
internal import History
internal import Membership
internal import Notebook

/// The rights that the other devices give this one, if they are fewer than a person may think.
struct OwnMembership {
  private var member: MemberStatus?
  private var ownName = ""
  /// How many versions made here no other device takes, because this one is a reader.
  private(set) var unsent = 0
  /// That another machine uses this device's key, if one does.
  private(set) var sharing: KeySharing.Notice?
  /// That an admin started the membership over, where this device has not joined again.
  private var startedOver: StartedOver?
  /// The invitation by a link or a file that this device has answered.
  private var asked: AskedAdmission?
  /// The hubs that showed a member something else than this device.
  private(set) var hubs: [HubDifferenceNotice] = []

  init() {}

  /// An unreadable list of members is left out: 'notes doctor' has a check of its own for that.
  init(of notebook: Notebook) {
    let folder = notebook.stateFolder
    ownName = notebook.identity.device.name
    // Notices beside what was asked: `notes members` and `notes doctor` tell what cannot be read.
    member = try? MembershipStore.status(
      ofDevice: notebook.identity.device.deviceID, at: folder)
    startedOver = StartedOver(in: folder, of: notebook.identity.id)
    if isGuest { asked = AskedAdmission(in: folder) }
    sharing = KeySharing(stateFolder: folder).notice(of: notebook.identity.device.deviceID)
    // The same.
    hubs = (try? HubDifferenceNotice.all(in: notebook)) ?? []
    if member?.role == .reader { unsent = (try? notebook.versionsOnlyHere()) ?? 0 }
  }

  var isRemoved: Bool { member?.isRemoved == true }

  /// As programs are told.
  var word: String? { isRemoved ? "removed" : isGuest ? "guest" : member?.role?.rawValue }

  /// Whether this device has a clone and was never a member.
  private var isGuest: Bool { member.map { $0.role == nil && !$0.isRemoved } ?? false }

  /// That what is written stays here, where this device is no member yet.
  var guestMessage: String? {
    isGuest
      ? "this device \(asked == nil ? "" : "has asked to join, and ")is not a member yet: what is "
        + "written on it stays here" : nil
  }

  /// How this device becomes a member.
  private var guestAdvice: String {
    guard let asked else { return Self.guestRemedy }
    if asked.expires <= TimeText.now { return "the invitation has ended: ask for another one" }
    let time = TimeText.left(until: asked.expires, now: TimeText.now)
    return switch asked.place {
    case .hub(let name):
      "a device of an admin lets it in at its next visit to \(Visible.name(name)), within \(time); "
        + "then 'notes sync' here makes it one"
    case .file(let path):
      "send \(Visible.name(path)) to an admin, who answers it within \(time) by "
        + "'notes invitations answer FILE'; then 'notes bundle apply ANSWER' here makes it one"
    }
  }

  static let guestRemedy =
    "'notes invite' on a member's device shows a code; 'notes join CODE' here takes it"

  var adminNames: [String] { (member?.admins ?? []).map { Visible.name($0) } }

  /// The names that several members have.
  var sharedNames: SharedNames { SharedNames(member) }

  private var admins: String {
    let names = adminNames
    return names.isEmpty ? "an admin" : Phrase.list(names, "or")
  }

  /// That the membership was started over elsewhere, if it was.
  var startedOverMessage: String? {
    startedOver.map { "the notebook's membership was started over by \(Visible.name($0.admin))" }
  }

  /// How this device joins the new membership.
  var startedOverRemedy: String {
    "the notes here stay; to join again: 'notes invite' on "
      + "\(Visible.name(startedOver?.admin ?? "")), 'notes join CODE' here"
  }

  /// That versions stay here, if they do.
  var readerMessage: String? {
    unsent == 0
      ? nil
      : "\(Phrase.count(unsent, "version")) made here \(unsent == 1 ? "stays" : "stay") here, "
        + "because this device is a reader"
  }

  var readerRemedy: String {
    "\(admins) can make it a writer: 'notes members role \(Visible.word(ownName)) writer'"
  }

  /// That this device was removed, if it was.
  var removalMessage: String? { isRemoved ? "this device was removed from the notebook" : nil }

  var removalRemedy: String { "the notes here stay; \(admins) can invite it again" }

  /// That another machine uses this device's key: a device of that name met both, or this one met it.
  static func keyMessage(_ witness: String?) -> String {
    "another machine uses this device's key"
      + (witness.map { "; \(Visible.name($0)) met both" } ?? "")
  }

  static let keyRemedy = "'notes device renew' gives this one a key of its own"

  /// That members are near, and serve another notebook than this one.
  static func elsewhereMessage(_ names: [String]) -> String {
    "\(Phrase.list(names)) \(names.count == 1 ? "serves" : "serve") another notebook"
  }

  static let elsewhereRemedy =
    "if the members of this one were reset, join again: 'notes invite' there, 'notes join CODE' here"

  /// How an admin certifies this device's new key.
  var certifying: String { "'notes members certify \(Visible.word(ownName))' on \(admins)" }

  private var keyMessage: String? { sharing.map { Self.keyMessage($0.witness) } }

  private var lines: [(message: String, remedy: String)] {
    [
      (removalMessage, removalRemedy), (startedOverMessage, startedOverRemedy),
      (guestMessage, guestAdvice),
      (readerMessage, readerRemedy), (keyMessage, Self.keyRemedy),
    ].compactMap { message, remedy in message.map { ($0, remedy) } }
      + hubs.map { ($0.message, HubDifferenceNotice.remedy) }
  }

  /// A line of each, for people.
  var text: String {
    lines.map { "\($0.prefix(1).uppercased())\($0.dropFirst());\n  \($1)\n" }.joined()
  }

  /// As a warning on standard error.
  func warn() {
    for (message, remedy) in lines {
      Output.errors.write(
        Console.errors.wrapped("notes: warning: \(message)\nnotes: hint: \(remedy)\n"))
      Output.errors.flush()
    }
  }
}

extension Notebook {
  /// How many versions that somebody made are here and, as far as is known, on no other device.
  fileprivate func versionsOnlyHere() throws -> Int {
    guard let tip = try repository.head().commit else { return 0 }
    let known = try repository.references(under: "refs/remotes/").map(\.id)
    return try versionCount(from: [tip], lacking: known)
  }
}

/// Tells whoever starts a watcher, and then whoever writes, that what is written stays here: once for
/// a notebook.
final class MembershipNotice {
  private let notebooks: [Notebook]
  private var told: Set<String> = []

  init(_ notebooks: [Notebook]) {
    self.notebooks = notebooks
    for notebook in notebooks { tell(of: notebook) }
  }

  func tell(of event: Event) {
    guard case .version(let id, _) = event, !told.contains(id),
      let notebook = notebooks.first(where: { $0.identity.id == id })
    else { return }
    tell(of: notebook)
  }

  private func tell(of notebook: Notebook) {
    let standing = OwnMembership(of: notebook)
    if standing.text.isEmpty { return }
    told.insert(notebook.identity.id)
    standing.warn()
  }
}
