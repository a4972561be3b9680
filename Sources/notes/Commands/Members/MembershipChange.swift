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

  /// The member that a name means.
  func member(named name: String) throws(Failure) -> Member {
    try MemberName(name).member(among: membership.members())
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
