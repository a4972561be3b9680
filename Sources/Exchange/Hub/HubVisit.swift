package import Git
internal import History
internal import Membership
internal import Merge
package import Notebook
internal import System

/// A visit to a hub, an ordinary git repository, which only stores what is pushed: the visit fetches,
/// lets the replica merge, pushes the result, and repeats this if another device was faster.
/// notes-hub(7), "A visit".
package final class HubVisit {
  /// Called between the first fetch and the first push; tests let another device be faster here.
  package var meanwhile: (() throws -> Void)?

  private let hub: Hub
  private let replica: Replica
  private let transfer: Transfer
  /// This device in the notebook. If nil, the visit pushes, and no list of members is exchanged.
  private let context: SessionContext?
  private let options: SessionOptions
  private let allowsUnrelated: Bool
  /// The version from before a forgetting that the hub had at the last visit, if this device had all of its
  /// history.
  private let replaced: ObjectID?
  private let cancellation: CancellationToken?
  private var branch: HubBranch
  private var members: HubMembers
  private let invitations: HubInvitations?
  private let request: HubRequest?
  /// References of ended invitations, to be removed at the hub.
  private var ended: [String] = []
  /// The fetched pack that is not merged yet.
  private var arrived: Quarantine?
  private var attempts = 0
  /// The hub's message when it refused a push on top of this version.
  private var refusal: (former: ObjectID, words: String)?
  /// Set if the hub's branch does not continue from its commit at the last visit: that commit, and
  /// the present one.
  private var rewind: (from: ObjectID, to: ObjectID?)?
  private var traffic = Traffic()
  private var merges: [MergeOutcome] = []

  private var notebook: Notebook { replica.notebook }
  private var repository: Repository { notebook.repository }

  // How often a branch that others move is fetched and pushed again; the longest pause, in seconds.
  private static let (mostAttempts, longestPause) = (60, 2.0)

  /// A visit with a git program; cancelling the program ends the visit. `allowsUnrelated` permits a
  /// merge with a history that has nothing in common with the notebook's. Throws
  /// `HubError.noBranch`.
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
    request = HubRequest(at: hub, context, notebook.stateFolder)
    replica = Replica(
      notebook, keeper, with: PeerIdentity(hub: hub.name, at: hub.url),
      judge: context.map {
        let takesAll = options.allowsUnsigned || allowsUnrelated
        return VersionJudge(
          $0.membership, notebook, takesAll ? .all : Self.taking(from: hub, as: $0))
      }, report: report)
  }

  /// The versions to accept from a hub. Versions of people who use plain git are unsigned.
  private static func taking(from hub: Hub, as context: SessionContext) -> VersionJudge.Taking {
    let isAdmin = context.membership.role(ofDevice: context.key.deviceID) == .admin
    return hub.acceptsUnsigned && isAdmin ? .ofNoMember : .answered
  }

  /// Visits the hub until both sides show the same version.
  package func run() throws -> SessionResult {
    try replica.exchanging {
      try replica.begin(receives: options.mode.receives)
      try open()
      do {
        try converge()
      } catch {
        // The caller reports the earlier error.
        _ = try? replica.remember(peerRules: nil)
        if !(error is HubError) { giveMembers() }
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

  /// Whether this device may push its edits.
  private var mayGive: Bool {
    get throws { try options.mode.gives && context?.mayGive() != false }
  }

  private func open() throws {
    replica.gives = try mayGive
    let isDone = try invitations?.areOpen != true && giveUnseen()
    if !isDone {
      // Read before the fetch: another process may visit the hub in the meantime, and record a newer state.
      let (former, own) = (try branch.former, context?.ownMembership)
      try look()
      try checkHistory(since: former)
      try checkMembers()
      // The hub's list of members may also have changed the membership.
      if let context, let own { try context.takeOwnMembership(since: own, in: replica) }
      replica.gives = try mayGive
    }
    replica.introduce()
    if replica.isMending { try replica.endMending() }
  }

  /// This device's state is read again each time: other processes change the notebook in the
  /// meantime.
  private func converge() throws {
    if !options.mode.receives { tellRewind() }
    while true {
      if options.mode.receives, try take() { continue }
      guard try isToGive() else { return }
      if try replica.endorseOwn() { continue }
      let others = meanwhile
      meanwhile = nil
      try others?()
      // A run that receives nothing pushes nothing over versions that are not here: it may not merge them.
      guard try options.mode.receives || replica.lacking().isEmpty else { return }
      try give()
    }
  }

  // MARK: Fetch

  /// Fetches the branch's present commit, and the list of members.
  private func look() throws {
    var known = try [replica.shown.tip].compactMap { $0 }
    known += try repository.references(under: "refs/remotes/").map(\.id)
    // If objects are missing here, no version is reported as complete.
    if replica.isMending { known = [] }
    var progress = TransferProgress(peer: replica.peer)
    let split = try Self.talking {
      try branch.fetch(
        beside: [
          MemberList.folder, invitations == nil ? request?.folder : HubInvitations.folder,
        ].compactMap(\.self),
        known: Array(Set(known)).sorted(), limits: options.packLimits
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

  /// Reads the fetched pack and the list of members that it contains.
  private func receive(heads: [ObjectID]) throws {
    let list = transfer.reference(named: MemberList.reference)
    let asked = HubInvitations.found(by: transfer)
    let wanted = heads + [list].compactMap { $0 } + asked.values.flatMap(\.values)
    let lacking = try wanted.filter { try !repository.contains($0) }
    if lacking.isEmpty, !replica.isMending { return try readFiles(list, asked) }
    let received = try transfer.received(limits: options.packLimits, replica.unpackingGrant)
    guard let (quarantine, bytes) = received else {
      guard lacking.isEmpty else { throw HubError.failed("the fetched objects are missing") }
      return try readFiles(list, asked)
    }
    traffic.receivedBytes += bytes
    try readFiles(list, asked, arriving: quarantine)
    if replica.isMending {
      try quarantine.join(promised: heads)
      // Keep the quarantine: no reference may name its objects yet.
      replica.unmerged.append(quarantine)
    } else if lacking.contains(where: heads.contains) {
      arrived = quarantine
    } else {
      // Move the objects into the repository, so that the next visit does not fetch them again.
      try quarantine.join(promised: [])
    }
  }

  /// Reads the list of members, and on an admin's device answers requests to join.
  private func readFiles(
    _ list: ObjectID?, _ asked: [String: [String: ObjectID]], arriving quarantine: Quarantine? = nil
  ) throws {
    try members.look(at: list, in: repository, arriving: quarantine)
    try request?.look(at: asked, in: repository, arriving: quarantine)
    ended =
      try invitations?.answer(
        asked, in: repository, arriving: quarantine, report: replica.report) ?? []
  }

  /// Compares the hub's branch with its commit at the last visit: notes-hub(7), "A hub that went
  /// back".
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

  /// Compares the hub's list of members with the one at the last visit: notes-hub(7), "A hub that went back".
  private func checkMembers() throws {
    let size = try HubSightings(of: notebook).listSize(of: hub, notebook: notebook.identity.id)
    guard branch.tip != nil, let size, try members.areFewer(than: size) else { return }
    replica.report(.hubMembersWentBack(replica.peer))
  }

  /// Reports that the hub went back, unless a forgetting is the reason.
  private func tellRewind() {
    guard let (former, tip) = rewind else { return }
    rewind = nil
    replica.report(.hubWentBack(replica.peer, from: former, to: tip))
  }

  /// Merges the hub's versions; returns false if none is new.
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

  /// Whether something must be pushed: versions, the list of members, or the second branch.
  private func isToGive() throws -> Bool {
    guard replica.gives, let own = try replica.shown.tip else { return false }
    return try !replica.isAlike || own == branch.tip && members.areNews || branch.isTwinBehind
  }

  /// Moves the branch to this side's version; if others have moved it in the meantime, fetches
  /// again.
  private func give() throws {
    guard let own = try replica.shown.tip else { return }
    // The hub has already refused this, and nothing has changed.
    if let refusal, refusal.former == branch.tip { throw HubError(refusedWith: refusal.words) }
    let replaced = branch.tips.filter { replica.broughtOver.contains($0.value) }
    var version = own
    if let tip = branch.tip, replaced.isEmpty, try !repository.isAncestor(tip, of: own) {
      // The hub's commit is a derived merge of versions that are merged here: notes-merge(7), "Hubs".
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
        // Another device pushed its list in the meantime: nothing in it may be lost.
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

  /// Sends only the list of members, if versions at the hub were refused: other devices must still learn of removals.
  /// The hub is the notebook's: `checkHistory` has found that.
  private func giveMembers() {
    guard replica.gives, members.mayReplace else { return }
    // The caller reports the failure; the next visit tries again.
    guard let moves = try? members.references(in: repository), !moves.isEmpty,
      let fate = try? Self.talking({ try transfer.push(beside: moves, at: hub.url) })
    else { return }
    members.went(fate)
  }

  /// The hub's references that are not the notebook's, and may lead to forgotten content.
  private func otherReferences() throws -> [String] {
    // Before a fetch the branch's tip is not known.
    let own = ([branch.name] + branch.tips.keys).map { "refs/heads/" + $0 }
    return try Self.talking { try transfer.references(of: hub.url) }.keys.filter { name in
      !own.contains(name) && !name.hasPrefix("refs/notebook/")
        && !name.hasPrefix("refs/invitations/")
    }.sorted()
  }

  /// Whether this side's version has the hub's commit of the last visit in its history.
  private func leads(on former: ObjectID) throws -> Bool {
    guard let own = try replica.shown.tip, own != former, try repository.contains(former) else {
      return false
    }
    return try repository.isAncestor(former, of: own)
  }

  /// Moves the branch to this side's version without a fetch. The version must continue from the hub's commit of
  /// the last visit, or be its rewritten form. The hub must still have that commit, and its list of members must
  /// be the one here.
  ///
  /// - Returns: whether it moved the branch; if not, the state of the hub is unknown.
  private func giveUnseen() throws -> Bool {
    // A hub with two branches must be fetched first, because both must move.
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
        // Another device may have pushed this version already.
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
      // A device without permission to push may still fetch.
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
    return try Self.writing {
      try push {
        progress.objectsToSend = $0.total
        progress.sentObjects = $0.done
        if $0.stage != nil { replica.report(.progress(progress)) }
      }
    }
  }

  /// Waits, longer each time, so that of many devices one succeeds. Throws `SyncError.stopped` when cancelled.
  private func waitForTurn() throws {
    attempts += 1
    guard attempts < Self.mostAttempts else { throw HubError.busy(attempts: attempts) }
    let pause = min(0.02 * Double(1 << min(attempts, 10)), Self.longestPause)
    let stop = cancellation?.descriptor ?? -1
    Poll.wait(for: [stop], until: .after(seconds: Double.random(in: 0...pause)))
    if cancellation?.isCancelled == true { throw SyncError.stopped }
  }
}
