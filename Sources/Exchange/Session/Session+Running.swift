public import Channel
internal import Git
internal import History
internal import Merge
package import Notebook
internal import System

extension Session {
  /// Holds a session on a connection that has just been authenticated, to its end, on this thread.
  /// After a throw the peer has been told why, and what was not applied is forgotten.
  public static func run(
    on connection: Connection, as context: SessionContext,
    options: SessionOptions = SessionOptions(), onEvent: (Event) -> Void = { _ in }
  ) throws -> SessionResult {
    try withoutActuallyEscaping(onEvent) { report in
      let stream = MessageStream(connection: connection, timeouts: context.timeouts)
      do {
        let notebook = try context.notebook()
        let link = try DeviceLink(stream, as: context, notebook, report: report)
        let keeper = options.keeper ?? DirectKeeper(context, options)
        let result = try run(over: link, notebook, keeper, options, report)
        if options.isOpenedHere { context.record(refusal: nil) }
        return result
      } catch {
        if options.isOpenedHere { context.record(refusal: error) }
        // Does nothing where the link has closed it.
        stream.close(after: error)
        throw error
      }
    }
  }

  /// Holds a session over a link, to its end, and closes it.
  package static func run(
    over link: any Link, _ notebook: Notebook, _ keeper: any SessionKeeper,
    _ options: SessionOptions = SessionOptions(), _ report: @escaping (Event) -> Void = { _ in }
  ) throws -> SessionResult {
    do {
      let result = try Session(link, notebook, keeper, options, report).run()
      link.close(.done)
      return result
    } catch {
      link.close(after: error)
      noteMissing(error, in: notebook)
      if case GitError.unfit = error {
        // Somebody made it while the session began. The next one looks at everything.
        try? notebook.forgetPortableHistory()
      }
      if let error = error as? PackError { throw SyncError.packRefused(error) }
      throw error
    }
  }

  /// What this device shows at the beginning, and whether it is to ask for all that the other side has, as
  /// it lacks objects, which the other side was not asked for.
  static func begin(
    _ link: any Link, _ notebook: Notebook, _ keeper: any SessionKeeper, _ options: SessionOptions
  ) throws -> (present: NotebookState, replaced: PortableVersion?, isMending: Bool) {
    let missing = notebook.missingObjects
    func mayAsk() -> Bool {
      link.bringsMissing && options.mode.receives && missing.isNews(for: link.peer.deviceID)
    }
    if mayAsk() { try? notebook.restoreMissing() }
    do {
      let (present, replaced) = try link.whileBusy(onTick: {}) { try keeper.currentState() }
      let isMending = try mayAsk() && !missing.all(in: notebook.repository).isEmpty
      return (present, replaced, isMending)
    } catch GitError.missing(let id) {
      missing.note([id])
      guard mayAsk() else { throw GitError.missing(id) }
      return (NotebookState(tip: nil, heads: [], conflictCount: 0), nil, true)
    }
  }

  /// Keeps which object is missing here, where that is why a session failed.
  private static func noteMissing(_ error: any Error, in notebook: Notebook) {
    switch error {
    case GitError.missing(let id): notebook.missingObjects.note([id])
    // The other side took for known here what is not.
    case PackError.incomplete, PackError.baseMissing: _ = try? notebook.lookForMissing()
    default: break
    }
  }

  /// Ends a connection that has just been authenticated without a session, and tells the peer why.
  public static func refuse(
    _ connection: Connection, as context: SessionContext, because error: SyncError
  ) {
    MessageStream(connection: connection, timeouts: context.timeouts).close(after: error)
  }

  // MARK: What is remembered of a peer

  var held: HeldVersions { HeldVersions(stateFolder: notebook.stateFolder) }

  /// Keeps what one side does not merge, for `notes status` on both.
  func recordHeld(_ refusal: PeerState.Refusal, of heads: [ObjectID], _ words: String? = nil) {
    guard link.isRemembered else { return }
    held.record(
      HeldVersions.Held(
        device: link.peer.deviceID, refusal: refusal, words: words, heads: heads,
        time: WallClock.now()))
  }

  func recordPeer() throws {
    guard link.isRemembered else { return }
    let repository = notebook.repository
    let branch = try repository.head().branch ?? "HEAD"
    let known = try ([theirs.tip] + (theirs.heads.count == 1 ? theirs.heads : [])).compactMap { $0 }
      .first { try repository.contains($0) && repository.header(of: $0).kind == .commit }
    guard let known else { return }
    let name = Self.remotesPrefix + link.peer.deviceID + "/" + branch
    if try repository.reference(name) == known { return }
    try notebook.setDeviceReference(name, to: known, message: "notes: sync")
  }

  /// Compares the tips where both sides have the same heads, which have one tip, whoever computes it
  /// (notes-merge(7)); remembers what comes of it, and tells of a difference that was not known.
  func compareTips() throws -> TipDifference? {
    guard link.isRemembered, let tip = own.tip, let peerTip = theirs.tip, rules.areAlike
    else { return nil }
    if tip == peerTip {
      try notebook.forgetTipDifference(with: link.peer.deviceID)
      return nil
    }
    let difference = TipDifference(
      device: link.peer.deviceID, tip: tip, rules: MergeTrailers.currentVersion, peerTip: peerTip,
      peerRules: terms.rules)
    if try notebook.remember(difference) { report(.differs(link.peer, difference)) }
    return difference
  }

  // MARK: What it has: notes-protocol(7), want

  private static var remotesPrefix: String { "refs/remotes/" }

  /// Commits that are here with all their history and that the peer may know.
  func haves() throws -> [ObjectID] {
    let remotes = try notebook.repository.references(under: Self.remotesPrefix)
    let prefix = Self.remotesPrefix + link.peer.deviceID + "/"
    var found = own.heads + remotes.filter { $0.name.hasPrefix(prefix) }.map(\.id)
    // Only somebody met for the first time may know none of the above.
    let isNew = found.count == own.heads.count
    if isNew, let head = own.heads.first { found += try sample(from: head) }
    found += remotes.map(\.id)
    var seen: Set<ObjectID> = []
    return Array(found.filter { seen.insert($0).inserted }.prefix(ProtocolLimits.haves))
  }

  /// The 1st, 2nd, 4th, 8th, … first parent of a commit, and the oldest.
  private func sample(from head: ObjectID) throws -> [ObjectID] {
    var found: [ObjectID] = []
    var current = head
    var distance = 0
    while let parent = try notebook.repository.commit(current).parents.first {
      current = parent
      distance += 1
      // A power of two.
      if distance & (distance - 1) == 0 { found.append(current) }
    }
    return found + [current]
  }
}
