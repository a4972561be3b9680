internal import ArgumentParser
internal import History
internal import Membership
internal import Notebook

struct MembersResetCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "reset",
    abstract: "Begin the membership anew, with this device as its founder.",
    discussion: """
      For when the founder's device was stolen, or no admin is left. This device makes a new root \
      and is its only member; the notes and their history stay. The other devices join again: \
      'notes invite' here, 'notes join CODE' in their notebook's folder. Until then they go on \
      with the old membership among themselves, the stolen device included.

      Examples:
        notes members reset
        notes members reset --yes
      """)

  @Flag(name: [.short, .long], help: "Do not ask.")
  var yes = false

  @OptionGroup var options: CommonOptions

  func run() throws {
    let change = try MembershipChange()
    let others = change.membership.members().filter {
      !$0.isRemoved && $0.deviceID != change.key.deviceID
    }
    if !yes {
      try Console.demandConsent(
        to: "beginning anew",
        """
        This device will be the only member of the notebook. \
        \(Phrase.count(others.count, "other device")) will have to join again
        by a code each. Notes and history stay as they are, here and there.
        Begin anew?
        """, otherwise: "nothing was changed")
    }
    let identity = change.notebook.identity
    let membership = try MembershipStore.renew(
      in: change.notebook.stateFolder + "/membership", deviceName: identity.device.name,
      key: change.key)
    _ = try Notebook.adopt(
      at: change.notebook.folder,
      as: NotebookIdentity(
        id: membership.notebookID, name: identity.name, device: identity.device))
    let names = others.prefix(5).map { Visible.name($0.name) }
    options.tell(
      [
        "type": "reset", "notebook": membership.notebookID, "formerly": identity.id,
        "device": change.key.deviceID,
      ],
      "This device is the founder and the only member now."
        + (names.isEmpty
          ? ""
          : "\nTo join again, \(Phrase.list(names)): 'notes invite' here, 'notes join CODE' in the "
            + "notebook's folder there."))
  }
}
