internal import ArgumentParser
internal import Membership
internal import WorkTree

struct MembersRoleCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "role",
    abstract: "Change what a device may do.",
    discussion: """
      The other devices learn it at their next sync, from whichever device they meet. NAME may be \
      the beginning of a device ID.

      Examples:
        notes members role phone reader
        notes members role SZ5P admin
      """)

  @Argument(help: "The device.", completion: LiveCompletion.members)
  var name: String

  @Argument(help: "reader, writer or admin.", completion: .roles)
  var role: String

  @OptionGroup var options: CommonOptions

  func run() throws {
    guard let role = Role(rawValue: role.lowercased()) else {
      throw Failure.usage(
        "there is no role '\(Visible.name(role))'", hint: "it is reader, writer or admin")
    }
    let change = try MembershipChange()
    let member = try change.member(named: name)
    let isNew = member.role != role
    if isNew {
      try change.check(on: member)
      try change.membership.reissue(device: member.deviceID, role: role, by: change.key)
    }
    let shown = Visible.name(member.name)
    change.report(
      "role", on: member.deviceID, options,
      isNew
        ? "\(shown) is now \(role.withArticle). Other devices learn it at their next sync."
        : "\(shown) is \(role.withArticle) already.")
  }
}

extension Role {
  var withArticle: String { self == .admin ? "an admin" : "a \(rawValue)" }
}
