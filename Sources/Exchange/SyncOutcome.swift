public import Git
public import Membership
public import Notebook

/// The result of a session.
public struct SessionResult: Codable, Sendable {
  public let peer: PeerIdentity
  /// This device's tip at the end; nil in a notebook without versions.
  public package(set) var tip: ObjectID?
  /// The peer's tip at the end.
  public let peerTip: ObjectID?
  /// How many versions (commits) went to the peer.
  public private(set) var sentVersions: Int
  /// How many versions came.
  public private(set) var receivedVersions: Int
  /// Bytes on the wire.
  public private(set) var sentBytes: Int
  package private(set) var receivedBytes: Int
  /// The changes of the merges here, in order.
  public package(set) var joins: [MergeOutcome] = []
  /// Whether this device showed something at the end that the peer had not taken yet.
  var hasNews = false
  /// How the tips differ although both devices have the same heads; nil when they do not.
  public package(set) var tipDifference: TipDifference?

  /// Without what the merges changed, which may be long.
  private enum CodingKeys: String, CodingKey {
    case peer, tip, peerTip, sentVersions, receivedVersions, sentBytes, receivedBytes
    case tipDifference
  }

  /// The traffic of a session with a peer that shows this, since it was as `former`.
  package init(
    peer: PeerIdentity, shows state: PeerState, since former: PeerState = PeerState(),
    tip: ObjectID?
  ) {
    self.peer = peer
    self.tip = tip
    peerTip = state.tip
    sentVersions = state.sentVersions - former.sentVersions
    receivedVersions = state.receivedVersions - former.receivedVersions
    sentBytes = state.sentBytes - former.sentBytes
    receivedBytes = state.receivedBytes - former.receivedBytes
  }

  /// Whether both devices show the same bytes.
  public var isInSync: Bool { tip == peerTip }

  /// This session and a later one with the same device as one.
  func followed(by later: SessionResult) -> SessionResult {
    var sum = later
    sum.sentVersions += sentVersions
    sum.receivedVersions += receivedVersions
    sum.sentBytes += sentBytes
    sum.receivedBytes += receivedBytes
    sum.joins = joins + later.joins
    return sum
  }
}

/// A session that did not come about or broke off.
public struct SyncFailure: Error, Codable, Sendable {
  /// The peer, if its identity was proved.
  public let peer: PeerIdentity?
  /// The device that was announced, remembered or proved to be there.
  public let device: String?
  /// The address that was tried, as `HOST:PORT`.
  public let address: String
  /// The error: `SyncError`, `ChannelError`, `NotebookError`, …
  public var error: any Error { cause.error }
  private let cause: Cause

  package init(
    peer: PeerIdentity? = nil, device: String? = nil, address: String, error: any Error
  ) {
    self.peer = peer
    self.device = peer?.deviceID ?? device
    self.address = address
    cause = Cause(error)
  }
}

/// The result of a run of `notes sync`, `pull` or `push`.
public struct SyncOutcome: Sendable {
  /// One for each device that was synchronised with, in the order of their first session; several
  /// sessions with the same device are summed up.
  public var sessions: [SessionResult] = []
  /// Members that were found, or asked for, and with whom no session came to its end.
  public var failures: [SyncFailure] = []
  /// Members of whom nothing was seen.
  public var absent: [Member] = []
  /// Those of them that are announced with another notebook alone.
  public var elsewhere: [Member] = []
  /// The tip at the end; nil in a notebook without versions.
  public var tip: ObjectID?

  package init() {}
}
