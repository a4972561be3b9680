internal import Git
internal import History
internal import Membership
internal import Notebook
internal import System

/// The link to a bundle, which shows what its tip was when it was made, and takes nothing:
/// notes-hub(7), BUNDLES.
final class BundleLink: Link {
  let peer: PeerIdentity
  let isGiving = false
  let isRemembered = false
  var isWaitingForOthers = false
  let hasFetched = true
  let waker: @Sendable () -> Void = {}

  private let reader: BundleReader
  private let notebook: Notebook
  private let membership: MembershipStore
  private let report: (Event) -> Void
  private var judge: VersionJudge?
  private var arrived: Quarantine?
  private var receivedBytes = 0

  init(
    _ reader: BundleReader, from place: String, to notebook: Notebook,
    _ membership: MembershipStore, report: @escaping (Event) -> Void
  ) {
    peer = PeerIdentity(bundle: place)
    self.reader = reader
    self.notebook = notebook
    self.membership = membership
    self.report = report
  }

  func open(showing own: Shown, _ options: SessionOptions) throws -> LinkTerms {
    let bundle = try ReceivedBundle(
      reader, for: notebook.repository, limits: options.allowsLarge ? .large : .standard
    ) { objects, bytes in
      receivedBytes = bytes
      var progress = TransferProgress(peer: peer)
      (progress.objectsToReceive, progress.receivedBytes) = (objects, bytes)
      report(.progress(progress))
    }
    // One that was made before a membership was begun anew is of the notebook, too.
    if bundle.members.root == membership.root {
      _ = try membership.merge(
        certificates: bundle.members.certificates, revocations: bundle.members.revocations)
    } else if try !membership.formerIDs().contains(bundle.members.notebookID) {
      throw BundleError.anotherNotebook
    }
    judge = VersionJudge(membership, notebook, options.allowsUnsigned ? .all : .answered)
    arrived = bundle.quarantine
    return LinkTerms(
      theirs: Shown(tip: bundle.tip, heads: [bundle.tip]),
      exchange: SessionRules.Terms(gives: false, takes: true, owesAnswers: false, ends: true))
  }

  func judge(_ heads: [ObjectID], _ commit: (ObjectID) throws -> [UInt8]) throws {
    try judge?.check(heads, commit)
  }

  func fetch(_ wanted: [ObjectID], known: [ObjectID]) {}

  func next(until deadline: Instant?) -> LinkEvent? {
    defer { arrived = nil }
    return arrived.map { .arrived($0) }
  }

  func count(into state: inout PeerState) { state.receivedBytes = receivedBytes }
  func show(_ shown: Shown) {}
  func answer(_ shown: Shown, heard: Int, received: Int, conflicts: Int, refusal: MergeRefusal?) {}
  func tell(_ remark: LinkRemark) {}
  func whileBusy<Result>(
    onTick: () -> Void, _ body: @escaping () throws -> Result
  ) throws -> Result { try body() }
  func close(_ reason: ByeReason) {}
  func close(after error: any Error) {}
}

/// A bundle that was read to its end, apart from the repository.
package struct ReceivedBundle {
  let quarantine: Quarantine
  let tip: ObjectID
  package let members: MemberList
  /// The branch that it names.
  let branch: String?

  /// Reads it. `progress` is told how many objects there are, and how many bytes have come.
  ///
  /// - Throws: `BundleError`, `PackError`.
  init(
    _ reader: BundleReader, for repository: Repository, limits: PackLimits,
    progress: (Int, Int) -> Void = { _, _ in }
  ) throws {
    let header = try reader.header()
    branch = header.references.keys.sorted().first { $0.hasPrefix("refs/heads/") }
      .map { String($0.dropFirst("refs/heads/".count)) }
    guard let list = header.references[MemberList.reference] else {
      throw BundleError.withoutMembers
    }
    guard let tip = header.references[BundleHeader.tip] else { throw BundleError.damaged }
    let lacking = try header.prerequisites.filter { try !repository.contains($0) }
    if let first = lacking.first {
      throw BundleError.lacking(String(first.hex.prefix(10)), count: lacking.count)
    }
    quarantine = try repository.quarantine(limits: limits)
    var bytes = 0
    while let piece = try reader.next() {
      try quarantine.append(piece)
      bytes += piece.count
      progress(quarantine.objectCount, bytes)
    }
    guard let members = try MemberList(of: list, in: quarantine) else { throw BundleError.damaged }
    self.members = members
    self.tip = tip
  }
}
