internal import Git
internal import History
internal import Merge
internal import Notebook
internal import System

extension Replica {
  /// Runs `body`, an exchange. If it fails, records the objects that this notebook lacks. If finding these
  /// fails, throws that error instead.
  func exchanging<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch {
      switch error {
      case GitError.missing(let id): notebook.missingObjects.record([id])
      // The other side wrongly assumed that an object is here.
      case PackError.incomplete, PackError.baseMissing: _ = try notebook.lookForMissing()
      // A program made the commit when the exchange began. The next exchange checks all versions.
      case GitError.unfit: try notebook.forgetPortableHistory()
      default: break
      }
      if let error = error as? PackError { throw SyncError.packRefused(error) }
      throw error
    }
  }

  // MARK: Records about a peer

  func recordPeer() throws {
    let repository = notebook.repository
    let branch = try repository.head().branch ?? "HEAD"
    let known = try ([theirs.tip] + (theirs.heads.count == 1 ? theirs.heads : [])).compactMap { $0 }
      .first { try repository.contains($0) && repository.header(of: $0).kind == .commit }
    guard let known else { return }
    let name = Self.remotesPrefix + peer.deviceID + "/" + branch
    if try repository.reference(name) == known { return }
    try notebook.setDeviceReference(name, to: known, message: "notes: sync")
  }

  /// If both sides have the same heads, compares their tips, which must then be the same (notes-merge(7)).
  /// Records the result, and reports a new difference.
  func compareTips(peerRules: Int?) throws -> TipDifference? {
    let own = try shown
    guard let tip = own.tip, let peerTip = theirs.tip, Set(own.heads) == Set(theirs.heads)
    else { return nil }
    if tip == peerTip {
      try notebook.forgetTipDifference(with: peer.deviceID)
      return nil
    }
    let difference = TipDifference(
      device: peer.deviceID, tip: tip, rules: MergeTrailers.currentVersion, peerTip: peerTip,
      peerRules: peerRules)
    if try notebook.remember(difference) { report(.differs(peer, difference)) }
    return difference
  }

  // MARK: The peer's versions: notes-protocol(7), want

  private static var remotesPrefix: String { "refs/remotes/" }

  /// Commits that are here with all their history and that the peer may have: the heads that this side has
  /// told, and others.
  func haves(_ heads: [ObjectID]) throws -> [ObjectID] {
    let remotes = try notebook.repository.references(under: Self.remotesPrefix)
    let prefix = Self.remotesPrefix + peer.deviceID + "/"
    var found = heads + remotes.filter { $0.name.hasPrefix(prefix) }.map(\.id)
    // Only a peer without an earlier session may have none of the heads found so far.
    let isNew = found.count == heads.count
    if isNew, let head = heads.first { found += try sample(from: head) }
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
