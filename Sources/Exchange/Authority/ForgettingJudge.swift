internal import Git
internal import History
internal import Membership
internal import Notebook

/// Decides whether a version that records a forgetting counts: notes-security(7), FORGETTING. Only an admin's
/// version counts; the device decides by the members that it knows now.
struct ForgettingJudge {
  private let repository: Repository
  private let members: MembershipStore
  private let obeyed: () throws -> ForgettingVersion?

  /// How many versions on top of a former admin's are searched for one by an admin.
  private static let mostLookedAt = 10_000

  init(_ notebook: Notebook) throws {
    repository = notebook.repository
    obeyed = notebook.history.obeyed
    members = try MembershipStore.open(
      in: MembershipStore.folder(ofNotebookAt: notebook.stateFolder))
  }

  /// Whether an admin signed the version. A former admin's version also counts if an admin has signed a version
  /// on top of it. Otherwise the removal of that admin would divide the devices: some have followed the
  /// version, others never would.
  func counts(_ version: ForgettingVersion, below heads: [ObjectID]) throws -> Bool {
    guard let signer = try signer(of: version.id) else { return false }
    if isAdmin(signer) { return true }
    guard members.wasAdmin(device: signer) else { return false }
    let above = try repository.commits(from: heads, lacking: [version.id]).reversed()
    return try above.prefix(Self.mostLookedAt).contains { id in
      guard let device = try repository.commit(id).deviceID, isAdmin(device),
        try self.signer(of: id) == device
      else { return false }
      return try repository.isAncestor(version.id, of: id)
    }
  }

  /// Whether a received commit lists a forgetting that this history does not obey, and a present admin signed
  /// it. Nothing else of the commit's history need be here.
  func isNews(_ id: ObjectID, _ content: [UInt8]) throws -> Bool {
    let commit = try JudgedCommit(id, content)
    guard let version = ForgettingVersion(commit.value), let device = commit.value.deviceID,
      isAdmin(device),
      try !version.forgettings.isSubset(of: obeyed()?.forgettings ?? [])
    else { return false }
    return try commit.isSignedByItsDevice
  }

  private func isAdmin(_ deviceID: String) -> Bool {
    members.member(ofDevice: deviceID).map { $0.role == .admin && !$0.isBlocked } ?? false
  }

  /// The device that the version names, if it signed the version; otherwise nil.
  private func signer(of id: ObjectID) throws -> String? {
    let commit = try JudgedCommit(id, repository.object(id).data)
    guard let device = commit.value.deviceID, try commit.isSignedByItsDevice else { return nil }
    return device
  }
}
