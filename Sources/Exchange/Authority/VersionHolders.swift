internal import Git
internal import History
internal import Membership
public import Notebook

extension Notebook {
  /// The other members' devices and the hubs, and the versions that each is known to have: those that it showed or was
  /// shown, and those that it has signed. A device that is blocked here is not waited for.
  public func versionHolders() throws -> [VersionHolder] {
    let members = try MembershipStore.open(in: MembershipStore.folder(ofNotebookAt: stateFolder))
      .members().filter {
        !$0.isRemoved && !$0.isBlocked && $0.deviceID != identity.device.deviceID
      }
    let signed = try signedVersions(of: Set(members.map(\.deviceID)))
    func shown(_ name: String) throws -> [ObjectID] {
      try repository.references(under: "refs/remotes/\(name)/").map(\.id)
    }
    let devices = try members.map { member in
      VersionHolder(
        name: member.name,
        versions: try shown(member.deviceID) + (signed[member.deviceID] ?? []))
    }
    return try devices + hubs().map { VersionHolder(name: $0.name, versions: try shown($0.name)) }
  }

  /// The versions here that each of these devices has signed: whoever signs a version has all on which it is based.
  private func signedVersions(of devices: Set<String>) throws -> [String: [ObjectID]] {
    var found: [String: [ObjectID]] = [:]
    let proofs = VersionProofs(in: self)
    defer { proofs.remember() }
    for id in try repository.commits(from: [state().tip].compactMap(\.self)) {
      let commit = try repository.commit(id)
      if let device = commit.deviceID, devices.contains(device),
        try proofs.author(of: commit).proof == .verified
      {
        found[device, default: []].append(id)
      }
    }
    return found
  }
}
