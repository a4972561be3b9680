internal import ArgumentParser
internal import Exchange
internal import History
internal import Membership
internal import Notebook

struct MembersRemoveCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Remove a person's devices or one device from the notebook.",
    discussion: """
      NAME is a person (all devices), 'PERSON (DEVICE)', a device, or the beginning of a device ID. \
      This device stops exchanging with the removed device now, every other device as soon as it \
      learns of the removal, at its next sync with a device that knows. The removed device keeps \
      all that it has received: no removal can take back notes.

      If you remove an admin's device, the devices that it invited stay members. The command lists them; \
      --with-invited also removes them.

      Examples:
        notes members remove anna
        notes members remove 'anna (old laptop)'
        notes members remove SZ5P --with-invited --yes
      """)

  @Argument(help: "The person or device.", completion: LiveCompletion.members) var name: String

  @Flag(
    help:
      "Also remove the devices that NAME invited, let in or made admins, directly or through other devices."
  )
  var withInvited =
    false

  @Flag(name: [.short, .long], help: "Do not ask.") var yes = false

  @OptionGroup var options: CommonOptions

  func run() throws {
    let change = try MembershipChange(of: name)
    try change.check()
    try change.membership.demandRemovable(change.members.map(\.deviceID), by: change.key)
    let isOne = change.members.count == 1
    let invited = try InvitedMembers(by: change)
    if !yes {
      try Console.demandConsent(
        to: "removing \(change.shown)",
        """
        \(Phrase.list(change.members.map { Self.words(for: $0, change) })) \(isOne ? "stops" : "stop") \
        exchanging notes as soon as the devices \(isOne ? "it meets" : "they meet") learn of the removal.
        \(isOne ? "It keeps the notes it has" : "They keep the notes they have") received: those \
        cannot be taken back.
        Remove \(change.shown)?
        """, otherwise: "nothing was removed")
    }
    let all = try withInvited || (!yes && invited.confirmRemoval(byDefault: nil))
    let others = all ? invited.devices : []
    let unreached = try change.context.visitHubs(options)
    try change.membership.remove(
      devices: change.members.map(\.deviceID) + others, by: change.key)
    try change.report(
      "removed", options,
      """
      Removed \(Phrase.list(change.names + (all ? invited.names : []))). \
      Other devices learn it at their next sync.
      \(!isOne || !others.isEmpty ? "They keep the notes they have" : "It keeps the notes it has") \
      received: a removal cannot take them back.
      """
        + hubAccess(change) + unaware(unreached)
        + (all ? "" : invited.staying), more: invited.json(removed: all))
    try change.context.visitHubs(options, besides: unreached)
  }

  /// The reminder to end the removed devices' access to the hubs, which do not know of removals; empty without
  /// hubs.
  private func hubAccess(_ change: MembershipChange) throws -> String {
    let hubs = try change.notebook.hubs().map { Visible.name($0.name) }
    guard !hubs.isEmpty else { return "" }
    return "\nAlso end \(change.members.count == 1 ? "its" : "their") access to "
      + "\(Phrase.list(hubs)): a hub does not know of removals."
  }

  /// The warning that a removed device can still write to these hubs, which this device could not reach; empty if there
  /// are none.
  private func unaware(_ hubs: Set<String>) -> String {
    if hubs.isEmpty { return "" }
    let names = Phrase.list(hubs.sorted().map { Visible.name($0) })
    return
      "\nRun 'notes sync' soon: until this device visits \(names), a removed device may write there, and others "
      + "then refuse what it wrote."
  }

  private static func words(for member: Member, _ change: MembershipChange) -> String {
    "\(change.name(of: member)) (\(member.role.rawValue), device \(member.deviceID.prefix(8)))"
  }
}

struct MembersBlockCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "block", abstract: "Stop exchanging with a device, on this device only.",
    discussion: """
      This device then neither connects to the blocked device nor accepts connections from it. No \
      other device learns of that. The blocked device stays a member: its changes still arrive \
      through other devices. An admin can remove it for everybody: 'notes members remove'. NAME may \
      be the beginning of a device ID.

      Examples:
        notes members block 'old laptop'
        notes members block SZ5P
      """)

  @Argument(help: "The device.", completion: LiveCompletion.members) var name: String

  @OptionGroup var options: CommonOptions

  func run() throws {
    try MembershipChange(of: name).setBlocked(true, options) {
      """
      This device no longer exchanges notes with \($0).
      Its changes still arrive through other devices, until an admin runs 'notes members remove'.
      """
    }
  }
}

struct MembersUnblockCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "unblock", abstract: "Exchange with a blocked device again.",
    discussion: """
      Examples:
        notes members unblock 'old laptop'
      """)

  @Argument(help: "The device.", completion: LiveCompletion.members) var name: String

  @OptionGroup var options: CommonOptions

  func run() throws {
    try MembershipChange(of: name).setBlocked(false, options) {
      "This device exchanges with \($0) again."
    }
  }
}

struct MembersResetCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "reset",
    abstract: "Start the membership over, with this device as founder and only member.",
    discussion: """
      Use it if the founder's device was stolen, or if no admin is left. This device makes a new \
      root and is its only member; the notes and their history stay. The other devices join again: \
      'notes invite' here, 'notes join CODE' in their notebook's folder. Until then they continue \
      with the old membership among themselves, the stolen device included.

      Examples:
        notes members reset
        notes members reset --yes
      """)

  @Flag(name: [.short, .long], help: "Do not ask.") var yes = false

  @OptionGroup var options: CommonOptions

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    let context = try notebook.sessionContext()
    let others = context.membership.members().others(besides: context.key.deviceID)
    if !yes {
      try Console.demandConsent(
        to: "starting over",
        """
        This device will be the only member of the notebook. \
        \(Phrase.count(others.count, "other device")) will have to join again
        by a code each. Notes and history stay as they are, here and there.
        Start over?
        """, otherwise: "nothing was changed")
    }
    let identity = notebook.identity
    let membership = try MembershipStore.renew(
      in: MembershipStore.folder(ofNotebookAt: notebook.stateFolder),
      deviceName: identity.device.name, key: context.key)
    try notebook.become(membership.notebookID, named: identity.name)
    try notebook.keepMembership()
    try notebook.sessionContext().recordKnownRole()
    let names = others.prefix(5).map { Visible.name($0.name) }
    options.tell(
      [
        "type": "reset", "notebook": membership.notebookID, "formerly": identity.id,
        "device": context.key.deviceID,
      ],
      "This device is the founder and the only member now."
        + (names.isEmpty
          ? ""
          : "\nTo let \(Phrase.list(names)) join again, run 'notes invite' here\(names.count == 1 ? "" : " for each"), "
            + "then 'notes join CODE' in the notebook's folder on that device."))
  }
}
