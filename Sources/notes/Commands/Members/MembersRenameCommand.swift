internal import ArgumentParser
internal import Membership

struct MembersRenameCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "rename",
    abstract: "Give a device another name.",
    discussion: """
      Lists, reports and conflict markers of other devices show the new name from their next sync \
      on; versions keep the name they were made under. NAME may be the beginning of a device ID.

      Examples:
        notes members rename phone tablet
        notes members rename SZ5P "Ben's phone"
      """)

  @Argument(help: "The device.", completion: LiveCompletion.members)
  var name: String

  @Argument(help: "Its new name.")
  var new: String

  @OptionGroup var options: CommonOptions

  func run() throws {
    let new = try DisplayName.check(new)
    let change = try MembershipChange()
    let member = try change.member(named: name)
    if let other = change.others(than: member).first(where: {
      $0.name.lowercased() == new.lowercased()
    }) {
      throw Failure(
        .failed, "name_taken", "another device is called \(Visible.name(other.name)) already",
        hint: "choose a name that tells them apart")
    }
    if member.name != new {
      try change.check(on: member)
      try change.membership.reissue(device: member.deviceID, name: new, by: change.key)
      try change.adopt(name: new, of: member)
    }
    change.report(
      "renamed", on: member.deviceID, options,
      "\(Visible.name(member.name)) is now called \(Visible.name(new)). "
        + "Other devices learn it at their next sync.")
  }
}
