internal import Exchange
internal import History
internal import Membership
internal import Notebook

/// The news that this device got another role: notes-members(1), `role`. Only one command tells it.
struct RoleNews {
  /// For people; lower case, no full stop.
  let message: String
  let remedy: String

  /// The message as a sentence, and what to do, a line each.
  var text: String {
    "\(message.prefix(1).uppercased())\(message.dropFirst());\n  \(remedy)\n"
  }

  /// Takes the news, so that no later command tells it; nil if there is none.
  static func take(of notebook: Notebook) -> RoleNews? {
    // `notes members` and `notes doctor` report an unreadable list.
    let status = try? MembershipStore.status(
      ofDevice: notebook.identity.device.deviceID, at: notebook.stateFolder)
    guard let status, let role = status.role,
      let change = ToldRole(in: notebook.stateFolder).record(status)
    else { return nil }
    let name = Visible.name(notebook.identity.name)
    if change == .formerFounder {
      return RoleNews(
        message: "this device is no longer the founder of \(name), and is \(role.withArticle)",
        remedy: "'notes members' shows the founder")
    }
    // `notes members` reports an unreadable record.
    let isByClaim = ((try? ClaimNews.all(in: notebook)) ?? []).contains {
      $0.isOwn && $0.isAccepted
    }
    let by =
      status.isFounder && isByClaim
      ? ", by its claim" : status.issuer.map { ", by " + Visible.name($0) } ?? ""
    if status.isFounder {
      return RoleNews(
        message: "this device is the founder of \(name) now\(by)",
        remedy: "nobody can remove it; before it is sold: 'notes members handover NAME'")
    }
    let remedy =
      switch role {
      case .admin: "it can invite and remove devices: 'notes invite', 'notes members'"
      case .writer: "its changes go to the other devices"
      case .reader: "it receives changes; its own stay on it"
      }
    return RoleNews(
      message: "this device is \(role.withArticle) of \(name) now\(by)", remedy: remedy)
  }
}
