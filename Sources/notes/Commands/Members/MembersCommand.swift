internal import ArgumentParser
internal import Exchange
internal import Membership
internal import Notebook
internal import WorkTree

struct MembersCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "members",
    abstract: "List the devices that may exchange the notebook, change roles, remove devices.",
    discussion: """
      A reader receives, a writer also sends, an admin also invites, changes roles and removes. \
      The list is what this device knows; it is updated at every sync.

      Examples:
        notes members
        notes members --all --json
        notes members role phone reader
        notes members remove 'old laptop'
        notes members rename phone tablet
        notes members certify laptop
        notes members block 'old laptop'
      """,
    subcommands: [
      MembersRoleCommand.self, MembersRemoveCommand.self, MembersRenameCommand.self,
      MembersCertifyCommand.self, MembersBlockCommand.self, MembersUnblockCommand.self,
      MembersResetCommand.self,
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
    commandName: "role", abstract: "Change what a device may do.",
    discussion: """
      The other devices learn it at their next sync, from whichever device they meet. NAME may be \
      the beginning of a device ID.

      Whom an admin's device invited stays when it is an admin no longer, unless --with-invited is \
      given; the command lists them.

      Examples:
        notes members role phone reader
        notes members role ann writer --with-invited
        notes members role SZ5P admin
      """)

  @Argument(help: "The device.", completion: LiveCompletion.members) var name: String

  @Argument(help: "reader, writer or admin.", completion: .roles) var role: String

  @Flag(help: "Also remove the devices an admin's device invited or made admins, and theirs.")
  var withInvited = false

  @Flag(name: [.short, .long], help: "Do not ask.") var yes = false

  @OptionGroup var options: CommonOptions

  func run() throws {
    guard let role = Role(rawValue: role.lowercased()) else {
      throw Failure.usage(
        "there is no role '\(Visible.name(role))'", hint: "use reader, writer or admin")
    }
    let change = try MembershipChange(of: name)
    let shown = Visible.name(change.member.name)
    guard change.member.role != role else {
      return change.report("role", options, "\(shown) is \(role.withArticle) already.")
    }
    try change.check()
    guard change.member.role == .admin else {
      try change.membership.reissue(device: change.member.deviceID, role: role, by: change.key)
      return change.report("role", options, told(shown, role))
    }
    let invited = InvitedMembers(by: change)
    let all = try removes(invited, of: shown)
    try change.membership.reissue(
      device: change.member.deviceID, role: role, removing: all ? invited.devices : [],
      by: change.key)
    change.report(
      "role", options,
      told(shown, role)
        + (all ? "\nRemoved \(Phrase.list(invited.names))." : invited.staying),
      more: invited.json(removed: all))
  }

  private func told(_ shown: String, _ role: Role) -> String {
    "\(shown) is now \(role.withArticle). Other devices learn it at their next sync."
  }

  /// Whether to remove the members whom an admin invited who loses that role.
  private func removes(_ invited: InvitedMembers, of shown: String) throws -> Bool {
    guard withInvited else { return !yes && invited.confirmRemoval(isProposed: false) }
    if !yes, !invited.isEmpty {
      try Console.demandConsent(
        to: "removing whom \(shown) invited",
        "Remove \(Phrase.list(invited.names))? They keep the notes they have received.",
        otherwise: "nothing was changed")
    }
    return !invited.isEmpty
  }
}

struct MembersRenameCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "rename", abstract: "Give a device another name.",
    discussion: """
      Other devices learn the new name at their next sync. Lists, log and blame show it also for versions \
      that the device made before; conflict markers that are there keep the former one. NAME may be the beginning of a device ID.

      Examples:
        notes members rename phone tablet
        notes members rename SZ5P "Ben's phone"
      """)

  @Argument(help: "The device.", completion: LiveCompletion.members) var name: String

  @Argument(help: "Its new name.") var new: String

  @OptionGroup var options: CommonOptions

  func run() throws {
    let new = try DisplayName.check(new)
    let change = try MembershipChange(of: name)
    let member = change.member
    let others = change.membership.members().others(besides: member.deviceID)
    if let other = others.first(where: { $0.name.lowercased() == new.lowercased() }) {
      throw Failure(
        .failed, "name_taken", "another device is called \(Visible.name(other.name)) already",
        hint: "choose a name that no other device has")
    }
    if member.name != new {
      try change.check()
      try change.membership.reissue(device: member.deviceID, name: new, by: change.key)
      // Versions made here have this device's new name from now on.
      if member.deviceID == change.key.deviceID {
        try change.notebook.rename(device: new)
        // The device uses the name in the next notebook, too.
        try UserSettings.set(Setting.deviceName.rawValue, to: new)
      }
    }
    change.report(
      "renamed", options,
      "\(Visible.name(member.name)) is now called \(Visible.name(new)). "
        + "Other devices learn it at their next sync.")
  }
}

