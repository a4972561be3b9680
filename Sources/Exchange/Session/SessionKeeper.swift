public import Git
public import History
public import Notebook
internal import Synchronization
public import WorkTree

/// Saves and merges for the sessions of a notebook. All methods are called on the sessions' own threads.
public protocol SessionKeeper: AnyObject, Sendable {
  var sessions: SessionTable { get }

  /// Saves what was written until now, and says what this device shows, and what took the place of a
  /// version made with git.
  func currentState() throws -> (state: NotebookState, replaced: PortableVersion?)

  /// Merges heads whose objects are in the repository. Where it throws what is a
  /// `MergeRefusal`, no file has changed. The meter counts what is written into the folder.
  func merge(_ heads: [ObjectID], from peer: PeerIdentity, meter: WorkMeter) throws -> MergeOutcome

  /// The saves that people are to be told of, and were not yet: notes-merge(7), "The stale editor".
  func takeSaveNews() -> [SaveNews]
}

extension SessionKeeper {
  /// None: it tells of them itself.
  public func takeSaveNews() -> [SaveNews] { [] }
}

/// The versions that the other end of a session shows.
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

  package init() {}
}

/// A session, as other threads see it: what they ask of it is done on its own thread.
public final class SessionHandle: Sendable {
  package let peer: PeerIdentity
  let isOpenedHere: Bool
  /// Whether the session ends when both sides are done.
  package let ends: Bool

  private let wake: @Sendable () -> Void
  private let requests = Mutex(Requests())

  struct Requests: Sendable {
    /// When the peer is told what this device shows by then; nil where that is no news.
    var lookDue: Instant?
    /// Whether that is now.
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

  /// Asks the peer for a sign of life at once, where this end of the connection is still where it was.
  package func ping() { ask { $0.asksForPing = true } }

  /// How long a peer is told nothing of what was merged while more of it is coming, in seconds.
  private static let gathering = 0.2

  /// The peer is told what this device shows; a little later where it may wait, with what comes until
  /// then.
  func look(mayWait: Bool = false) {
    ask { $0.lookDue = mayWait && !ends ? $0.lookDue ?? .now + Self.gathering : .now }
  }

  /// When the peer is to be told what this device shows; nil where it was.
  var lookDue: Instant? { requests.withLock { $0.lookDue } }

  func send(editing paths: [TreePath]) { ask { $0.editing = paths } }

  func send(_ invitation: CarriedInvitation) { ask { $0.invitations.append(invitation) } }

  func closeCaches() { ask { $0.closesCaches = true } }

  /// Heads that another session was fetching may be fetched, or are here.
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
