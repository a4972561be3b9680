package import Git
internal import History
internal import Membership
internal import Merge
package import Notebook
internal import System

/// A visit to a hub, an ordinary git repository, which keeps what it is given and does nothing by
/// itself: fetch, have the replica take it, push what comes of it, and again where somebody was faster.
/// notes-hub(7), "A visit".
package final class HubVisit {
  /// Called between the look at the branch and the first push: others may be faster.
  package var meanwhile: (() throws -> Void)?

  private let hub: Hub
  private let replica: Replica
  private let transfer: Transfer
  /// This device in the notebook; without it, the visit gives, and no list of members is exchanged.
  private let context: SessionContext?
  private let options: SessionOptions
  private let allowsUnrelated: Bool
  /// The version from before something was forgotten here that the hub held at the last visit, if this device had all
  /// of it.
  private let replaced: ObjectID?
  private let cancellation: CancellationToken?
  private var branch: HubBranch
  private var members: HubMembers
  private let invitations: HubInvitations?
  /// References of invitations that are over, which are removed there.
  private var ended: [String] = []
  /// The pack that was fetched and is not taken yet.
  private var arrived: Quarantine?
  private var attempts = 0
  /// The hub's answer to a push over this version.
  private var refusal: (former: ObjectID, words: String)?
  /// The hub does not lead on from where it stood at the last visit: from that, and to what.
  private var rewind: (from: ObjectID, to: ObjectID?)?
  private var traffic = Traffic()
  private var merges: [MergeOutcome] = []

  private var notebook: Notebook { replica.notebook }
  private var repository: Repository { notebook.repository }
  private var limits: PackLimits { options.allowsLarge ? .large : .standard }

  // How often a branch that others move is fetched and pushed again; the longest pause, in seconds.
  private static let (mostAttempts, longestPause) = (60, 2.0)

  /// A visit by a git program, which can be cancelled by that. A history that shares nothing with the
  /// notebook's is merged only where that is allowed. Throws `HubError.noBranch`.
  package init(
    to hub: Hub, from notebook: Notebook, _ keeper: any SessionKeeper, by program: GitProgram,
    as context: SessionContext? = nil, _ options: SessionOptions = SessionOptions(),
    allowsUnrelated: Bool = false, replacing replaced: ObjectID? = nil,
    report: @escaping (Event) -> Void = { _ in }
  ) throws {
    (self.hub, self.context, self.options, self.replaced) = (hub, context, options, replaced)
    (self.allowsUnrelated, cancellation) = (allowsUnrelated, program.cancellation)
    transfer = try Transfer(notebook.repository, by: program)
    branch = try HubBranch(at: hub, of: notebook, by: transfer)
    members = HubMembers(context, allowsUnrelated: allowsUnrelated)
    invitations = HubInvitations(at: hub, context, notebook.stateFolder)
    replica = Replica(
      notebook, keeper, with: PeerIdentity(hub: hub.name, at: hub.url),
      judge: context.map {
        let takesAll = options.allowsUnsigned || allowsUnrelated
        return VersionJudge(
          $0.membership, notebook, takesAll ? .all : Self.taking(from: hub, as: $0))
      }, report: report)
  }

  /// Which versions are taken. A history of others is theirs, and unsigned where they use git alone.
  private static func taking(from hub: Hub, as context: SessionContext) -> VersionJudge.Taking {
    let isAdmin = context.membership.role(ofDevice: context.key.deviceID) == .admin
    return hub.acceptsUnsigned && isAdmin ? .ofNoMember : .answered
  }

  /// Visits it, until both sides show the same.
  package func run() throws -> SessionResult {
    try replica.exchanging {
      try replica.begin(receives: options.mode.receives)
      try open()
      do {
        try converge()
      } catch {
        // The error before it is the one to tell.
        _ = try? replica.remember(peerRules: nil)
        throw error
      }
      if options.mode.receives { replica.held.forget(hub.name, isThere: false) }
      if !ended.isEmpty, replica.gives { HubInvitations.remove(ended, by: transfer, at: hub) }
      if let tip = branch.tip {
        try HubSightings(of: notebook).record(
          hub, branch: branch.name, tip: tip, members: members.held(),
          notebook: notebook.identity.id)
      }
      return try replica.result(traffic, merges: merges)
    }
  }

  /// Whether what is written here may go there.
  private var mayGive: Bool {
    get throws { try options.mode.gives && context?.mayGive() != false }
  }

  private func open() throws {
    replica.gives = try mayGive
    let isDone = try invitations?.areOpen != true && giveUnseen()
    if !isDone {
      // Another process may be there while this one fetches, and remember what it sees then.
      let (former, wasGuest) = (try branch.former, context?.isGuest)
      try look()
      try checkHistory(since: former)
      // By what the hub told of the members, too.
      try context?.takeOwnMembership(wasGuest: wasGuest ?? false, in: replica)
      replica.gives = try mayGive
    }
    replica.introduce()
    if replica.isMending { try replica.endMending() }
  }

  /// The state here is read again each time: other processes work at the notebook meanwhile.
  private func converge() throws {
    if !options.mode.receives { tellRewind() }
    while true {
      if options.mode.receives, try take() { continue }
      guard try isToGive() else { return }
      if try replica.endorseOwn() { continue }
      let others = meanwhile
      meanwhile = nil
      try others?()
      // This side may not take versions that are not merged here.
      guard try options.mode.receives || replica.lacking().isEmpty else { return }
      try give()
    }
  }

  // MARK: Fetch

  /// Fetches what the branch holds now, and the list of members.
  private func look() throws {
    var known = try [replica.shown.tip].compactMap { $0 }
    known += try repository.references(under: "refs/remotes/").map(\.id)
    // One that lacks objects says of nothing that it is here.
    if replica.isMending { known = [] }
    var progress = TransferProgress(peer: replica.peer)
    let split = try Self.talking {
      try branch.fetch(
        beside: [MemberList.folder] + (invitations == nil ? [] : [HubInvitations.folder]),
        known: Array(Set(known)).sorted(), limits: limits
      ) {
        progress.objectsToReceive = $0.total
        progress.receivedObjects = $0.done
        progress.receivedBytes = $0.bytes
        if $0.stage != nil { replica.report(.progress(progress)) }
      }
    }
    if let split { replica.report(.hubSplit(replica.peer, kept: split.kept, joined: split.joined)) }
    try receive(heads: [branch.tip, branch.twinTip].compactMap { $0 })
    replica.received(try branch.shown)
  }

  /// Reads what came, and the list of members in it.
  private func receive(heads: [ObjectID]) throws {
    let list = transfer.reference(named: MemberList.reference)
    let asked = HubInvitations.found(by: transfer)
    let wanted = heads + [list].compactMap { $0 } + asked.values.flatMap(\.values)
    let lacking = try wanted.filter { try !repository.contains($0) }
    if lacking.isEmpty, !replica.isMending { return try readFiles(list, asked) }
    guard let (quarantine, bytes) = try transfer.received(limits: limits) else {
      guard lacking.isEmpty else { throw HubError.failed("what it fetched is not there") }
      return try readFiles(list, asked)
    }
    traffic.receivedBytes += bytes
    try readFiles(list, asked, arriving: quarantine)
    if replica.isMending {
      try quarantine.join(promised: heads)
      // Nothing may lead to it yet.
      replica.unmerged.append(quarantine)
    } else if lacking.contains(where: heads.contains) {
      arrived = quarantine
    } else {
      // So that it does not come again.
      try quarantine.join(promised: [])
    }
  }

  /// Reads the list of members, and as an admin's device answers those who ask to become one.
  private func readFiles(
    _ list: ObjectID?, _ asked: [String: [String: ObjectID]], arriving quarantine: Quarantine? = nil
  ) throws {
    try members.look(at: list, in: repository, arriving: quarantine)
    ended =
      try invitations?.answer(
        asked, in: repository, arriving: quarantine, report: replica.report) ?? []
  }

  /// Compares what the hub holds with what it held: notes-hub(7), "A hub that went back".
  private func checkHistory(since former: ObjectID?) throws {
    guard let tip = branch.tip else {
      rewind = former.map { ($0, nil) }
      return
    }
    if let former {
      if try former == tip || branch.isAncestor(former, of: tip) { return }
      rewind = (former, tip)
    }
    guard let own = try replica.shown.tip, !allowsUnrelated, !members.areOwn else { return }
    guard try transfer.areRelated(own, tip) else {
      tellRewind()
      throw HubError.unrelated
    }
  }

  /// Tells that the hub went back, where that is not because something was forgotten.
  private func tellRewind() {
    guard let (former, tip) = rewind else { return }
    rewind = nil
    replica.report(.hubWentBack(replica.peer, from: former, to: tip))
  }

  /// Has what the hub shows taken; false where nothing of it is news.
  private func take() throws -> Bool {
    let obeyed = try notebook.history.obeyed()
    defer { tellRewind() }
    let (isAny, merged) = try replica.takeAll(arrived)
    if try notebook.history.obeyed() != obeyed { rewind = nil }
    arrived = nil
    merges += [merged].compactMap { $0 }
    if isAny { replica.received(try branch.shown) }
    return isAny
  }

  // MARK: Push

  /// Whether something is to go there: versions, the list of members, or one of two branches.
  private func isToGive() throws -> Bool {
    guard replica.gives, let own = try replica.shown.tip else { return false }
    return try !replica.isAlike || own == branch.tip && members.areNews || branch.isTwinBehind
  }

  /// Moves the branch to what this side shows; where others moved it meanwhile, looks again.
  private func give() throws {
    guard let own = try replica.shown.tip else { return }
    // It has said so, and nothing has changed.
    if let refusal, refusal.former == branch.tip { throw HubError(refusedWith: refusal.words) }
    let replaced = branch.tips.filter { replica.broughtOver.contains($0.value) }
    var version = own
    if let tip = branch.tip, replaced.isEmpty, try !repository.isAncestor(tip, of: own) {
      // It is a derived merge of what is merged here: notes-merge(7), "Hubs".
      version = try notebook.hubMerge(of: own, over: tip)
    }
    let isFirst = branch.tip == nil
    let along = branch.twinTip == nil ? nil : branch.twin
    let others = try replaced.isEmpty ? [] : otherReferences()
    let outcome = try pushing {
      try transfer.push(
        version, to: branch.name, along: [along].compactMap { $0 }, replacing: replaced,
        beside: members.references(in: repository), at: hub.url, onProgress: $0)
    }
    switch outcome {
    case .done(let bytes, let hasMoved, let beside):
      try gave(version, bytes, isNews: hasMoved, beside)
      if !others.isEmpty { replica.report(.hubOthers(replica.peer, references: others)) }
      if isFirst { try branch.offerToClone(version) }
      if beside == .moved {
        // Another device gave its list meanwhile: nothing of that may be lost.
        try waitForTurn()
        try look()
      }
    case .moved:
      try waitForTurn()
      try look()
    case .refused(let words):
      throw replaced.isEmpty ? HubError(refusedWith: words) : .keepsForgotten(words)
    }
  }

  /// The references there that are not of the notebook, and may lead to what was forgotten.
  private func otherReferences() throws -> [String] {
    let own = branch.tips.keys.map { "refs/heads/" + $0 }
    return try Self.talking { try transfer.references(of: hub.url) }.keys.filter { name in
      !own.contains(name) && !name.hasPrefix("refs/notebook/")
        && !name.hasPrefix("refs/invitations/")
    }.sorted()
  }

  /// Whether what this side shows leads on from what the hub held at the last visit.
  private func leads(on former: ObjectID) throws -> Bool {
    guard let own = try replica.shown.tip, own != former, try repository.contains(former) else {
      return false
    }
    return try repository.isAncestor(former, of: own)
  }

  /// Moves the branch to what this side shows, without a look at it, where that leads forward from what it
  /// held at the last visit, or was made again of that, if it still does, and the list of members there is the one
  /// here.
  ///
  /// - Returns: whether it did. Nothing is known of the hub where it did not.
  private func giveUnseen() throws -> Bool {
    // If there are two branches, both are moved.
    guard replica.gives, try !branch.hadTwin, let former = try replaced ?? branch.former,
      try former == replaced || leads(on: former)
    else { return false }
    let others = try replaced == nil ? [] : otherReferences()
    try replica.endorseOwn()
    guard let version = try replica.shown.tip else { return false }
    do {
      let outcome = try pushing {
        try transfer.push(
          version, to: branch.name, from: former,
          beside: members.references(in: repository).mapValues(\.to),
          at: hub.url, onProgress: $0)
      }
      switch outcome {
      case .done(let bytes, let hasMoved, let beside):
        branch.stayed(at: former)
        // Another device may have given it what is shown here.
        try gave(version, bytes, isNews: hasMoved, beside)
        if !others.isEmpty { replica.report(.hubOthers(replica.peer, references: others)) }
        return true
      case .moved: break
      case .refused(let words):
        if replaced != nil { throw HubError.keepsForgotten(words) }
        refusal = (former, words)
      }
      return false
    } catch let error as HubError where !error.isFinal {
      // A device that may not push there may fetch.
      return false
    }
  }

  private func gave(
    _ version: ObjectID, _ bytes: Int, isNews: Bool, _ beside: Transfer.Beside
  ) throws {
    if isNews {
      let former = try branch.tip.flatMap { try repository.contains($0) ? $0 : nil }
      traffic.sentVersions += try notebook.versionCount(from: version, lacking: former)
    }
    traffic.sentBytes += bytes
    branch.moved(to: version)
    members.went(beside)
    replica.received(try branch.shown)
  }

  private func pushing(
    _ push: ((GitProgress) -> Void) throws -> Transfer.PushOutcome
  ) throws -> Transfer.PushOutcome {
    var progress = TransferProgress(peer: replica.peer)
    return try Self.talking {
      try push {
        progress.objectsToSend = $0.total
        progress.sentObjects = $0.done
        if $0.stage != nil { replica.report(.progress(progress)) }
      }
    }
  }

  /// Lets others go first, longer each time, so that of many one comes through. Throws
  /// `SyncError.stopped` when cancelled.
  private func waitForTurn() throws {
    attempts += 1
    guard attempts < Self.mostAttempts else { throw HubError.busy(attempts: attempts) }
    let pause = min(0.02 * Double(1 << min(attempts, 10)), Self.longestPause)
    let stop = cancellation?.descriptor ?? -1
    Poll.wait(for: [stop], until: .after(seconds: Double.random(in: 0...pause)))
    if cancellation?.isCancelled == true { throw SyncError.stopped }
  }
}
