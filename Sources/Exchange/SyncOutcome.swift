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
  /// How many versions (commits) were sent.
  public private(set) var sentVersions: Int
  /// How many versions were received.
  public private(set) var receivedVersions: Int
  /// Bytes on the wire.
  public private(set) var sentBytes: Int
  package private(set) var receivedBytes: Int
  /// The changes of the merges that this device made, in order.
  public package(set) var joins: [MergeOutcome] = []
  /// Whether this device showed versions at the end that the peer had not received yet.
  var hasNews = false
  /// The difference between the tips that the two devices made of the same heads; nil if there is none.
  public package(set) var tipDifference: TipDifference?

  /// The encoded form omits the changes of the merges, which may be long.
  private enum CodingKeys: String, CodingKey {
    case peer, tip, peerTip, sentVersions, receivedVersions, sentBytes, receivedBytes
    case tipDifference
  }

  /// The traffic of a session with a peer in this state, since it was in state `former`.
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

  /// Whether both devices have the same files.
  public var isInSync: Bool { tip == peerTip }

  /// Combines this session and a later one with the same device.
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

/// A session that failed to begin or was interrupted.
public struct SyncFailure: Error, Codable, Sendable {
  /// The peer, if it has authenticated.
  public let peer: PeerIdentity?
  /// The device that was announced, recorded or authenticated.
  public let device: String?
  /// The address of the attempt, as `HOST:PORT`.
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
  /// A result for each device with a session, in the order of their first session; several sessions
  /// with the same device are combined.
  public var sessions: [SessionResult] = []
  /// Sessions that failed, with members that were found or requested.
  public var failures: [SyncFailure] = []
  /// Members that the run did not find.
  public var absent: [Member] = []
  /// Members that the run did not find, and that are announced only with another notebook.
  public var elsewhere: [Member] = []
  /// The tip at the end; nil in a notebook without versions.
  public var tip: ObjectID?

  package init() {}
}
