package import Git
internal import History
package import Notebook
internal import System
internal import WorkTree

/// A notebook in one exchange with a peer: it decides which versions both sides show. The carrier of versions
/// (a session, a visit to a hub, a bundle) asks it, and stores none of this. An instance belongs to the
/// exchange's thread.
package final class Replica {
  let notebook: Notebook
  let keeper: any SessionKeeper
  let report: (Event) -> Void
  /// The other side, with its name in the present membership.
  var peer: PeerIdentity
  /// Whether this side may send versions to the peer.
  var gives = false
  /// Whether this notebook lacks objects and asks the peer for everything. Until they have arrived, this side
  /// shows no versions.
  private(set) var isMending = false
  /// The replacement of a foreign commit since the exchange began.
  private var replaced: PortableVersion?
  var received = 0
  /// The versions that the peer shows.
  private(set) var theirs = Shown(tip: nil, heads: [])
  /// The heads that this side recently told the peer. The peer may ask for them without a check of the history.
  private var told: [ObjectID] = []
  /// The notes that somebody edits on the peer.
  var editing: [TreePath] = []
  /// The heads that one of the two sides refuses, and why.
  private var refusal: (heads: [ObjectID], refusal: PeerState.Refusal)?
  /// The peer's versions from before a forgetting, which were rewritten and are not kept.
  var broughtOver: Set<ObjectID> = []
  /// Received packs whose versions are not merged. Keeping them here protects them from git's garbage
  /// collection.
  var unmerged: [Quarantine] = []
  /// The last merge and its duration in seconds, if it was not checked for altered merges yet.
  var unchecked: (merged: MergeOutcome, seconds: Double)?
  let judge: VersionJudge?
  /// Whether the peer can be reached again: only then is its state recorded, and is it asked for missing
  /// objects.
  private let isLasting: Bool

  private var repositoryOnDisk: [UInt64]

  init(
    _ notebook: Notebook, _ keeper: any SessionKeeper, with peer: PeerIdentity,
    judge: VersionJudge?, isLasting: Bool = true, report: @escaping (Event) -> Void
  ) {
    (self.notebook, self.keeper, self.peer) = (notebook, keeper, peer)
    (self.judge, self.isLasting, self.report) = (judge, isLasting, report)
    repositoryOnDisk = notebook.repository.identityOnDisk
  }

  /// A replica that trusts its peer, whatever it sends.
  package convenience init(
    _ notebook: Notebook, _ keeper: any SessionKeeper, with peer: PeerIdentity
  ) {
    self.init(notebook, keeper, with: peer, judge: nil, report: { _ in })
  }

  // MARK: Own: the versions that this device shows

  /// Saves the folder. If objects are missing for which this side has not asked the peer, it will ask for
  /// everything.
  package func begin(receives: Bool) throws {
    let missing = notebook.missingObjects
    func mayAsk() -> Bool { isLasting && receives && missing.isNews(for: peer.deviceID) }
    notebook.lookForMissingTexts()
    defer { tellSaves() }
    do {
      replaced = try keeper.currentState().replaced
      isMending = try mayAsk() && !missing.all(in: notebook.repository).isEmpty
    } catch GitError.missing(let id) {
      missing.record([id])
      guard mayAsk() else { throw GitError.missing(id) }
      isMending = true
    }
  }

  /// Closes open files of a repository that a forgetting has replaced.
  ///
  /// - Returns: whether it was replaced since the last call.
  @discardableResult
  func closeIfReplaced() -> Bool {
    let present = notebook.repository.identityOnDisk
    if present == repositoryOnDisk { return false }
    repositoryOnDisk = present
    notebook.repository.close()
    return true
  }

  /// Reports the saves that the exchange made.
  func tellSaves() {
    for one in keeper.takeSaveNews() {
      report(.saveNews(notebook: notebook.identity.id, news: one))
    }
  }

  /// The versions that this device shows now. That is the version to which the branch is about to move, or else
  /// the branch's, no matter which program moved it. Empty while objects are missing.
  var shown: Shown {
    get throws {
      if isMending { return Shown(tip: nil, heads: []) }
      if let early = keeper.sessions.early { return try showing(early, [early]) }
      let state = try notebook.state()
      return try showing(state.tip, state.heads.sorted())
    }
  }

  /// Versions of this device's history.
  func showing(_ tip: ObjectID?, _ heads: [ObjectID]) throws -> Shown {
    Shown(tip: tip, heads: heads, forgot: try notebook.history.obeyed()?.forgettings.sorted())
  }

  /// Whether this history obeys a forgetting that the peer's does not. Then this side accepts nothing of it:
  /// the peer moves over to this history, or an admin's device joins both. notes-forget(1), "Other devices".
  var isPeerBehind: Bool {
    get throws {
      let own = try notebook.history.obeyed()?.forgettings ?? []
      if own.isSubset(of: theirs.forgot) { return false }
      return own.isSuperset(of: theirs.forgot) || joiner != notebook.identity.device.deviceID
    }
  }

  /// The device that joins the histories if each side has a forgetting unknown to the other; nil if neither is an
  /// admin's.
  private var joiner: String? {
    guard let judge else { return nil }
    return [notebook.identity.device.deviceID, peer.deviceID].filter(judge.isAdmin).min()
  }

  /// Throws if each side has a forgetting unknown to the other, and neither can join both.
  func checkForgettings() throws {
    if theirs.heads.isEmpty || theirs.forgot.isEmpty { return }
    let own = try notebook.history.obeyed()?.forgettings ?? []
    if own.isSubset(of: theirs.forgot) || own.isSuperset(of: theirs.forgot) || joiner != nil {
      return
    }
    let words = "\(NotebookError.forgotOtherwise)"
    refuse(PeerState.Refusal(.forgotten, isThere: false), theirs.heads, words)
    throw SyncError.notMerged(.forgotten, words)
  }

  /// Records that this side has told the peer these heads.
  func sent(_ heads: [ObjectID]) { told = Array((told + heads).suffix(ProtocolLimits.heads)) }

  /// A pack of the requested heads, without what the peer has. Throws `SyncError.protocolBroken` if the
  /// peer may not have these heads.
  func pack(_ wanted: [ObjectID], known: [ObjectID]) throws -> PackSender {
    guard gives else { throw SyncError.protocolBroken("it asks for what it may not have") }
    let repository = notebook.repository
    let tip = try repository.head().commit
    if let gone = try wanted.first(where: { try told.contains($0) && !repository.contains($0) }) {
      throw SyncError.interrupted("version \(gone.hex.prefix(10)) was shown, and is forgotten now")
    }
    for want in wanted where !told.contains(want) {
      guard let tip, try repository.contains(want), try repository.isAncestor(want, of: tip) else {
        throw SyncError.protocolBroken("it asks for what was not offered")
      }
    }
    let haves = try known.filter {
      try repository.contains($0) && repository.header(of: $0).kind == .commit
    }
    let pack = try repository.pack(
      wants: wanted, haves: haves, first: notebook.history.obeyed()?.id)
    return try PackSender(
      pack, bringing: wanted,
      versions: notebook.versionCount(of: pack.commitCount, merges: pack.merges))
  }

  /// If others would refuse the tip, or have refused it, makes a version on top of it: notes-security(7),
  /// VERSIONS.
  ///
  /// - Returns: whether it made one. Every session is notified of it.
  @discardableResult
  func endorseOwn(_ occasion: VersionJudge.Occasion = .giving) throws -> Bool {
    guard gives, !isMending, let judge, try judge.endorseOwn(occasion) else { return false }
    keeper.sessions.look()
    return true
  }

  /// Checks for objects that are still missing after the peer has sent everything, and shows the
  /// versions that are here.
  func endMending() throws {
    notebook.missingObjects.record(asked: peer.deviceID)
    notebook.repository.close()
    _ = try keeper.currentState()
    if try notebook.lookForMissing().isEmpty {
      report(.completed(from: peer, notebook: notebook.identity.id))
    } else {
      // The peer has sent everything that it has: from now on, only other devices are asked.
      notebook.missingObjects.record(asked: peer.deviceID)
    }
    isMending = false
  }

  /// Reports the peer, and the replacement of a foreign commit.
  func introduce() {
    report(.peer(peer))
    if let replaced { report(.replaced(replaced, notebook: notebook.identity.id)) }
  }

  // MARK: Theirs: the versions that the peer shows

  /// Sets the versions that the peer shows.
  func received(_ shown: Shown) { theirs = shown }

  /// The peer's heads that this device lacks. If this device has all of them and has not merged them, returns all
  /// heads; if its tip contains them, none.
  func lacking() throws -> [ObjectID] {
    let heads = theirs.heads.filter { !broughtOver.contains($0) }
    let lacking = try heads.filter { try !notebook.repository.contains($0) }
    if !lacking.isEmpty { return lacking }
    return try notebook.history.shows(heads) ? [] : heads
  }

  /// Whether both sides show the same heads.
  var isAlike: Bool { get throws { try Set(shown.heads) == Set(theirs.heads) } }

  /// Records that the peer has merged or refused these heads.
  func peerSettled(_ heads: [ObjectID], _ reason: MergeRefusal?) {
    guard let reason else {
      if refusal?.refusal.isThere == true { refusal = nil }
      return held.forget(peer.deviceID, isThere: true)
    }
    refuse(PeerState.Refusal(reason, isThere: true), heads)
  }

  /// Records the versions that one side does not merge, for `notes status` on both.
  func refuse(_ refusal: PeerState.Refusal, _ heads: [ObjectID], _ words: String? = nil) {
    self.refusal = (heads, refusal)
    guard isLasting else { return }
    held.record(
      RefusedVersions.Entry(
        device: peer.deviceID, refusal: refusal, words: words, heads: heads, time: WallClock.now()))
  }

  var held: RefusedVersions { RefusedVersions(stateFolder: notebook.stateFolder) }

  /// The peer's state for others, with the traffic of its link.
  func peerState(_ traffic: Traffic) -> PeerState {
    var state = PeerState()
    (state.tip, state.heads, state.editing) = (theirs.tip, theirs.heads, editing)
    (state.sentBytes, state.receivedBytes) = (traffic.sentBytes, traffic.receivedBytes)
    (state.sentVersions, state.receivedVersions) = (traffic.sentVersions, received)
    // A refusal by this side applies as long as the heads are shown.
    if let refusal, refusal.refusal.isThere || refusal.heads == theirs.heads {
      state.refusal = refusal.refusal
    }
    return state
  }

  /// The result of the exchange; stores the peer's heads. `told` are the versions that this side last told the peer. If
  /// nil, these are the versions that this side shows now.
  func result(
    _ traffic: Traffic, told: Shown? = nil, merges: [MergeOutcome] = [], hasNews: Bool = false,
    peerRules: Int? = nil
  ) throws -> SessionResult {
    let difference = try remember(peerRules: peerRules)
    var result = SessionResult(
      peer: peer, shows: peerState(traffic), tip: try (told ?? shown).tip)
    (result.joins, result.hasNews, result.tipDifference) = (merges, hasNews, difference)
    return result
  }

  /// Records the versions that the peer shows, if the peer can be reached again. Also records the difference of
  /// the tips if both have the same heads.
  ///
  /// - Returns: the difference; nil if there is none.
  @discardableResult
  func remember(peerRules: Int?) throws -> TipDifference? {
    guard isLasting else { return nil }
    try recordPeer()
    return try compareTips(peerRules: peerRules)
  }
}

/// The number of bytes over a link so far.
package struct Traffic: Sendable {
  package var sentBytes = 0
  package var receivedBytes = 0
  package var sentVersions = 0

  /// Begins with no bytes and no versions.
  package init() {}
}

/// The versions that a side shows: its tip, and the heads that the tip merges.
package struct Shown: Hashable, Sendable {
  var tip: ObjectID?
  var heads: [ObjectID]
  /// The forgettings that they obey, sorted.
  let forgot: [String]

  /// A tip and its heads.
  package init(tip: ObjectID?, heads: [ObjectID], forgot: [String]? = nil) {
    self.tip = tip
    self.heads = heads
    self.forgot = forgot ?? []
  }
}
