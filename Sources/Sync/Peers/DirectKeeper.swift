package import Git
package import History
internal import Membership
package import Notebook
internal import Synchronization

/// Saves and merges at once, on the session's thread: for `notes sync`, and for a service that does not
/// watch its folder.
package final class DirectKeeper: SessionKeeper {
  package let sessions: SessionTable
  private let folder: String
  private let allowsMassDeletion: Bool
  /// One at a time, so that the sessions are shown each state after the one before it.
  private let atWork = Mutex(())

  package init(_ context: SessionContext, allowsMassDeletion: Bool = false) {
    sessions = SessionTable(ownDevice: context.key.deviceID)
    folder = context.folder
    self.allowsMassDeletion = allowsMassDeletion
  }

  package func currentState() throws -> (state: NotebookState, replaced: PortableVersion?) {
    try atWork.withLock { _ in
      let notebook = try Notebook.open(at: folder)
      _ = try notebook.save(allowsMassDeletion: allowsMassDeletion)
      let replaced = try notebook.rewritePortably()
      let state = try notebook.state()
      sessions.show(state)
      return (state, replaced)
    }
  }

  package func merge(_ heads: [ObjectID], from peer: PeerIdentity) throws -> MergeOutcome {
    try atWork.withLock { _ in
      let notebook = try Notebook.open(at: folder)
      let result = try notebook.merge(
        heads, options: MergeOptions(allowsMassDeletion: allowsMassDeletion))
      sessions.show(try notebook.state())
      return result
    }
  }

  package func begin(_ session: SessionHandle) throws { try sessions.begin(session) }
  package func end(_ session: SessionHandle) { _ = sessions.end(session) }
  package func update(_ state: PeerState, of session: SessionHandle) {}
}
