internal import Git
internal import History
internal import Notebook
internal import Synchronization
internal import System

/// The large packs of rewritten histories that this process has accepted: notes-protocol(7), LIMITS.
final class RewrittenHistories: Sendable {
  /// The only instance in this process.
  static let accepted = RewrittenHistories()

  /// A device, hub or bundle, and a notebook on this device.
  private struct Source: Hashable {
    let peer: String
    let folder: String
  }

  private let last = Mutex<[Source: Instant]>([:])
  /// A source may send one such pack within this time, in seconds.
  private static let interval = 3_600.0

  /// Whether this source may send such a pack now. If so, records that the source has sent one.
  func accept(from peer: String, in folder: String, at now: Instant = .now) -> Bool {
    let source = Source(peer: peer, folder: folder)
    return last.withLock { last in
      last = last.filter { now - $0.value < Self.interval }
      if last[source] != nil { return false }
      last[source] = now
      return true
    }
  }
}

extension Replica {
  /// Lets the peer's pack unpack to more, if it shows a forgetting of an admin that this device has not followed.
  var unpackingGrant: UnpackingGrant {
    UnpackingGrant(isCandidate: ForgettingVersion.mayBe) { [notebook, peer] candidates in
      let judge = try ForgettingJudge(notebook)
      return try candidates.contains { try judge.isNews($0.id, $0.content) }
        && RewrittenHistories.accepted.accept(from: peer.deviceID, in: notebook.folder)
    }
  }
}
