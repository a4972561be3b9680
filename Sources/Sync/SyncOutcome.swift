public import Git
public import Membership
internal import Notebook

/// What a run of `notes sync`, `pull` or `push` did.
public struct SyncOutcome: Sendable {
  /// One for each device that was synchronised with, in the order of their first session; several
  /// sessions with the same device are summed up.
  public var sessions: [SessionResult] = []
  /// Members that were found, or asked for, and with whom no session came to its end.
  public var failures: [SyncFailure] = []
  /// Members of whom nothing was seen.
  public var absent: [Member] = []
  /// The tip at the end; nil in a notebook without versions.
  public var tip: ObjectID?

  public init() {}
}

/// A session that did not come about or broke off.
public struct SyncFailure: Error, Sendable {
  /// Who it was, if that was proved.
  public let peer: PeerIdentity?
  /// The device that was announced, remembered or proved to be there.
  public let device: String?
  /// Where it was tried, as `HOST:PORT`.
  public let address: String
  /// What went wrong: `SyncError`, `ChannelError`, `NotebookError`, …
  public let error: any Error
}

extension SessionResult {
  /// This session and a later one with the same device as one.
  func followed(by later: SessionResult) -> SessionResult {
    SessionResult(
      peer: later.peer, tip: later.tip, peerTip: later.peerTip,
      sentVersions: sentVersions + later.sentVersions,
      receivedVersions: receivedVersions + later.receivedVersions,
      sentBytes: sentBytes + later.sentBytes, receivedBytes: receivedBytes + later.receivedBytes,
      joins: joins + later.joins, conflicts: later.conflicts,
      tipDifference: later.tipDifference)
  }

  /// The result with the tip that this device shows now.
  package func at(tip: ObjectID?) -> SessionResult {
    SessionResult(
      peer: peer, tip: tip, peerTip: peerTip, sentVersions: sentVersions,
      receivedVersions: receivedVersions, sentBytes: sentBytes, receivedBytes: receivedBytes,
      joins: joins, conflicts: conflicts, tipDifference: tipDifference)
  }
}
