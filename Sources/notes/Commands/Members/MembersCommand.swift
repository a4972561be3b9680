internal import ArgumentParser
internal import Exchange
internal import Membership
internal import Notebook
internal import WorkTree

struct MembersCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "members",
    abstract: "List people and their devices, change roles and names, remove them.",
    discussion: """
      NAME is a person, and means all of the person's devices; 'PERSON (DEVICE)' is one of them. \
      A reader receives, a writer also sends, an admin also invites, changes roles and removes. \
      The list is what this device knows; it is updated at every sync.

      Examples:
        notes members
        notes members --all --json
        notes members role anna reader
        notes members remove 'anna (old laptop)'
        notes members rename anna anne
        notes members certify laptop
        notes members handover ben
        notes members block 'old laptop'
      """,
    subcommands: [
      MembersRoleCommand.self, MembersRemoveCommand.self, MembersRenameCommand.self,
      MembersCertifyCommand.self, MembersHandoverCommand.self, MembersBlockCommand.self,
      MembersUnblockCommand.self, MembersResetCommand.self,
    ])

  @Flag(help: "Also devices that were removed.") var all = false

  @OptionGroup var options: CommonOptions

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    let report = try MembersReport(
      members: notebook.membership().members(), includingRemoved: all, of: notebook,
      live: RunningWatcher.status(of: notebook))
    options.write(report.json) { report.text(on: $0, now: TimeText.now) }
  }
}

struct MembersRoleCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "role", abstract: "Change what a person's devices or one device may do.",
    discussion: """
      NAME is a person, whose devices all get the role, 'PERSON (DEVICE)', a device, or the beginning \
      of a device ID. The other devices learn it at their next sync, from whichever device they meet.

      If a device is no longer an admin, the devices that it invited stay members. The command lists them; \
      --with-invited removes them.

      Examples:
        notes members role anna reader
        notes members role 'anna (phone)' writer --with-invited
        notes members role SZ5P admin
      """)

  @Argument(help: "The person or device.", completion: LiveCompletion.members) var name: String

  @Argument(help: "reader, writer or admin.", completion: .roles) var role: String

  @Flag(
    help:
      "Also remove the devices that NAME invited, let in or made admins, directly or through other devices."
  )
  var withInvited = false

  @Flag(name: [.short, .long], help: "Do not ask.") var yes = false

  @OptionGroup var options: CommonOptions

  func run() throws {
    guard let role = Role(rawValue: role.lowercased()) else {
      throw Failure.usage(
        "there is no role '\(Visible.name(role))'", hint: "use reader, writer or admin")
    }
    let change = try MembershipChange(of: name)
    let others = change.members.filter { $0.role != role }
    guard !others.isEmpty else {
      return change.report("role", options, "\(change.shown) is \(role.withArticle) already.")
    }
    try change.check()
    let invited =
      others.contains { $0.role == .admin } ? try InvitedMembers(by: change) : nil
    let all = try invited.map { try removes($0, of: change.shown) } ?? false
    let unreached = try change.context.visitHubs(options)
    try change.membership.reissue(
      devices: others.map(\.deviceID), role: role, removing: all ? invited?.devices ?? [] : [],
      by: change.key)
    let told =
      "\(change.shown) is now \(role.withArticle). Other devices learn it at their next sync."
    let more = invited.map {
      all ? "\nRemoved \(Phrase.list($0.names))." : $0.staying
    }
    change.report("role", options, told + (more ?? ""), more: invited?.json(removed: all) ?? [:])
    try change.context.visitHubs(options, besides: unreached)
  }

  /// Whether to also remove the members that an admin invited, now that the admin loses that role.
  private func removes(_ invited: InvitedMembers, of shown: String) throws -> Bool {
    guard withInvited else { return try !yes && invited.confirmRemoval(byDefault: false) }
    if !yes, !invited.isEmpty {
      try Console.demandConsent(
        to: "removing the members that \(shown) invited",
        "Remove \(Phrase.list(invited.names))? They keep the notes they have received.",
        otherwise: "nothing was changed")
    }
    return !invited.isEmpty
  }
}
