internal import Git
internal import History
internal import Notebook
internal import Synchronization

/// A session, as other threads see it: what they ask of it is done on its own thread.
public final class SessionHandle: Sendable {
  package let peer: PeerIdentity
  let isOpenedHere: Bool
  /// Whether the session ends when both sides are done.
  package let ends: Bool

  private let wake: @Sendable () -> Void
  private let requests = Mutex(Requests())

  struct Requests: Sendable {
    var state: NotebookState?
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

  func show(_ state: NotebookState) { ask { $0.state = state } }

  func tell(editing paths: [TreePath]) { ask { $0.editing = paths } }

  func tell(_ invitation: CarriedInvitation) { ask { $0.invitations.append(invitation) } }

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
      defer { requests = Requests(end: requests.end) }
      return requests
    }
  }
}
