internal import Git
internal import Notebook

// One set of heads has one tip, whoever computes it: notes-merge(7).
extension Conversation {
  /// Compares the tips where both sides have the same heads, remembers what comes of it, and tells
  /// of a difference that was not known.
  ///
  /// - Returns: the difference; nil when there is none, or the heads differ.
  func compareTips(_ onEvent: (Event) -> Void) throws -> TipDifference? {
    guard let tip = own.tip, let peerTip = theirs.tip, Set(own.heads) == Set(theirs.heads) else {
      return nil
    }
    if tip == peerTip {
      try notebook.forgetTipDifference(with: peer.deviceID)
      return nil
    }
    let difference = TipDifference(
      device: peer.deviceID, tip: tip, rules: MergeTrailers.currentVersion, peerTip: peerTip,
      peerRules: peerRules)
    if try notebook.remember(difference) { onEvent(.differs(peer, difference)) }
    return difference
  }
}
