public import Git
public import History
internal import Membership
public import Merge
public import Notebook

/// The author of a version, and the proof: notes-security(7), SIGNATURES.
public struct VersionAuthor: Hashable, Sendable {
  /// The author's name: if a member signed the version, a name in that member's certificate; otherwise the name
  /// that the version claims.
  public let name: String
  /// The name that the version itself contains, with hidden characters made visible.
  public let claim: String
  /// The device's name when it made the version, from a certificate; nil if the device still has that name.
  public let formerName: String?
  /// The device that the version names; nil if it names none.
  public let deviceID: String?
  /// The proof.
  public let proof: VersionProof
  /// Whether people see a remark about a missing proof. They do not in a repository without members.
  public let isMarked: Bool
}

extension VersionAuthor {
  /// The author of the changes in an altered merge.
  public static let nobody = "nobody"

  /// How many Unicode scalars are shown of a name that a version claims: as many as a device's name may have. A
  /// longer name would push the text after it off the line.
  static let longestClaim = 64

  /// A name that a version claims, made visible.
  static func claimed(_ name: some StringProtocol) -> String {
    guard name.unicodeScalars.count > longestClaim else { return String(name) }
    return String(String.UnicodeScalarView(name.unicodeScalars.prefix(longestClaim))) + "\u{2026}"
  }

  /// The name, with a remark if it is not proved.
  public var markedName: String { name + (mark.map { " (\($0))" } ?? "") }

  /// The remark if nothing proves that this is the author's name. Nil if it is proved, or if the name itself
  /// says who claims it.
  public var mark: String? {
    guard isMarked else { return nil }
    return switch proof {
    case .verified, .vouched, .computed: nil
    case .unsigned: "unsigned"
    case .wrong: "wrong signature"
    case .stranger: "not a member"
    case .removed: "removed before"
    case .reader: "a reader"
    case .rewritten: "rewritten"
    case .altered: "altered merge"
    case .unchecked: "not checked"
    }
  }
}

/// The evidence for the author of a version.
public enum VersionProof: String, Sendable, CaseIterable {
  /// The device that the version names signed it, and is a writer or an admin, or was one then.
  case verified
  /// The device that signed it is a writer or an admin, or was one then, but the version names no
  /// device. The signer vouches for the author's name.
  case vouched
  /// The version has no signature.
  case unsigned
  /// The signature is by another device than the version names, does not match the content, or has another
  /// form.
  case wrong
  /// The signature is valid, but by a device that was never a member.
  case stranger
  /// The signature is valid, but by a device that had been removed before.
  case removed
  /// The signature is valid, but by a device that was a reader then.
  case reader
  /// A forgetting rewrote the version, so it lost its signature. An admin's version on top vouches for it.
  case rewritten
  /// The version is a derived merge and equal to the computed merge.
  case computed
  /// The version is a derived merge and differs from the computed merge: the changes have no author.
  case altered
  /// The version is a derived merge, and there was no time to compute it again.
  case unchecked
}

/// Finds the authors of the versions that are here. Every part of the program that shows an author uses
/// this class.
public final class VersionProofs {
  /// The signer of a version, whether a member or not.
  private enum Signing {
    case none
    case wrong
    case by(String)
  }

  /// Computes derived merges again, because they are not signed.
  public let merges: MergeCheck
  private let notebook: Notebook
  private var known: [ObjectID: VersionAuthor] = [:]
  private var verified: VersionMemory
  /// The devices that were ever members; the inner value is nil if the notebook has no list of
  /// members.
  private var signers: [String: Signer]??
  private var former: FormerWriters?
  /// The versions for which an admin vouches by a forgetting.
  private var belowObeyed: Set<ObjectID>?

  /// Reads only the results of earlier checks.
  public init(in notebook: Notebook) {
    self.notebook = notebook
    merges = MergeCheck(of: notebook.history)
    verified = VersionMemory(.verified, in: notebook.stateFolder)
  }

  /// Saves the results of the checks for the next command.
  public func remember() {
    verified.save()
    merges.remember()
  }

  /// The author of a version, and how far that is proved.
  ///
  /// - Throws: an error if the version or the list of members cannot be read.
  public func author(of commit: Commit) throws -> VersionAuthor {
    if let author = known[commit.id] { return author }
    let author = try judged(commit)
    known[commit.id] = author
    return author
  }

  /// The author of the version with this ID.
  public func author(of id: ObjectID) throws -> VersionAuthor {
    try known[id] ?? author(of: notebook.repository.commit(id))
  }

  /// The authors of the sides of a note's conflict blocks, by their labels. A label without a version
  /// was typed by a person.
  public func authors(
    ofSides sides: some Sequence<MarkedText.Side>, in path: TreePath
  ) throws -> [[UInt8]: VersionAuthor] {
    let names = Dictionary(sides.map { ($0.label, $0.name) }) { first, _ in first }
    let writers = try notebook.history.writers(ofLabels: Array(names.keys), in: path)
    var authors: [[UInt8]: VersionAuthor] = [:]
    for (label, name) in names {
      authors[label] =
        try writers[label].map(author)
        ?? VersionAuthor(
          name: VersionAuthor.claimed(name), claim: VersionAuthor.claimed(name), formerName: nil,
          deviceID: nil, proof: .unsigned, isMarked: true)
    }
    return authors
  }

