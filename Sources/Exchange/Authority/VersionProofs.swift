public import Git
public import History
internal import Membership
public import Merge
public import Notebook

/// The author of a version, and how that is known: notes-security(7), SIGNATURES.
public struct VersionAuthor: Hashable, Sendable {
  /// The author's name: of a member that signed it a name in its certificate, else the one that the version
  /// claims.
  public let name: String
  /// The name that the version itself gives, as it is shown: of the time when it was made.
  public let claim: String
  /// The name that the device had when it made the version, if that was another one: a certificate names it so.
  public let formerName: String?
  /// The device that it names; nil if it names none.
  public let deviceID: String?
  /// The proof of it.
  public let proof: VersionProof
  /// Whether people are told what the proof lacks: not in a repository that has no members.
  public let isMarked: Bool
}

extension VersionAuthor {
  /// Whose text what an altered merge changed is.
  public static let nobody = "nobody"

  /// How many Unicode scalars of a name that a version claims are shown: as many as a device's name may have. A
  /// longer one would push away what stands behind it.
  static let longestClaim = 64

  /// A name that a version claims, as it is shown.
  static func claimed(_ name: some StringProtocol) -> String {
    guard name.unicodeScalars.count > longestClaim else { return String(name) }
    return String(String.UnicodeScalarView(name.unicodeScalars.prefix(longestClaim))) + "\u{2026}"
  }

  /// The name, with what is lacking to prove it.
  public var markedName: String { name + (mark.map { " (\($0))" } ?? "") }

  /// The remark if nothing proves that the name is the author's; nil if it is proved, or if the name itself
  /// says whose word it is.
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
  /// A device signed it that is a writer or an admin, or was one then, and that it names.
  case verified
  /// Such a device signed it, and it names none: its name is the word of that device.
  case vouched
  /// It has no signature.
  case unsigned
  /// Its signature is not that of the device that it names, is over something else, or of another form.
  case wrong
  /// Its signature is good, and by a device that was never a member.
  case stranger
  /// Its signature is good, and by a device that was removed before.
  case removed
  /// Its signature is good, and by a device that was a reader then.
  case reader
  /// It was made again when something was forgotten, and lost its signature: an admin's version above vouches for it.
  case rewritten
  /// It is a derived merge that holds what its versions merge to.
  case computed
  /// It is a derived merge that holds something else: what it changed is nobody's.
  case altered
  /// It is a derived merge, and there was no time to make it again.
  case unchecked
}

/// Answers who made the versions that are here. It is the one place that does: whoever shows an author asks
/// it.
public final class VersionProofs {
  /// The signer of a version, whether a member or not.
  private enum Signing {
    case none
    case wrong
    case by(String)
  }

  /// Computes derived merges again, which nobody signs.
  public let merges: MergeCheck
  private let notebook: Notebook
  private var known: [ObjectID: VersionAuthor] = [:]
  private var verified: VersionMemory
  /// The devices that were ever members, nil inside where the notebook has no list of them.
  private var signers: [String: Signer]??
  private var former: FormerWriters?
  /// The versions that an admin vouches for who had something forgotten.
  private var belowObeyed: Set<ObjectID>?

  /// Nothing is read yet but what was verified before.
  public init(in notebook: Notebook) {
    self.notebook = notebook
    merges = MergeCheck(of: notebook.history)
    verified = VersionMemory(.verified, in: notebook.stateFolder)
  }

  /// Keeps what was verified for the next command.
  public func remember() {
    verified.save()
    merges.remember()
  }

  /// The author of a version, and how that is known.
  ///
  /// - Throws: if the version cannot be read, or the list of members cannot.
  public func author(of commit: Commit) throws -> VersionAuthor {
    if let author = known[commit.id] { return author }
    let author = try judged(commit)
    known[commit.id] = author
    return author
  }

  /// The same, of a version that is here.
  public func author(of id: ObjectID) throws -> VersionAuthor {
    try known[id] ?? author(of: notebook.repository.commit(id))
  }

  /// The authors of the sides of a note's conflict blocks, by their labels. A label of no version is one
  /// that a person has typed.
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
    let judged = try JudgedCommit(commit.id, notebook.repository.object(commit.id).data)
    if !judged.hasSignature { return .none }
    guard let signature = judged.signature, try isKnown || judged.isSignedByItsDevice else {
      return .wrong
    }
    verified.insert(commit.id)
    return .by(try signature.deviceID)
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

  /// How many versions in a row of one device are looked through for one that is later.
  private static let longestRow = 1_000

  /// Whether a version is later, or another one that it stands on through versions of its device alone: it
  /// can bear any date, but stands on versions that were there.
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
  /// The name of the device in a version: its present one, whatever it was then; a guest's as the version
  /// has it, under the device's present name.
  fileprivate func name(claimed: String) -> String {
    for own in names where claimed.hasSuffix(" (via \(own))") {
      let guest = VersionAuthor.claimed(claimed.dropLast(own.count + 7))
      return "\(guest) (via \(name))"
    }
    return names.contains { claimed == $0 + mark } ? name + mark : name
  }

  /// The name that a version gives its device, if that is a former one of its certificates.
  fileprivate func formerName(claimed: String) -> String? {
    names.first { $0 != name && (claimed == $0 || claimed == $0 + mark) }
  }

  /// Stands behind a name that several devices have.
  private var mark: String { " (\(deviceID.prefix(8)))" }
}
