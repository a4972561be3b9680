public import Git
public import History
public import Notebook

/// Who saves and merges for the sessions of a notebook. All methods are called on the sessions' own
/// threads.
public protocol SessionKeeper: AnyObject, Sendable {
  /// The sessions that are under way.
  var sessions: SessionTable { get }

  /// Saves what was written until now, and says what this device shows, and what took the place of a
  /// version made with git.
  func currentState() throws -> (state: NotebookState, replaced: PortableVersion?)

  /// A session begins, whose peer has proved who it is. From now on it is told what this device shows.
  ///
  /// - Throws: `SyncError.duplicate` when another connection with the same device stays.
  func begin(_ session: SessionHandle) throws

  /// The session is over.
  func end(_ session: SessionHandle)

  /// Merges heads whose objects are in the repository.
  ///
  /// - Throws: `NotebookError.massDeletion`, before a file has changed.
  func merge(_ heads: [ObjectID], from peer: PeerIdentity) throws -> MergeOutcome

  /// What the peer of a session shows now.
  func update(_ state: PeerState, of session: SessionHandle)
}

/// What the other end of a session shows.
public struct PeerState: Hashable, Codable, Sendable {
  public var tip: ObjectID?
  public var heads: [ObjectID] = []
  /// The notes that somebody edits there.
  public var editing: [TreePath] = []
  /// Bytes of the session so far.
  public var sentBytes = 0
  package var receivedBytes = 0
  /// Versions of the session so far.
  public var sentVersions = 0
  package var receivedVersions = 0
  /// Why what the other one shows is not merged, if it is not.
  public var refusal: Refusal?

  /// Who refuses, as programs are told.
  public enum Refusal: String, Codable, Sendable {
    /// This device: most notes would be deleted.
    case here = "mass_deletion"
    /// The other one, for the same reason.
    case there = "mass_deletion_there"
  }

  package init() {}
}
