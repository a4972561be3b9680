public import Git
public import Membership
public import Notebook

/// A device of the notebook at the other end of a connection.
public struct PeerIdentity: Hashable, Sendable {
  /// Its name, by its certificate.
  public let name: String
  public let deviceID: String
  public let role: Role
  /// Where it is, as `HOST:PORT`.
  public let address: String

  public init(name: String, deviceID: String, role: Role, address: String) {
    self.name = name
    self.deviceID = deviceID
    self.role = role
    self.address = address
  }
}

/// What a session did.
public struct SessionResult: Sendable {
  public let peer: PeerIdentity
  /// This device's tip at the end; nil in a notebook without versions.
  public let tip: ObjectID?
  /// The peer's tip at the end.
  public let peerTip: ObjectID?
  /// How many versions (commits) went to the peer.
  public let sentVersions: Int
  /// How many versions came.
  public let receivedVersions: Int
  /// Bytes on the wire.
  public let sentBytes: Int
  public let receivedBytes: Int
  /// What the joins changed here, in order.
  public let joins: [JoinResult]
  /// How many notes are in conflict here now.
  public let conflicts: Int
  /// How the tips differ although both devices have the same heads; nil when they do not.
  public var tipDifference: TipDifference?

  /// Whether both devices show the same bytes.
  public var isInSync: Bool { tip == peerTip }
}

extension SessionResult {
  /// What a session that stands did in some time.
  package init(
    peer: PeerIdentity, tip: ObjectID?, peerTip: ObjectID?, sentVersions: Int,
    receivedVersions: Int, sentBytes: Int, receivedBytes: Int
  ) {
    self.init(
      peer: peer, tip: tip, peerTip: peerTip, sentVersions: sentVersions,
      receivedVersions: receivedVersions, sentBytes: sentBytes, receivedBytes: receivedBytes,
      joins: [], conflicts: 0, tipDifference: nil)
  }
}

/// How far a transfer is.
public struct TransferProgress: Hashable, Sendable {
  /// What takes the time.
  public enum Stage: String, Sendable {
    /// Packs are on their way.
    case moving
    /// What came is checked and joined here.
    case joining
    /// The peer is busy: it makes a pack ready, or checks and joins what it got.
    case waiting
  }

  public let peer: PeerIdentity
  public var stage = Stage.moving
  /// Objects written to the peer, of how many.
  public var sentObjects = 0
  public var objectsToSend = 0
  /// Bytes of the peer's pack so far, and how many objects it holds.
  public var receivedBytes = 0
  public var objectsToReceive = 0
}

/// What happens during a sync.
public enum SyncEvent: Sendable {
  /// The device listens there; the host is what was asked for (`::` for all interfaces).
  case listening(address: String, port: UInt16)
  /// A peer answered and is a member.
  case peer(PeerIdentity)
  case progress(TransferProgress)
  /// Versions of a peer were joined.
  case received(from: PeerIdentity, JoinResult)
  /// The guard against mass deletion held, here or there: what the peer has was not joined.
  case refused(by: PeerIdentity, SyncError)
  /// A session ran to its end.
  case finished(SessionResult)
  /// A connection or session failed. The peer is known when it had authenticated itself, the device
  /// ID when discovery or memory named it.
  case failed(peer: PeerIdentity?, device: String?, address: String, any Error)
  /// The peer has the same heads and shows another tip; told once for each such tip.
  case differs(PeerIdentity, TipDifference)
  /// A version made with git held what no device takes: another stands in its place now.
  case replaced(PlainVersion)
  /// Devices cannot be looked for; what is known without discovery is still tried.
  case discoveryFailed(any Error)
}
