internal import ArgumentParser
internal import Exchange
internal import Membership
internal import Notebook

struct MembersHandoverCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "handover",
    abstract: "Make another admin's device the founder, or claim the place of a lost one.",
    discussion: """
      Nobody can remove the founder's device. Before it is sold, or its owner leaves, hand over on that device. \
      Then the other one is the founder, and this one an admin, whom the new founder can remove. \
      NAME is a person with one admin's device, 'PERSON (DEVICE)', a device, or the beginning of a device ID.

      If the founder's device is lost, an admin's device claims its place: run the command there, and name the lost device. \
      Every device accepts the claim after 14 days on which it reaches another device or a hub. Until then, --stop \
      stops it on the founder's device, and on that of another admin whom the founder certified.

      Examples:
        notes members handover ben
        notes members handover 'anna (laptop)' --yes
        notes members handover --stop
      """)

  @Argument(help: "The person or device.", completion: LiveCompletion.members) var name: String?

  @Flag(help: "Stop the claims of admins on the founder's place.") var stop = false

  @Flag(name: [.short, .long], help: "Do not ask.") var yes = false

  @OptionGroup var options: CommonOptions

  func validate() throws {
    if (name == nil) != stop { throw ValidationError("Name a device, or give --stop.") }
  }

  func run() throws {
    guard let name else { return try stopClaims() }
    let change = try MembershipChange(of: name)
    let own = change.membership.member(ofDevice: change.key.deviceID)
    guard own?.isFounder == true else {
      // People name the lost device, or the one that claims its place.
      let isClaim = change.members.contains { $0.isFounder || $0.deviceID == own?.deviceID }
      guard let own, isClaim else { throw MembershipError.notTheFounder }
      return try claim(change, as: own)
    }
    let heir = try change.heir()
    let shown = Visible.name(heir.name)
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
    change.context.recordKnownRole()
    options.tell(
      [
        "type": "handed_over", "name": heir.name, "device": heir.deviceID,
        "role": heir.role.rawValue, "state": "member",
      ],
      """
      \(shown) is the founder now. Other devices learn it at their next sync.
      This device is still an admin; \(shown) can remove it.
      """)
    try change.context.visitHubs(options)
  }
}

extension MembersHandoverCommand {
  /// Claims the founder's place for this device.
  private func claim(_ change: MembershipChange, as own: Member) throws {
    let membership = change.membership
    if own.role != .admin { throw MembershipError.notAnAdmin(device: own.deviceID) }
    let founder = Visible.name(
      membership.members().first(where: \.isFounder)?.name ?? "the founder")
    let days = MembershipStore.claimWait
    if !yes {
      try Console.demandConsent(
        to: "claiming the founder's place",
        """
        Claim the place of \(founder) only if that device is lost. All devices will be told.
        Each accepts the claim after \(days) days on which it reaches another device or a hub, unless \(founder) or \
        another admin whom \(founder) certified stops it. Then nobody can remove this device, and it can remove \(founder).
        Claim it?
        """, otherwise: "nothing was changed")
    }
    try membership.claim(by: change.key)
    options.tell(
      [
        "type": "claimed", "name": own.name, "device": own.deviceID, "role": own.role.rawValue,
        "state": "member", "days": days,
      ],
      """
      This device claims the founder's place. Other devices learn it at their next sync.
      Each accepts the claim after \(days) days on which it reaches another device or a hub.
      'notes members' shows how many days are left on this device.
      """)
    try change.context.visitHubs(options)
  }

  private func stopClaims() throws {
    let context = try NotebookLocator.notebook().sessionContext()
    let stopped = try context.membership.stopClaims(by: context.key)
    guard !stopped.isEmpty else {
      throw Failure(
        .failed, "no_claim", "no claim of the founder's place is open",
        hint: "'notes members' shows the founder")
    }
    let lines = stopped.map { member in
      [
        "type": "claim_stopped", "name": member.name, "device": member.deviceID,
        "role": member.role.rawValue, "state": member.isRemoved ? "removed" : "member",
      ] as JSON
    }
    options.write(lines) { _ in
      "Stopped the claim of \(Phrase.list(stopped.map { Visible.name($0.name) })). "
        + "Other devices learn it at their next sync.\n"
    }
    try context.visitHubs(options)
  }
}

extension MembershipChange {
  /// The device that can become the founder; if the person has several, the only other one that is an admin's.
  fileprivate func heir() throws -> Member {
    if members.count == 1 { return members[0] }
    let admins = members.filter { $0.role == .admin && $0.deviceID != key.deviceID }
    if admins.isEmpty { throw MembershipError.heirRefused(name: members[0].person.name) }
    guard admins.count == 1 else { throw admins.ambiguous(members[0].person.name) }
    return admins[0]
  }
}
