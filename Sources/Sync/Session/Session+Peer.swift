internal import Git
internal import Merge
internal import Notebook

// What is remembered of a peer.
extension Session {
  /// Notes what the peer has, for the next session to start from.
  func recordPeer() throws {
    let repository = notebook.repository
    let branch = try repository.head().branch ?? "HEAD"
    let known = try ([theirs.tip] + (theirs.heads.count == 1 ? theirs.heads : [])).compactMap { $0 }
      .first { try repository.contains($0) && repository.header(of: $0).kind == .commit }
    guard let known else { return }
    let name = Negotiation.remoteReference(of: link.peer.deviceID, branch: branch)
    if try repository.reference(name) == known { return }
    try notebook.setDeviceReference(name, to: known, message: "notes: sync")
  }

  /// Compares the tips where both sides have the same heads, which have one tip, whoever computes it
  /// (notes-merge(7)); remembers what comes of it, and tells of a difference that was not known.
  ///
  /// - Returns: the difference; nil when there is none, or the heads differ.
  func compareTips() throws -> TipDifference? {
    guard let tip = own.tip, let peerTip = theirs.tip, rules.areAlike else { return nil }
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
}
