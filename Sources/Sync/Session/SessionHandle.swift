public import Git
public import History
internal import Notebook
internal import Synchronization

/// A session, as other threads see it: what they ask of it is done on its own thread.
public final class SessionHandle: Sendable {
  /// Who is at the other end.
  public let peer: PeerIdentity
  /// Whether this device opened the connection.
  public let isOpenedHere: Bool
  /// Whether the session ends when both sides are done.
  public let ends: Bool

  private let wake: @Sendable () -> Void
  private let requests = Mutex(Requests())

  /// What is asked of a session and not done yet.
  struct Requests: Sendable {
    var state: NotebookState?
    var editing: [TreePath]?
    var invitations: [CarriedInvitation] = []
    var asksForPing = false
    var closesCaches = false
    var reconsiders = false
    var end: ByeReason?
  }

  /// A handle that calls `wake` when something is asked.
  init(
    peer: PeerIdentity, isOpenedHere: Bool, ends: Bool, wake: @escaping @Sendable () -> Void
  ) {
    self.peer = peer
    self.isOpenedHere = isOpenedHere
    self.ends = ends
    self.wake = wake
  }

  /// This device shows something else now.
  public func show(_ state: NotebookState) { ask { $0.state = state } }

  /// These notes are edited here now.
  public func tell(editing paths: [TreePath]) { ask { $0.editing = paths } }

  /// Tells the peer of an invitation to another notebook.
  package func tell(_ invitation: CarriedInvitation) { ask { $0.invitations.append(invitation) } }

  /// Asks the peer for a sign of life at once, where this end of the connection is still where it was.
  public func ping() { ask { $0.asksForPing = true } }

  /// Nothing has happened for a while: packs that were read need not stay open.
  public func closeCaches() { ask { $0.closesCaches = true } }

  /// Heads that another session was fetching may be fetched, or are here.
  func reconsider() { ask { $0.reconsiders = true } }

  /// Ends the session.
  public func end(_ reason: ByeReason) { ask { $0.end = $0.end ?? reason } }

  private func ask(_ change: (inout sending Requests) -> Void) {
    requests.withLock { change(&$0) }
    wake()
  }

  /// What was asked since the last call.
  func takeRequests() -> Requests {
    requests.withLock { requests in
      defer { requests = Requests(end: requests.end) }
      return requests
    }
  }
}
