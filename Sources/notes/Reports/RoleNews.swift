internal import Exchange
internal import History
internal import Membership
internal import Notebook

/// The news that this device got another role, or that another device did or was removed: notes-members(1), `role`. Only
/// one command tells it.
struct RoleNews {
  /// The change of this device's role, and its meaning for people, in lower case without a full stop.
  var own: (message: String, remedy: String)?
  /// The changes of other devices, a sentence each.
  var others: [String] = []

  /// The messages as sentences.
  var text: String {
    let own = own.map { message, remedy in
      "\(message.prefix(1).uppercased())\(message.dropFirst());\n  \(remedy)\n"
    }
    return (own ?? "") + others.map { $0 + "\n" }.joined()
  }

  /// Takes the news, so that no later command tells it; nil if there is none.
  static func take(of notebook: Notebook) -> RoleNews? {
    let device = notebook.identity.device.deviceID
    // `notes members` and `notes doctor` report an unreadable list.
    guard let status = try? MembershipStore.status(ofDevice: device, at: notebook.stateFolder)
    else { return nil }
    let news = ToldRole(in: notebook.stateFolder).record(status)
    // The user of this device already knows its own changes.
    let others = news.others.filter { $0.by != device }
    let founder = news.founder.flatMap { sentence(founder: $0, in: notebook) }
    if news.own == nil, others.isEmpty, founder == nil { return nil }
    return RoleNews(
      own: news.own.flatMap { own($0, status, notebook) },
      others: [founder].compactMap { $0 } + sentences(others, status))
  }

  /// Nil if the device became the founder's by a claim: each session tells that.
  private static func sentence(founder: MemberStatus.Other, in notebook: Notebook) -> String? {
    // `notes members` reports an unreadable record.
    let isByClaim = ((try? ClaimNews.all(in: notebook)) ?? []).contains {
      $0.device == founder.device && $0.isAccepted
    }
    return isByClaim ? nil : "\(Visible.name(founder.name)) is the founder now."
  }

  /// The most devices that a sentence names.
  private static let mostNames = 5

  /// A sentence for what each device did.
  private static func sentences(
    _ others: [MemberStatus.Other], _ status: MemberStatus
  ) -> [String] {
    let names = Dictionary(status.others.map { ($0.device, $0.name) }) { first, _ in first }
    return Dictionary(grouping: others) { [$0.role?.rawValue, $0.by] }.values.map { group in
      let isOne = group.count == 1
      let first = group.prefix(mostNames).map { Visible.name($0.name) }
      let rest = group.count - first.count
      let who = Phrase.list(rest > 0 ? first + ["\(Phrase.number(rest)) more"] : first)
      let by = group[0].by.flatMap { names[$0] }.map { " by \(Visible.name($0))" }
      guard let role = group[0].role else {
        return by.map { "\(who) \(isOne ? "was" : "were") removed\($0)." }
          ?? "\(who) \(isOne ? "is no longer a member" : "are no longer members")."
      }
      let present = isOne ? "is \(role.withArticle)" : "are \(role.rawValue)s"
      return "\(who) \(present) now\(by.map { "," + $0 } ?? "")."
    }.sorted()
  }

  private static func own(
    _ change: ToldRole.Change, _ status: MemberStatus, _ notebook: Notebook
  ) -> (message: String, remedy: String)? {
    guard let role = status.role else { return nil }
    let name = Visible.name(notebook.identity.name)
    if change == .formerFounder {
      return (
        "this device is no longer the founder of \(name), and is \(role.withArticle)",
        "'notes members' shows the founder"
      )
    }
    // `notes members` reports an unreadable record.
    let isByClaim = ((try? ClaimNews.all(in: notebook)) ?? []).contains {
      $0.isOwn && $0.isAccepted
    }
    let by =
      status.isFounder && isByClaim
      ? ", by its claim" : status.issuer.map { ", by " + Visible.name($0) } ?? ""
    if status.isFounder {
      return (
        "this device is the founder of \(name) now\(by)",
        "nobody can remove it; before it is sold: 'notes members handover NAME'"
      )
    }
    let remedy =
      switch role {
      case .admin: "it can invite and remove devices: 'notes invite', 'notes members'"
      case .writer: "its changes go to the other devices"
      case .reader: "it receives changes; its own stay on it"
      }
    return ("this device is \(role.withArticle) of \(name) now\(by)", remedy)
  }
}
