public import Git
internal import History
internal import Membership
internal import Merge
public import Notebook
public import System

/// Takes in a bundle: `notes bundle apply`.
public struct BundleRun: Sendable {
  private let context: SessionContext
  /// The limits and permissions.
  public var options = SessionOptions()

  /// A run for a notebook.
  public init(context: SessionContext) { self.context = context }

  /// Reads a bundle, and merges what it brings.
  ///
  /// - Parameters:
  ///   - path: the file; standard input where nil.
  ///   - name: what it is called.
  /// - Throws: `BundleError`, and what a session throws; no version came in then. `SyncError.stopped`
  ///   when cancelled.
  public func apply(
    _ path: String?, named name: String, cancellation: CancellationToken? = nil,
    onEvent: @escaping (Event) -> Void = { _ in }
  ) throws -> SessionResult {
    // A device that was removed is told so; one that is no member yet may read.
    _ = try context.mayGive()
    let notebook = try context.notebook()
    let reader = try BundleReader(path: path, cancellation: cancellation)
    let judge = VersionJudge(
      context.membership, notebook, options.allowsUnsigned ? .all : .answered)
    let replica = Replica(
      notebook, options.keeper ?? DirectKeeper(context, options),
      with: PeerIdentity(bundle: name), judge: judge, isLasting: false, report: onEvent)
    do {
      return try replica.exchanging { try exchange(replica, reader) }
    } catch SyncError.packRefused(.malformed), SyncError.packRefused(.baseMissing) {
      throw BundleError.damaged
    }
  }

  private func exchange(_ replica: Replica, _ reader: BundleReader) throws -> SessionResult {
    try replica.begin(receives: true)
    let bundle = try read(reader, for: replica)
    replica.introduce()
    replica.received(Shown(tip: bundle.tip, heads: [bundle.tip]))
    var traffic = Traffic()
    traffic.receivedBytes = bundle.bytes
    let merged = try replica.takeAll(bundle.quarantine).merged
    return try replica.result(traffic, merges: [merged].compactMap { $0 })
  }

  /// Reads it to its end, and takes in what it says of the members.
  private func read(_ reader: BundleReader, for replica: Replica) throws -> ReceivedBundle {
    var progress = TransferProgress(peer: replica.peer)
    let bundle = try ReceivedBundle(
      reader, for: replica.notebook.repository, limits: options.allowsLarge ? .large : .standard
    ) { objects, bytes in
      (progress.objectsToReceive, progress.receivedBytes) = (objects, bytes)
      replica.report(.progress(progress))
    }
    let wasGuest = context.isGuest
    try bundle.takeMembers(for: context)
    try context.takeOwnMembership(wasGuest: wasGuest, in: replica)
    return bundle
  }
}

extension SessionContext {
  /// Goes by what the list of members that a hub or a bundle brought says of this device: its name, the notebook's,
  /// and that it is a member now, which is told.
  func takeOwnMembership(wasGuest: Bool, in replica: Replica) throws {
    try replica.notebook.takeNames(from: membership, device: key.deviceID)
    guard wasGuest, let own = membership.member(ofDevice: key.deviceID) else { return }
    AskedAdmission.forget(in: replica.notebook.stateFolder)
    let device = PeerIdentity(
      name: own.name, deviceID: own.deviceID, role: own.role, address: "")
    replica.report(.admitted(replica.peer, device: device, notebook: membership.notebookID))
  }
}

/// A bundle that is to be written: `notes bundle create`.
public struct NewBundle {
  /// The version that it brings its reader to.
  public let tip: ObjectID
  /// The versions that its reader must have.
  public let since: [ObjectID]
  /// How many versions that somebody made are in it.
  public let versions: Int

  private let header: BundleHeader
  private let pack: PackWriter

  /// How many objects are written, of how many.
  public var progress: (done: Int, total: Int) { (pack.objectsWritten, pack.objectCount) }

  /// Plans one for whoever has these commits, or nothing; what is here and not in their history goes
  /// into it, the notebook's members, and an invitation.
  ///
  /// - Throws: `BundleError.noVersion`, and `.reader` where nothing may leave this device;
  ///   `MembershipError` where it is no member.
  public init(
    of notebook: Notebook, for context: SessionContext, since commits: [ObjectID] = [],
    with invitation: FileInvitation? = nil
  ) throws {
    _ = try context.credentials()
    guard try context.mayGive() else { throw BundleError.reader }
    let repository = notebook.repository
    try VersionJudge(context.membership, notebook).endorseOwn()
    guard let tip = try notebook.state().tip else { throw BundleError.noVersion }
    // Another device need not have the merges of ours.
    let heads = try commits.flatMap { try DerivedMerge.advertisedHeads(of: $0, in: repository) }
    since = Array(Set(heads)).sorted()
    versions = try notebook.versionCount(from: [tip], lacking: since)
    self.tip = tip
    let members = try MemberList(of: context.membership).write(to: repository)
    var header = BundleHeader()
    header.prerequisites = since
    header.references = [BundleHeader.tip: tip, MemberList.reference: members]
    if let branch = try repository.head().branch { header.references["refs/heads/" + branch] = tip }
    let offer = try invitation?.reference(in: repository)
    if let offer { header.references[offer.name] = offer.commit }
    self.header = header
    pack = try repository.pack(
      wants: [tip, members] + [offer?.commit].compactMap { $0 }, haves: since)
  }

  /// Writes it from its beginning to its end, piece by piece, and returns how many bytes it has.
  public func write(_ put: ([UInt8]) throws -> Void) throws -> Int {
    var bytes = header.bytes.count
    try put(header.bytes)
    while let piece = try pack.next() {
      try put(piece)
      bytes += piece.count
    }
    return bytes
  }
}
