public import Git
internal import History
internal import Membership
internal import Merge
public import Notebook
public import System

/// Applies a bundle: `notes bundle apply`.
public struct BundleRun: Sendable {
  private let context: SessionContext
  /// The limits and permissions.
  public var options = SessionOptions()
  /// Whether this device responds to the invitation in the bundle: then it may read the bundle although it was
  /// removed.
  public var isInvited = false

  /// A run for a notebook.
  public init(context: SessionContext) { self.context = context }

  /// Reads a bundle, and merges its versions.
  ///
  /// - Parameters:
  ///   - path: the file; nil for standard input.
  ///   - name: its name in messages.
  /// - Throws: `BundleError`, and the errors of a session; then no version is merged.
  ///   `SyncError.stopped` when cancelled.
  public func apply(
    _ path: String?, named name: String, cancellation: CancellationToken? = nil,
    onEvent: @escaping (Event) -> Void = { _ in }
  ) throws -> SessionResult {
    // This throws for a removed device. A device that has not joined yet may read the bundle.
    if !isInvited { _ = try context.mayGive() }
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

  /// Reads the bundle to its end, and merges its list of members.
  private func read(_ reader: BundleReader, for replica: Replica) throws -> ReceivedBundle {
    var progress = TransferProgress(peer: replica.peer)
    let bundle = try ReceivedBundle(
      reader, for: replica.notebook.repository, limits: options.packLimits, replica.unpackingGrant
    ) { objects, bytes in
      (progress.objectsToReceive, progress.receivedBytes) = (objects, bytes)
      replica.report(.progress(progress))
    }
    let own = context.ownMembership
    try bundle.takeMembers(for: context)
    try context.takeOwnMembership(since: own, in: replica)
    return bundle
  }
}

extension SessionContext {
  /// Whether this device waits to become a member, and its certificate, if any; an argument of `takeOwnMembership`.
  var ownMembership: (isGuest: Bool, certificate: [UInt8]?) {
    (isGuest, membership.certificate(ofDevice: key.deviceID))
  }

  /// Applies the facts about this device from the list of members in a hub or bundle: its name and the
  /// notebook's name. Reports if this device is now a member.
  ///
  /// - Parameter former: `ownMembership` before the list was read.
  func takeOwnMembership(
    since former: (isGuest: Bool, certificate: [UInt8]?), in replica: Replica
  ) throws {
    let certificate = membership.certificate(ofDevice: key.deviceID)
    // An earlier refusal by a member was about the former certificate.
    if certificate != nil, certificate != former.certificate {
      try membership.setRefused(false, device: key.deviceID)
    }
    try replica.notebook.takeNames(from: membership, device: key.deviceID)
    guard former.isGuest, let own = membership.member(ofDevice: key.deviceID) else { return }
    AskedAdmission.forget(in: replica.notebook.stateFolder)
    recordKnownRole()
    let device = PeerIdentity(
      name: own.name, deviceID: own.deviceID, role: own.role, address: "")
    replica.report(.admitted(replica.peer, device: device, notebook: membership.notebookID))
  }
}

/// A bundle to be written: `notes bundle create`.
public struct NewBundle {
  /// The tip that the bundle contains.
  public let tip: ObjectID
  /// The versions that its reader must have.
  public let since: [ObjectID]
  /// How many versions by people the bundle contains.
  public let versions: Int

  private let header: BundleHeader
  private let pack: PackWriter

  /// The numbers of written and of all objects.
  public var progress: (done: Int, total: Int) { (pack.objectsWritten, pack.objectCount) }

  /// Plans a bundle for receivers that have `prerequisites`, or nothing. The bundle contains everything that is
  /// here and not in their history, the notebook's members, and an invitation, if given.
  ///
  /// - Throws: `BundleError.noVersion`; `.reader` if this device may not send; `MembershipError` if it is not a
  ///   member.
  public init(
    of notebook: Notebook, for context: SessionContext, since commits: [ObjectID] = [],
    with invitation: FileInvitation? = nil
  ) throws {
    _ = try context.credentials()
    guard try context.mayGive() else { throw BundleError.reader }
    let repository = notebook.repository
    try VersionJudge(context.membership, notebook).endorseOwn()
    guard let tip = try notebook.state().tip else { throw BundleError.noVersion }
    // The receiver may not have this device's merges.
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
      wants: [tip, members] + [offer?.commit].compactMap { $0 }, haves: since,
      first: notebook.history.obeyed()?.id)
  }

  /// Writes the bundle piece by piece, and returns its size in bytes.
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
