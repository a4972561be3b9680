internal import Git
internal import History
internal import Membership
internal import Notebook

/// Judges whether a version that says that something was forgotten counts: notes-security(7), FORGETTING. Only an
/// admin's does, by what this device knows of the members now.
struct ForgettingJudge {
  private let repository: Repository
  private let members: MembershipStore

  /// How many versions above one of a former admin are looked at for one of an admin's.
  private static let mostLookedAt = 10_000

  init(_ notebook: Notebook) throws {
    repository = notebook.repository
    members = try MembershipStore.open(
      in: MembershipStore.folder(ofNotebookAt: notebook.stateFolder))
  }

  /// Whether an admin signed it, or somebody who was one once and on whose version an admin has put one of its own:
  /// so a removal does not part those who have followed it from those who have not.
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

  private func isAdmin(_ deviceID: String) -> Bool {
    members.member(ofDevice: deviceID).map { $0.role == .admin && !$0.isBlocked } ?? false
  }

  /// The device that signed a version and that it names; nil if it has no such signature.
  private func signer(of id: ObjectID) throws -> String? {
    let commit = try JudgedCommit(id, repository.object(id).data)
    guard let device = commit.value.deviceID, try commit.isSignedByItsDevice else { return nil }
    return device
  }
}
