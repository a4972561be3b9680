public import Git
public import History
public import Notebook
internal import Synchronization
public import WorkTree

/// Saves and merges for the sessions of a notebook. All methods are called on the sessions' own threads.
public protocol SessionKeeper: AnyObject, Sendable {
  var sessions: SessionTable { get }

  /// Saves the folder; returns the state that this device shows, and the replacement of a foreign
  /// commit.
  func currentState() throws -> (state: NotebookState, replaced: PortableVersion?)

  /// Merges heads whose objects are in the repository. If it throws an error that is a `MergeRefusal`, no file
  /// has changed. The meter counts the files and bytes written into the folder.
  func merge(_ heads: [ObjectID], from peer: PeerIdentity, meter: WorkMeter) throws -> MergeOutcome

  /// The notices about saves that were not reported yet: notes-merge(7), "The stale editor".
  func takeSaveNews() -> [SaveNews]
}

extension SessionKeeper {
  /// A keeper that reports saves itself returns none.
  public func takeSaveNews() -> [SaveNews] { [] }
}

/// The versions that the other side of a session shows.
public struct PeerState: Hashable, Codable, Sendable {
  public var tip: ObjectID?
  public var heads: [ObjectID] = []
  /// The notes that somebody edits on the other side.
  public var editing: [TreePath] = []
  /// The number of bytes in the session so far.
  public var sentBytes = 0
  package var receivedBytes = 0
  /// The number of versions in the session so far.
  public var sentVersions = 0
  package var receivedVersions = 0
  /// The reason why one side does not merge the other's versions; nil if both do.
  public var refusal: Refusal?

  package init() {}
}

/// A session as seen from other threads: their requests are carried out on the session's own
/// thread.
public final class SessionHandle: Sendable {
  package let peer: PeerIdentity
  let isOpenedHere: Bool
  /// Whether the session ends when both sides are done.
  package let ends: Bool

  private let wake: @Sendable () -> Void
  private let requests = Mutex(Requests())

  struct Requests: Sendable {
    /// When to tell the peer this device's versions; nil if they have not changed.
    var lookDue: Instant?
    /// Whether it is time to tell the peer this device's versions.
    var looks = false
    var editing: [TreePath]?
    var invitations: [CarriedInvitation] = []
    var asksForPing = false
    var closesCaches = false
    var reconsiders = false
    var end: ByeReason?
  }

  init(peer: PeerIdentity, isOpenedHere: Bool, ends: Bool, wake: @escaping @Sendable () -> Void) {
    self.peer = peer
    self.isOpenedHere = isOpenedHere
    self.ends = ends
    self.wake = wake
  }

  /// Asks the peer for a sign of life at once, if this machine still has the connection's local
  /// address.
  package func ping() { ask { $0.asksForPing = true } }

  /// How long to wait before telling a peer about merged versions while more are arriving, in
  /// seconds.
  private static let gathering = 0.2

  /// Makes the session tell the peer this device's versions. If it may wait, the session tells them a little
  /// later, together with later ones.
  func look(mayWait: Bool = false) {
    ask { $0.lookDue = mayWait && !ends ? $0.lookDue ?? .now + Self.gathering : .now }
  }

  /// When to tell the peer this device's versions; nil if it knows them.
  var lookDue: Instant? { requests.withLock { $0.lookDue } }

  func send(editing paths: [TreePath]) { ask { $0.editing = paths } }

  func send(_ invitation: CarriedInvitation) { ask { $0.invitations.append(invitation) } }

  func closeCaches() { ask { $0.closesCaches = true } }

  /// The fetch of another session has ended: its heads are here, or can be fetched.
  func reconsider() { ask { $0.reconsiders = true } }

  func end(_ reason: ByeReason) { ask { $0.end = $0.end ?? reason } }

  private func ask(_ change: (inout sending Requests) -> Void) {
    requests.withLock { change(&$0) }
    wake()
  }

  func takeRequests() -> Requests {
    requests.withLock { requests in
      var due = requests
      requests = Requests(end: due.end)
      due.looks = due.lookDue?.hasPassed == true
      if !due.looks { requests.lookDue = due.lookDue }
      return due
    }
  }
}
