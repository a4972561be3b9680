internal import ArgumentParser
internal import History
internal import Membership
internal import Notebook

struct MembersRenameCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "rename", abstract: "Give a person or a device another name.",
    discussion: """
      NAME is a person, 'PERSON (DEVICE)', a device, or the beginning of a device ID. \
      Other devices learn the new name at their next sync. Lists, log and blame show it also for versions \
      that were made before; existing conflict markers keep the former name.

      Examples:
        notes members rename anna anne
        notes members rename 'anna (phone)' tablet
        notes members rename SZ5P "Ben's phone"
      """)

  @Argument(help: "The person or device.", completion: LiveCompletion.members) var name: String

  @Argument(help: "The new name.") var new: String

  @OptionGroup var options: CommonOptions

  func run() throws {
    let new = try DisplayName.check(new)
    let change = try MembershipChange(of: name)
    let (membership, member) = (change.membership, change.members[0])
    let all = membership.members()
    if let other = change.isPerson
      ? all.others(than: member.person).first(where: { $0.isCalled(new) })
      : all.taking(new, from: member)
    {
      throw Failure(
        .failed, "name_taken", "another device is already called \(Visible.name(other.name))",
        hint: "choose a name that no other device has")
    }
    if (change.isPerson ? member.person.name : member.deviceName) != new {
      try membership.demandAdmin(change.key.deviceID)
      if change.isPerson {
        try membership.rename(person: member.person.id, to: new, by: change.key)
      } else {
        try change.check()
        try membership.reissue(device: member.deviceID, name: new, by: change.key)
      }
      try rename(change)
    }
    let now = membership.member(ofDevice: member.deviceID)?.name ?? new
    change.report(
      "renamed", options,
      "\(change.shown) is now called \(Visible.name(change.isPerson ? new : now)). "
        + "Other devices learn it at their next sync.")
    try change.context.visitHubs(options)
  }

  /// If this device was renamed, uses its new name for the versions made here and in new notebooks.
  private func rename(_ change: MembershipChange) throws {
    guard let own = change.membership.member(ofDevice: change.key.deviceID),
      own.deviceName != change.notebook.identity.device.name
    else { return }
    try change.notebook.rename(device: own.deviceName)
    try UserSettings.set(Setting.deviceName.rawValue, to: own.deviceName)
  }
}
