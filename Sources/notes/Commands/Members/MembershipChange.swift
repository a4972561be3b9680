internal import Membership
internal import Notebook
internal import Sync

/// What the commands that change the membership share: the notebook at hand, this device's key, and
/// the member that a name means.
struct MembershipChange {
  let membership: MembershipStore
  let key: DeviceKey
  let notebook: Notebook

  init() throws {
    notebook = try Place.notebook()
    let context = try OwnDevice.context(in: notebook)
    key = context.key
    membership = context.membership
  }

  /// The member called so, or whose device ID begins so (four characters or more). A device that
  /// was removed is told apart from one that never was a member.
  func member(named name: String) throws(Failure) -> Member {
    let everybody = membership.members()
    let present = everybody.filter { !$0.isRemoved }
    let matches = Self.matches(name, among: present)
    if matches.count > 1 {
      let choices = matches.prefix(5).map { "\($0.deviceID.prefix(8)) (\($0.role.rawValue))" }
      throw Failure(
        .failed, "ambiguous_member", "several devices match '\(Visible.name(name))'",
        hint: "write the beginning of a device ID: \(Counted.list(choices))")
    }
    if let member = matches.first { return member }
    if let removed = Self.matches(name, among: everybody).first {
      throw Failure(
        .failed, "already_removed", "\(Visible.name(removed.name)) has been removed already",
        hint: "'notes invite' lets it join again")
    }
    let nearest = Similarity.nearest(to: name, among: present.map(\.name))
    throw Failure(
      .failed, "no_such_member", "no member is called '\(Visible.name(name))'",
      hint: nearest.map { "did you mean '\(Visible.name($0))'?" } ?? "'notes members' lists them")
  }

  private static func matches(_ name: String, among members: [Member]) -> [Member] {
    let exact = members.filter { $0.name == name }
    if !exact.isEmpty { return exact }
    let folded = name.lowercased()
    return members.filter {
      $0.name.lowercased() == folded
        || (folded.utf8.count >= 4 && $0.deviceID.lowercased().hasPrefix(folded))
    }
  }

  /// The members besides this one.
  func others(than member: Member) -> [Member] {
    membership.members().filter { !$0.isRemoved && $0.deviceID != member.deviceID }
  }

  /// That this device may change that member: asked before a person is asked anything. The
  /// membership itself refuses once more.
  func check(on member: Member) throws {
    guard membership.role(ofDevice: key.deviceID) == .admin else {
      let admins = membership.members().filter { !$0.isRemoved && $0.role == .admin }
      throw Failure(
        .failed, "not_an_admin", "only an admin of the notebook may do this",
        hint: admins.isEmpty
          ? "this device knows of no admin any more"
          : "do it on \(Counted.list(admins.map { Visible.name($0.name) }))")
    }
    if member.isFounder, member.deviceID != key.deviceID {
      throw MembershipError.founderIsPermanent
    }
  }

  /// Versions made here carry a new name of this device from now on.
  func adopt(name: String, of member: Member) throws {
    if member.deviceID == key.deviceID { try notebook.rename(device: name) }
  }

  /// Tells what was done: for people, or the member as it is now for programs.
  func report(_ type: String, on deviceID: String, json: Bool, _ text: String) {
    guard json else { return Output.standard.line(text) }
    guard let member = membership.members().first(where: { $0.deviceID == deviceID }) else {
      return
    }
    Output.standard.event([
      "type": .string(type), "name": .string(member.name), "device": .string(member.deviceID),
      "role": .string(member.role.rawValue),
      "state": .string(member.isRemoved ? "removed" : member.isBlocked ? "blocked" : "member"),
    ])
  }
}