  private func judged(_ commit: Commit) throws -> VersionAuthor {
    if try notebook.history.isDerived(commit) {
      let proof = VersionProof(try merges.verdict(on: commit) ?? .asComputed)
      return VersionAuthor(
        name: proof == .altered ? VersionAuthor.nobody : commit.author.name,
        claim: commit.author.name, formerName: nil, deviceID: nil, proof: proof, isMarked: true)
    }
    let members = try members()
    let claim = VersionAuthor.claimed(commit.author.name)
    func author(
      _ proof: VersionProof, _ name: String? = nil, formerly: String? = nil
    ) -> VersionAuthor {
      VersionAuthor(
        name: name ?? claim, claim: claim, formerName: formerly, deviceID: commit.deviceID,
        proof: proof, isMarked: members != nil)
    }
    if commit.isRewritten, try isBelowObeyed(commit.id) { return author(.rewritten) }
    switch try signing(of: commit) {
    case .none: return author(.unsigned)
    case .wrong: return author(.wrong)
    case .by(let device):
      guard let signer = members?[device] else { return author(.stranger) }
      let isOwn = commit.deviceID != nil
      let name =
        isOwn
        ? signer.name(claimed: commit.author.name) : "\(claim) (via \(signer.name))"
      if try mayHaveMade(commit, signer) {
        let former = isOwn ? signer.formerName(claimed: commit.author.name) : nil
        return author(isOwn ? .verified : .vouched, name, formerly: former)
      }
      return author(signer.isRemoved ? .removed : .reader, name)
    }
  }

  private func signing(of commit: Commit) throws -> Signing {
    let isKnown = verified.contains(commit.id)
    if isKnown, let named = commit.deviceID { return .by(named) }
    let judged = JudgedCommit(commit, try notebook.repository.object(commit.id).data)
    if !judged.hasSignature { return .none }
    guard let signature = judged.signature, try isKnown || judged.isSignedByItsDevice else {
      return .wrong
    }
    verified.insert(commit.id)
    return .by(try commit.deviceID ?? signature.deviceID)
  }

  private func members() throws -> [String: Signer]? {
    if let signers { return signers }
    let found = try MembershipStore.signers(ofNotebookAt: notebook.stateFolder)
    signers = .some(found)
    return found
  }

  private func isBelowObeyed(_ id: ObjectID) throws -> Bool {
    if let belowObeyed { return belowObeyed.contains(id) }
    let top = try notebook.history.obeyed().map { [$0.id] } ?? []
    let found = Set(try notebook.repository.commits(from: top))
    belowObeyed = found
    return found.contains(id)
  }

  // MARK: Former writers

  /// Whether a device was a writer or an admin when it made a version.
  private func mayHaveMade(_ commit: Commit, _ signer: Signer) throws -> Bool {
    switch signer.right {
    case .present: return true
    case .never: return false
    case .former(let end):
      let former = try self.former ?? FormerWriters(members() ?? [:], in: notebook)
      self.former = former
      guard try former.hadBefore(commit.id, by: signer.deviceID) else { return false }
      return try !isLater(commit, than: end, by: signer.deviceID)
    }
  }

  /// How many consecutive versions of one device are searched for a later date.
  private static let longestRow = 1_000

  /// Whether the version is certainly later than `end`: it is dated later, or is on top of a later version,
  /// through versions only of its device. A version can have any date, but the versions below it existed
  /// before.
  private func isLater(_ commit: Commit, than end: Int64, by device: String) throws -> Bool {
    var (pending, seen) = ([commit], Set([commit.id]))
    while let commit = pending.popLast() {
      if commit.committer.time > end { return true }
      guard commit.deviceID == device, seen.count < Self.longestRow else { continue }
      for parent in commit.parents where seen.insert(parent).inserted {
        pending.append(try notebook.repository.commit(parent))
      }
    }
    return false
  }
}

extension VersionProof {
  fileprivate init(_ verdict: MergeVerdict) {
    switch verdict {
    case .asComputed: self = .computed
    case .altered: self = .altered
    case .unchecked: self = .unchecked
    }
  }
}

extension Signer {
  /// The device's present name, whatever the version says; for a guest, the guest's name in the version
  /// with the device's present name.
  fileprivate func name(claimed: String) -> String {
    for own in names where claimed.hasSuffix(" (via \(own))") {
      let guest = VersionAuthor.claimed(claimed.dropLast(own.count + 7))
      return "\(guest) (via \(name))"
    }
    return names.contains { claimed == $0 + mark } ? name + mark : name
  }

  /// The name that a version claims for its device, if one of the device's certificates has that name.
  fileprivate func formerName(claimed: String) -> String? {
    names.first { $0 != name && (claimed == $0 || claimed == $0 + mark) }
  }

  /// The beginning of the device ID, which follows a name that several devices share.
  private var mark: String { " (\(deviceID.prefix(8)))" }
}
