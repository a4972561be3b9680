internal import Git
internal import History
internal import Membership
internal import Merge
internal import Notebook

/// Decides which versions to accept from a hub or bundle, where nobody has authenticated, or from a device:
/// notes-security(7), VERSIONS.
///
/// A version names its whole history by ID, so a member that has signed it vouches for everything below. Only
/// heads are checked; the versions below cost nothing.
struct VersionJudge {
  /// The versions to accept.
  enum Taking {
    /// Versions that a member vouches for.
    case answered
    /// Versions that a member vouches for, and versions that name no member.
    case ofNoMember
    /// Versions that a member vouches for, and versions that name the device with this ID, which sends them.
    case from(deviceID: String)
    case all
  }

  private let membership: MembershipStore
  private let notebook: Notebook
  private let taking: Taking

  private var repository: Repository { notebook.repository }

  /// Reads the content of a commit that has arrived, or is here.
  typealias Reader = (ObjectID) throws -> [UInt8]

  init(_ membership: MembershipStore, _ notebook: Notebook, _ taking: Taking = .answered) {
    (self.membership, self.notebook, self.taking) = (membership, notebook, taking)
  }

  // MARK: Incoming versions

  /// - Throws: `UnansweredVersion` if a head is new and no member vouches for it. A derived merge
  ///   among the heads is replaced by the heads that it merges.
  func check(_ heads: [ObjectID], _ content: Reader) throws {
    // Versions that are already here were made before any removal that arrives together with new versions.
    _ = try FormerWriters(membership.signers(), in: notebook)
    if case .all = taking { return }
    let shown = try repository.head().commit
    let new = try commits(of: heads, content) { try isKnown($0, in: shown) }
    for commit in new where try !isAccepted(commit) {
      throw UnansweredVersion(commit.value, by: member(named: commit.value))
    }
  }

  private func isKnown(_ id: ObjectID, in shown: ObjectID?) throws -> Bool {
    guard let shown, try repository.contains(id) else { return false }
    return try repository.isAncestor(id, of: shown)
  }

  private func isAccepted(_ commit: JudgedCommit) throws -> Bool {
    if try isAnswered(commit) { return true }
    return switch taking {
    case .all: true
    case .answered: false
    case .ofNoMember: namesNoMember(commit)
    case .from(let peer): member(named: commit.value).map { $0.deviceID == peer } ?? true
    }
  }

  /// The commits among these, with each derived merge replaced by its parents: this device computes merges
  /// itself, whatever has arrived.
  private func commits(
    of heads: [ObjectID], _ content: Reader, leavingOut isLeftOut: (ObjectID) throws -> Bool
  ) throws -> [JudgedCommit] {
    var found: [JudgedCommit] = []
    var (pending, seen) = (heads, Set(heads))
    while let id = pending.popLast() {
      if try isLeftOut(id) { continue }
      let commit = try JudgedCommit(id, content(id))
      if DerivedMerge.isDerived(commit.value) {
        pending += commit.value.parents.filter { seen.insert($0).inserted }
      } else {
        found.append(commit)
      }
    }
    return found
  }

  // MARK: Versions that are already here

  /// The occasions on which this device makes a version on top of the present heads.
  enum Occasion {
    /// A session begins: somebody may have made a version of this device again with git, and so without its
    /// signature.
    case greeting
    /// Another device will receive the versions that are here.
    case giving
    /// Another device has refused this device's versions.
    case refused
  }

  /// Makes a version on top of the tip if no member vouches for one of its heads. After a refusal, also makes
  /// one if this device does not yet vouch for the tip.
  ///
  /// - Returns: whether it made one.
  @discardableResult
  func endorseOwn(_ occasion: Occasion = .giving) throws -> Bool {
    let state = try notebook.state()
    let device = notebook.identity.device.deviceID
    guard let tip = state.tip, maySend(device) else { return false }
    let read: Reader = { try repository.object($0).data }
    let isMissing = try commits(of: state.heads, read, leavingOut: { _ in false }).contains {
      let isOwn = $0.value.deviceID == device
      switch occasion {
      case .greeting where !isOwn: return false
      case .refused: return try !isOwn || state.heads.count > 1 || !$0.isSignedByItsDevice
      default: break
      }
      if case .from = taking, member(named: $0.value) == nil { return false }
      return try isMadeAnew($0) || !isAnswered($0)
    }
    return try isMissing && notebook.endorse(tip)
  }

  /// Whether somebody made a device's version again with git. The version made again may lack everything that
  /// the device signed and that others still have.
  private func isMadeAnew(_ commit: JudgedCommit) throws -> Bool {
    try commit.value.deviceID != nil && commit.value.committer.email != commit.value.author.email
      && !commit.isSignedByItsDevice
  }

  // MARK: One version

  /// Whether a member vouches for a version directly: the member signed it and may send versions.
  private func isAnswered(_ commit: JudgedCommit) throws -> Bool {
    guard let signature = commit.signature else { return false }
    let (named, signer) = (commit.value.deviceID, try signature.deviceID)
    guard named == nil || named == signer, maySend(signer) else { return false }
    return try commit.isGood(signature)
  }

  private func namesNoMember(_ commit: JudgedCommit) -> Bool {
    if commit.value.author.email == HubMerge.authorEmail { return false }
    return member(named: commit.value) == nil
  }

  private func member(named commit: Commit) -> Member? {
    commit.deviceID.flatMap { named in membership.members().first { $0.deviceID == named } }
  }

  /// Whether a device is an admin's.
  func isAdmin(_ deviceID: String) -> Bool { membership.role(ofDevice: deviceID) == .admin }

  private func maySend(_ deviceID: String) -> Bool {
    membership.role(ofDevice: deviceID).map { $0 != .reader } ?? false
  }
}

/// A commit with its signature.
struct JudgedCommit {
  let value: Commit
  /// Whether the version has a signature in any form.
  let hasSignature: Bool
  /// A signature in a form that a device makes.
  let signature: VersionSignature?
  private let signed: SignedCommit?

  init(_ id: ObjectID, _ content: [UInt8]) throws {
    self.init(try Commit(parsing: content, id: id), content)
  }

  /// A commit that was read from this content.
  init(_ commit: Commit, _ content: [UInt8]) {
    value = commit
    hasSignature = SignedCommit.isSigned(content)
    signed = hasSignature ? SignedCommit(parsing: content) : nil
    signature = signed.flatMap { VersionSignature(armored: $0.signature) }
  }

  func isGood(_ signature: VersionSignature) throws -> Bool {
    try signed.map { try signature.isGood(over: $0.content) } ?? false
  }

  /// Whether the device that the version names has signed it; if it names none, whether any device has.
  var isSignedByItsDevice: Bool {
    get throws {
      guard let signature, try value.deviceID.map({ try signature.deviceID == $0 }) ?? true
      else { return false }
      return try isGood(signature)
    }
  }
}

/// The error for a version for which no member vouches. Everything that arrived with the version is also
/// refused.
struct UnansweredVersion: Error, CustomStringConvertible {
  let description: String

  init(_ commit: Commit, by member: Member?) {
    let why =
      switch member {
      case nil: "no member has signed it"
      case let member? where member.isRemoved: "its device is no longer a member"
      case .some(let member) where member.role == .reader: "its device is a reader"
      case .some: "its device has not signed it"
      }
    let name = member?.name ?? commit.author.name
    description = "version \(commit.id.hex.prefix(10)) in the name of \(name) is refused: \(why)"
  }
}
