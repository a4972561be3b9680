internal import ArgumentParser
internal import Exchange
internal import Membership
internal import Notebook

struct MembersCertifyCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "certify", abstract: "Certify the new key that a device asks for.",
    discussion: """
      If two machines use one key, for instance after a disk was cloned, the other devices take them for \
      one device. 'notes device renew' makes a new key for one of them; after its next sync with this \
      device, 'notes members' shows its request. The machine gets the role of the device, and its name \
      with a number added. NAME may be the beginning of a device ID.

      Examples:
        notes members certify laptop
        notes members certify SZ5P --yes
      """)

  @Argument(help: "The device that asks.", completion: LiveCompletion.members) var name: String

  @Flag(name: [.short, .long], help: "Do not ask.") var yes = false

  @OptionGroup var options: CommonOptions

  func run() throws {
    let change = try MembershipChange(of: name)
    let member = try change.device()
    let shown = Visible.name(member.name)
    try change.check()
    let requests = KeyRequests(stateFolder: change.notebook.stateFolder)
    guard let request = requests.request(of: member, in: change.membership) else {
      throw Failure(
        .failed, "no_request", "\(shown) has not asked for a certificate",
        hint: "run 'notes device renew' there, and 'notes sync' with this device")
    }
    if !yes {
      try Console.demandConsent(
        to: "certifying a key",
        """
        A machine with the key of \(shown) asks for a certificate for a new key, as \
        \(member.role.rawValue):
        device \(request.deviceID)
        'notes device' there shows the same ID, if it is the machine you mean.
        Certify it?
        """, otherwise: "nothing was changed")
    }
    let new = try change.membership.certify(
      request, of: member.deviceID, by: change.key)
    try requests.remove(member)
    options.tell(
      [
        "type": "certified", "name": new.name, "device": new.deviceID, "role": new.role.rawValue,
        "state": "member",
      ],
      "\(Visible.name(new.name)) is now a separate device, \(new.role.withArticle). It receives "
        + "its certificate at its next sync.")
  }
}
