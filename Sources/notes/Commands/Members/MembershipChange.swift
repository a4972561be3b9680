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
    notebook = try NotebookLocator.notebook()
    let context = try notebook.sessionContext()
    key = context.key
    membership = context.membership
  }

  func member(named name: String) throws(Failure) -> Member {
    try MemberName(name).member(among: membership.members())
  }

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
          : "do it on \(Phrase.list(admins.map { Visible.name($0.name) }))")
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
  func report(_ type: String, on deviceID: String, _ options: CommonOptions, _ text: String) {
    guard let member = membership.members().first(where: { $0.deviceID == deviceID }) else {
      return
    }
    options.tell(
      [
        "type": type, "name": member.name, "device": member.deviceID, "role": member.role.rawValue,
        "state": member.isRemoved ? "removed" : member.isBlocked ? "blocked" : "member",
      ], text)
  }
}
