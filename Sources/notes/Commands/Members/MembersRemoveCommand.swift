internal import ArgumentParser
internal import Membership

struct MembersRemoveCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Take a device out of the notebook.",
    discussion: """
      From now on this device exchanges nothing with it, and every other device stops when it \
      learns of the removal, at its next sync with a device that knows. What the device has \
      received stays on it: no removal can take back notes. NAME may be the beginning of a device \
      ID.

      Examples:
        notes members remove 'old laptop'
        notes members remove SZ5P --yes
      """)

  @Argument(help: "The device.", completion: LiveCompletion.members)
  var name: String

  @Flag(name: [.short, .long], help: "Do not ask.")
  var yes = false

  @OptionGroup var options: CommonOptions

  func run() throws {
    let change = try MembershipChange()
    let member = try change.member(named: name)
    try change.check(on: member)
    let shown = Visible.name(member.name)
    if !yes {
      try Console.demandConsent(
        to: "removing \(shown)",
        """
        \(shown) (\(member.role.rawValue), device \(member.deviceID.prefix(8))) will receive and \
        send nothing any more,
        once the devices it meets have learned of this. It keeps the notes it has received: those \
        cannot be taken back.
        Remove \(shown)?
        """, otherwise: "nothing was removed")
    }
    try change.membership.remove(device: member.deviceID, by: change.key)
    change.report(
      "removed", on: member.deviceID, options,
      """
      Removed \(shown). Other devices learn it at their next sync.
      It keeps the notes it has received: a removal cannot take them back.
      """)
  }
}
