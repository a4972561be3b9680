package import Git
internal import History
package import Notebook
internal import System
internal import WorkTree

/// A notebook in one exchange with a peer, and the owner of what both sides show. A carrier of
/// versions (a session, a visit to a hub, a bundle) asks it and keeps none of it. An instance belongs to the
/// exchange's thread.
package final class Replica {
  let notebook: Notebook
  let keeper: any SessionKeeper
  let report: (Event) -> Void
  /// The other side, as it is called by what is known of the members now.
  var peer: PeerIdentity
  /// Whether versions may go from here to the peer.
  var gives = false
  /// Whether this notebook lacks objects and everything is asked for; until then nothing is shown.
  private(set) var isMending = false
  /// The version that takes the place of one made with git since the exchange began.
  private var replaced: PortableVersion?
  var received = 0
  /// The versions that the peer shows.
  private(set) var theirs = Shown(tip: nil, heads: [])
  /// Heads that the peer was told lately: it may ask for these without a look into history.
  private var told: [ObjectID] = []
  /// The notes that somebody edits there.
  var editing: [TreePath] = []
  /// The versions that one side does not merge.
  private var refusal: (heads: [ObjectID], refusal: PeerState.Refusal)?
  /// Versions that the peer showed from before something was forgotten, which were brought over and are gone.
  var broughtOver: Set<ObjectID> = []
  /// Packs that came and whose versions are not merged: git would else take them for garbage.
  var unmerged: [Quarantine] = []
  /// The last merge and its seconds, if it was not looked through for altered merges yet.
  var unchecked: (merged: MergeOutcome, seconds: Double)?
  let judge: VersionJudge?
  /// Whether the peer can be met again, and so is remembered, and asked for what is missing here.
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

  /// A notebook whose peer is believed whatever it sends.
  package convenience init(
    _ notebook: Notebook, _ keeper: any SessionKeeper, with peer: PeerIdentity
  ) {
    self.init(notebook, keeper, with: peer, judge: nil, report: { _ in })
  }

  // MARK: Own: the state this device shows

  /// Saves what was written until now. Where objects are missing that the peer was not asked for, this
  /// side is to ask it for all that it has.
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

  /// Closes what is open of a repository that another one has taken the place of: something was forgotten.
  ///
  /// - Returns: whether one has since the last call.
  @discardableResult
  func closeIfReplaced() -> Bool {
    let present = notebook.repository.identityOnDisk
    if present == repositoryOnDisk { return false }
    repositoryOnDisk = present
    notebook.repository.close()
    return true
  }

  /// Tells of the saves that were found on the way.
  func tellSaves() {
    for one in keeper.takeSaveNews() {
      report(.saveNews(notebook: notebook.identity.id, news: one))
    }
  }

  /// The versions that this device shows now: one whose branch is about to move, or the branch's, whoever
  /// moved it. None as long as it is being mended.
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

  /// Whether the peer's history does not obey all that this one obeys: nothing of it is taken. It moves over to this
  /// one, or an admin's device joins both: notes-forget(1), "Other devices".
  var isPeerBehind: Bool {
    get throws {
      let own = try notebook.history.obeyed()?.forgettings ?? []
      if own.isSubset(of: theirs.forgot) { return false }
      return own.isSuperset(of: theirs.forgot) || joiner != notebook.identity.device.deviceID
    }
  }

  /// The device that joins the histories of both sides where each had something forgotten of which the other does not
  /// know; nil where neither is an admin's.
  private var joiner: String? {
    guard let judge else { return nil }
    return [notebook.identity.device.deviceID, peer.deviceID].filter(judge.isAdmin).min()
  }

  /// Throws where each side had something forgotten of which the other does not know, and neither can join both.
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

  /// The peer was told that these are shown.
  func sent(_ heads: [ObjectID]) { told = Array((told + heads).suffix(ProtocolLimits.heads)) }

  /// A pack of what the peer asks for, but for what it knows. Throws `SyncError.protocolBroken` where it
  /// may not have that.
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
    let pack = try repository.pack(wants: wanted, haves: haves)
    return try PackSender(
      pack, bringing: wanted,
      versions: notebook.versionCount(of: pack.commitCount, merges: pack.merges))
  }

  /// Makes a version on top of what this device shows, where others would not take that, or have not:
  /// notes-security(7), VERSIONS.
  ///
  /// - Returns: whether it did, of which every session is told.
  @discardableResult
  func endorseOwn(_ occasion: VersionJudge.Occasion = .giving) throws -> Bool {
    guard gives, !isMending, let judge, try judge.endorseOwn(occasion) else { return false }
    keeper.sessions.look()
    return true
  }

  /// Looks for what is missing still, once the peer has sent all that it has, and shows what is here.
  func endMending() throws {
    notebook.missingObjects.record(asked: peer.deviceID)
    notebook.repository.close()
    _ = try keeper.currentState()
    if try notebook.lookForMissing().isEmpty {
      report(.completed(from: peer, notebook: notebook.identity.id))
    } else {
      // Others are asked for what is new; this one has sent what it has.
      notebook.missingObjects.record(asked: peer.deviceID)
    }
    isMending = false
  }

  /// Tells who the peer is, and what stands for a version made with git now.
  func introduce() {
    report(.peer(peer))
    if let replaced { report(.replaced(replaced, notebook: notebook.identity.id)) }
  }

  // MARK: Theirs: the state the peer shows

  /// The peer shows something else.
  func received(_ shown: Shown) { theirs = shown }

  /// The heads that the peer shows and that are to be taken: those that are not here, or all where they
  /// only are not merged. None where this device shows them.
  func lacking() throws -> [ObjectID] {
    let heads = theirs.heads.filter { !broughtOver.contains($0) }
    let lacking = try heads.filter { try !notebook.repository.contains($0) }
    if !lacking.isEmpty { return lacking }
    return try notebook.history.shows(heads) ? [] : heads
  }

  /// Whether both sides show the same heads.
  var isAlike: Bool { get throws { try Set(shown.heads) == Set(theirs.heads) } }

  /// The peer has merged what it was told, or refuses it.
  func peerSettled(_ heads: [ObjectID], _ reason: MergeRefusal?) {
    guard let reason else {
      if refusal?.refusal.isThere == true { refusal = nil }
      return held.forget(peer.deviceID, isThere: true)
    }
    refuse(PeerState.Refusal(reason, isThere: true), heads)
  }

  /// Keeps what one side does not merge, for `notes status` on both.
  func refuse(_ refusal: PeerState.Refusal, _ heads: [ObjectID], _ words: String? = nil) {
    self.refusal = (heads, refusal)
    guard isLasting else { return }
    held.record(
      RefusedVersions.Entry(
        device: peer.deviceID, refusal: refusal, words: words, heads: heads, time: WallClock.now()))
  }

  var held: RefusedVersions { RefusedVersions(stateFolder: notebook.stateFolder) }

  /// The peer's state as others are told, with the traffic over its link.
  func peerState(_ traffic: Traffic) -> PeerState {
    var state = PeerState()
    (state.tip, state.heads, state.editing) = (theirs.tip, theirs.heads, editing)
    (state.sentBytes, state.receivedBytes) = (traffic.sentBytes, traffic.receivedBytes)
    (state.sentVersions, state.receivedVersions) = (traffic.sentVersions, received)
    // A refusal of this side counts as long as the heads are shown.
    if let refusal, refusal.refusal.isThere || refusal.heads == theirs.heads {
      state.refusal = refusal.refusal
    }
    return state
  }

  /// The result of the exchange, at whose end the peer knew this side to show `told`, by default what it
  /// shows now. Keeps the peer's heads.
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

  /// Writes down what the peer shows, where it can be met again, and how its tip differs from this
  /// device's where both have the same heads.
  ///
  /// - Returns: how they differ; nil where they do not.
  @discardableResult
  func remember(peerRules: Int?) throws -> TipDifference? {
    guard isLasting else { return nil }
    try recordPeer()
    return try compareTips(peerRules: peerRules)
  }
}

/// The bytes that went over a link so far.
package struct Traffic: Sendable {
  package var sentBytes = 0
  package var receivedBytes = 0
  package var sentVersions = 0

  /// Nothing.
  package init() {}
}

/// The versions that a side shows: its tip, and the heads that it is made of.
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
