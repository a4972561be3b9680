internal import Channel
internal import Discovery
internal import Git
internal import History
internal import Membership
internal import Notebook
internal import System

// When a run is over.
extension SyncCoordination {
  func isOver() throws -> Bool {
    guard connected == 0, !progress.values.contains(where: { $0.isUnderWay || $0.retry != nil })
    else { return false }
    for (key, target) in targets where try isDue(target, progress[key] ?? SyncTarget.Progress()) {
      return false
    }
    let now = Instant.now
    if !run.addresses.isEmpty { return true }
    // The founder of a notebook that nobody has joined.
    if members.isEmpty && targets.isEmpty { return true }
    let isAnybodyMissing = members.contains { member in
      outcomes[member.deviceID] == nil
        && !failures.contains { $0.failure.device == member.deviceID }
    }
    if !retriable.isEmpty {
      let end = outcomes.isEmpty ? start + run.window : lastActivity + Self.goodbye
      if now < end { return false }
    }
    let tip = try notebook.state().tip
    let areAllAlike = outcomes.values.allSatisfy {
      $0.result.peerTip == tip || $0.result.tipDifference?.tip == tip
    }
    if !isAnybodyMissing && areAllAlike { return true }
    switch search {
    case .looking where now < start + run.window: return false
    case .none where workers.listener == nil: return true
    default: break
    }
    if outcomes.isEmpty && failures.isEmpty { return now >= start + run.window }
    return now >= lastActivity + Self.linger
  }
}
