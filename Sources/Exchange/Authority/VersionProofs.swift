public import Git
internal import History
internal import Membership
public import Notebook

/// What a version's signature says of who made it: notes-security(7), SIGNATURES.
public enum VersionProof: String, Sendable, CaseIterable {
  /// The device that it names has signed it; or, where it names none, some device has.
  case verified
  /// It has no signature.
  case unsigned
  /// Its signature is not that of the device that it names, is over something else, or of another form.
  case wrong
}

/// Looks at the signatures of versions that are here, for whoever shows them.
public final class VersionProofs {
  private let notebook: Notebook
  private var signers: SigningDevices
  /// What is below the first version that each device has signed.
  private var before: [String: Set<ObjectID>] = [:]
  private var known: [ObjectID: VersionProof] = [:]
  private var verified: VerifiedVersions
  /// The devices that were ever members; nil where there is no list of them.
  private lazy var members = try? Set(
    MembershipStore.open(in: notebook.stateFolder).members().map(\.deviceID))

  /// Nothing is read yet.
  public init(in notebook: Notebook) {
    self.notebook = notebook
    signers = SigningDevices(in: notebook, heads: [])
    verified = VerifiedVersions(in: notebook.stateFolder)
  }

  /// Keeps what was verified for the next command.
  public func remember() { verified.save() }

  /// What the signature says.
  public func proof(of commit: Commit) throws -> VersionProof {
    if verified.contains(commit.id) { return .verified }
    if let proof = known[commit.id] { return proof }
    let signed = try JudgedCommit(commit.id, notebook.repository.object(commit.id).data)
    let proof: VersionProof =
      if !signed.hasSignature { .unsigned } else if try signed.isSignedByItsDevice {
        .verified
      } else { .wrong }
    if proof == .verified { verified.insert(commit.id) } else { known[commit.id] = proof }
    return proof
  }

  /// Whether people are to be told that it is not proved who made it: where it names no device, one that
  /// was never a member, or one that had begun to sign.
  public func isUnproved(_ commit: Commit) throws -> Bool {
    let proof = try proof(of: commit)
    if proof == .verified { return false }
    guard proof == .unsigned, let named = commit.deviceID else { return true }
    guard let first = try signers.first(by: named) else {
      return members?.contains(named) == false
    }
    if before[named] == nil {
      before[named] = try Set(notebook.repository.walk(from: [first]).all())
    }
    return before[named]?.contains(commit.id) == false
  }
}
