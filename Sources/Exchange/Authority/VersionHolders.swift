internal import Git
internal import History
internal import Membership
public import Notebook

extension Notebook {
  /// The other members' devices and the hubs, and the versions that each is known to have: those that it showed or was
  /// shown, and the newest that it has signed. A device that is blocked here is not waited for.
  public func versionHolders() throws -> [VersionHolder] {
    let members = try MembershipStore.open(in: MembershipStore.folder(ofNotebookAt: stateFolder))
      .members().filter {
        !$0.isRemoved && !$0.isBlocked && $0.deviceID != identity.device.deviceID
      }
    let newest = try newestVersions(of: Set(members.map(\.deviceID)))
    func shown(_ name: String) throws -> [ObjectID] {
      try repository.references(under: "refs/remotes/\(name)/").map(\.id)
    }
    let devices = try members.map { member in
      VersionHolder(
        name: member.name,
        versions: try shown(member.deviceID) + [newest[member.deviceID]].compactMap { $0?.id })
    }
    return try devices + hubs().map { VersionHolder(name: $0.name, versions: try shown($0.name)) }
  }
}
