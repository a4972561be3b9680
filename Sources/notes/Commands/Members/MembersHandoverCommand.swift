internal import ArgumentParser
internal import Membership
internal import Notebook

struct MembersHandoverCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "handover", abstract: "Make another admin's device the founder.",
    discussion: """
      Nobody can remove the founder's device. Before it is sold, or its owner leaves, hand over on that device. \
      Then the other one is the founder, and this one an admin, whom the new founder can remove. \
      NAME is a person with one admin's device, 'PERSON (DEVICE)', a device, or the beginning of a device ID.

      Examples:
        notes members handover ben
        notes members handover 'anna (laptop)' --yes
      """)

  @Argument(help: "The person or device.", completion: LiveCompletion.members) var name: String

  @Flag(name: [.short, .long], help: "Do not ask.") var yes = false

  @OptionGroup var options: CommonOptions

  func run() throws {
    let change = try MembershipChange(of: name)
    let heir = try change.heir()
    let shown = Visible.name(heir.name)
    guard change.membership.member(ofDevice: change.key.deviceID)?.isFounder == true else {
      throw MembershipError.notTheFounder
    }
    if heir.role != .admin { throw MembershipError.heirRefused(name: heir.name) }
    if !yes {
      try Console.demandConsent(
        to: "handing over",
        """
        \(shown) (device \(heir.deviceID.prefix(8))) will be the founder: nobody can remove it, and it can remove \
        this device.
        This cannot be taken back. Devices with notes 1.0 stay with this device as the founder.
        Hand over?
        """, otherwise: "nothing was changed")
    }
    try change.membership.handOver(to: heir.deviceID, by: change.key)
    options.tell(
      [
        "type": "handed_over", "name": heir.name, "device": heir.deviceID,
        "role": heir.role.rawValue, "state": "member",
      ],
      """
      \(shown) is the founder now. Other devices learn it at their next sync.
      This device is still an admin; \(shown) can remove it.
      """)
  }
}

extension MembershipChange {
  /// The device that can become the founder: if the person has several, the only one that is an admin.
  fileprivate func heir() throws(Failure) -> Member {
    let admins = members.filter { $0.role == .admin }
    let found = members.count == 1 ? members : admins
    guard found.count == 1 else { throw members.ambiguous(members[0].person.name) }
    return found[0]
  }
}