/// The current notebook, this device's key, and the member that a name means.
struct MembershipChange {
  let notebook: Notebook
  let membership: MembershipStore
  let key: DeviceKey
  let member: Member

  init(of name: String) throws {
    notebook = try NotebookLocator.notebook()
    let context = try notebook.sessionContext()
    key = context.key
    membership = context.membership
    member = try membership.members().member(named: name)
  }

  /// Called before any question. The membership itself checks this again.
  func check() throws {
    try membership.demandAdmin(key.deviceID)
    if member.isFounder, member.deviceID != key.deviceID {
      throw MembershipError.founderIsPermanent
    }
  }

  func setBlocked(_ blocks: Bool, _ options: CommonOptions, words: (String) -> String) throws {
    try membership.setBlocked(blocks, device: member.deviceID, by: key)
    report(blocks ? "blocked" : "unblocked", options, words(Visible.name(member.name)))
  }

  func report(_ type: String, _ options: CommonOptions, _ text: String, more: JSON = [:]) {
    guard let now = membership.members().first(where: { $0.deviceID == member.deviceID })
    else { return }
    options.tell(
      [
        "type": type, "name": now.name, "device": now.deviceID, "role": now.role.rawValue,
        "state": now.isRemoved ? "removed" : now.isBlocked ? "blocked" : "member",
      ] + more, text)
  }
}

extension MembershipStore {
  /// Throws, and names the admins, if a device is not an admin's.
  func demandAdmin(_ device: String) throws(Failure) {
    if role(ofDevice: device) == .admin { return }
    let admins = members().filter { !$0.isRemoved && $0.role == .admin }
    throw Failure(
      .failed, "not_an_admin", "only an admin of the notebook may do this",
      hint: admins.isEmpty
        ? "this device knows of no admin any more"
        : "do it on \(Phrase.list(admins.map { Visible.name($0.name) }, "or"))")
  }
}

/// Device names on the command line, or beginnings of device IDs.
extension [Member] {
  /// A name with exactly this spelling has priority over one that differs by case.
  func matches(of name: String) -> [Member] {
    let exact = filter { $0.name == name }
    if !exact.isEmpty { return exact }
    let folded = name.lowercased()
    return filter {
      $0.name.lowercased() == folded
        || (folded.utf8.count >= 4 && $0.deviceID.lowercased().hasPrefix(folded))
    }
  }

  func others(besides device: String) -> [Member] {
    filter { !$0.isRemoved && $0.deviceID != device }
  }

  func member(named name: String) throws(Failure) -> Member {
    let found = try members(named: name)
    guard found.count == 1 else {
      let choices = found.prefix(5).map { "\($0.deviceID.prefix(8)) (\($0.role.rawValue))" }
      throw Failure(
        .failed, "ambiguous_member", "several devices match '\(Visible.name(name))'",
        hint: "write the beginning of a device ID: \(Phrase.list(choices))")
    }
    return found[0]
  }

  /// - Parameter own: this device's ID, if the command cannot apply to itself.
  func members(named name: String, besides own: String? = nil) throws(Failure) -> [Member] {
    let others = filter { $0.deviceID != own }
    if others.matches(of: name).isEmpty, !matches(of: name).isEmpty {
      throw Failure(
        .failed, "own_device", "'\(Visible.name(name))' is this device itself",
        hint: "name another one: 'notes members' lists them")
    }
    let present = others.filter { !$0.isRemoved }
    let found = present.matches(of: name)
    if !found.isEmpty { return found }
    if let removed = others.matches(of: name).first {
      throw Failure(
        .failed, "already_removed", "\(Visible.name(removed.name)) has been removed already",
        hint: "'notes invite' lets it join again")
    }
    throw Failure(
      .failed, "no_such_member", "no member is called '\(Visible.name(name))'",
      hint: Failure.guess(name, among: present.map(\.name)) ?? "'notes members' lists them")
  }
}
