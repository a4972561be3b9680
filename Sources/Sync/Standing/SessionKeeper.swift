public import Git
public import Notebook

/// Who saves and joins for the sessions of a notebook that stand: notes-protocol(7), "Standing
/// sessions". All methods are called on the sessions' own threads.
public protocol SessionKeeper: AnyObject, Sendable {
  /// Saves what was written until now, and says what this device shows.
  func currentState() throws -> NotebookState

  /// Takes a session in whose peer has proved who it is and lets sessions stand. From now on the
  /// session is told what this device shows, by `SessionLink.announce(_:)`, beginning with the
  /// present.
  ///
  /// - Throws: `SyncError.duplicate` when another connection with the same device stays.
  func begin(_ session: SessionLink) throws

  /// The session is over.
  func end(_ session: SessionLink)

  /// Whether this session is the one to fetch these heads. Where another one is at it, this one is
  /// told by `SessionLink.reconsider()` when that has ended.
  func mayFetch(_ heads: [ObjectID], _ session: SessionLink) -> Bool

  /// The session has fetched what it asked for, or will not.
  func endFetch(_ session: SessionLink)

  /// Joins heads whose objects are in the repository.
  ///
  /// - Throws: `NotebookError.massDeletion`, before a file has changed.
  func join(_ heads: [ObjectID], from peer: PeerIdentity) throws -> JoinResult

  /// What the peer shows now.
  func note(_ standing: PeerStanding, of session: SessionLink)
}

/// What the other end of a session that stands shows.
public struct PeerStanding: Hashable, Sendable {
  public var tip: ObjectID?
  public var heads: [ObjectID] = []
  /// The notes that somebody edits there.
  public var editing: [TreePath] = []
  /// Bytes of the session so far.
  public var sentBytes = 0
  public var receivedBytes = 0
  /// Versions of the session so far.
  public var sentVersions = 0
  public var receivedVersions = 0
  /// Why what the other one shows is not joined, if it is not.
  public var refusal: Refusal?

  /// Who refuses, as programs are told.
  public enum Refusal: String, Sendable {
    /// This device: most notes would be deleted.
    case here = "mass_deletion"
    /// The other one, for the same reason.
    case there = "mass_deletion_there"
  }

  public init() {}
}
