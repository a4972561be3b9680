package import Git
package import History
internal import Membership
package import Notebook
internal import Synchronization
internal import System
package import WorkTree

/// Saves and merges at once, on the session's thread: for `notes sync`, and for a service that does not
/// watch its folder.
package final class DirectKeeper: SessionKeeper {
  package let sessions: SessionTable
  private let context: SessionContext
  private let options: SessionOptions
  private let changes: (any FolderChanges)?
  /// Only one thread saves at a time, so that each session sees the states in order.
  private let atWork = Mutex(Saved())
  private let news = Mutex<[SaveNews]>([])

  private struct Saved {
    var last: FolderLook?
    /// Whether a session shows the last saved state without another scan, as long as the state is fresh.
    var servesSessions = false
  }

  /// Does not save yet. Without `changes`, each session scans the whole folder.
  package init(
    _ context: SessionContext, _ options: SessionOptions = SessionOptions(),
    changes: (any FolderChanges)? = nil
  ) {
    sessions = SessionTable(ownDevice: context.key.deviceID)
    self.context = context
    self.options = options
    self.changes = changes
  }

  /// Removes and returns the notices of all sessions.
  package func takeSaveNews() -> [SaveNews] {
    news.withLock { news in
      defer { news = [] }
      return news
    }
  }

  private func notebook() throws -> Notebook {
    let notebook = try context.notebook()
    recordSaves(of: notebook)
    return notebook
  }

  private func recordSaves(of notebook: Notebook) {
    notebook.saveNotice = { [self] one in news.withLock { $0.append(one) } }
  }

  /// Saves for the sessions that begin during the save, among them those that `begin` opens; they wait for it.
  func save(
    _ notebook: Notebook, whileBeginning begin: () -> Void, progress: SaveProgress
  ) throws {
    try atWork.withLock { saved in
      begin()
      recordSaves(of: notebook)
      let start = Instant.now
      _ = try notebook.autosave(allowsMassDeletion: options.allowsMassDeletion, progress: progress)
      saved = Saved(last: FolderLook(start: start, end: .now), servesSessions: true)
    }
  }

  package func currentState() throws -> (state: NotebookState, replaced: PortableVersion?) {
    try atWork.withLock { saved in
      let notebook = try notebook()
      if !saved.servesSessions || saved.last?.isFresh != true {
        let start = Instant.now
        try save(notebook)
        saved = Saved(last: FolderLook(start: start, end: .now))
      }
      let replaced = try notebook.rewritePortably()
      let state = try notebook.state()
      sessions.look()
      return (state, replaced)
    }
  }

  private func save(_ notebook: Notebook) throws {
    let scope = changes?.scope ?? .everything
    if scope.isEmpty { return }
    guard
      let result = try notebook.autosave(scope, allowsMassDeletion: options.allowsMassDeletion)
    else { return }
    changes?.saved(scope, without: result.skipped)
  }

  package func merge(
    _ heads: [ObjectID], from peer: PeerIdentity, meter: WorkMeter
  ) throws -> MergeOutcome {
    try atWork.withLock { saved in
      let notebook = try notebook()
      var large = MergeOptions(
        allowsMassDeletion: options.allowsMassDeletion, allowsLarge: options.allowsLarge)
      large.unaskedBytes = options.unaskedBytes
      large.meter = meter
      large.bringsOver = peer.isHub
      if let changes {
        large.scope = changes.scope
      } else if saved.last?.isFresh == true {
        large.scope = .only([])
      }
      let result = try notebook.merge(heads, options: large)
      sessions.lookAtMerged()
      return result
    }
  }
}

/// The files in a notebook's folder that may differ from the last save.
package protocol FolderChanges: Sendable {
  /// The files that a save beginning now must check.
  var scope: SaveScope { get }

  /// Called after the files of `scope` were saved, except these. If a save failed, it is not called, and
  /// the next `scope` includes the same files again.
  func saved(_ scope: SaveScope, without skipped: [SkippedFile])
}

/// The time of a scan of the folder for a save.
struct FolderLook {
  let start: Instant
  let end: Instant

  /// Until this time a session of the same run, or a merge, needs no other scan, because scanning a large
  /// folder takes longer than the session. A merge still notices edits of the files that it writes.
  var freshUntil: Instant { end + max(Self.freshness, Self.lasting * (end - start)) }
  var isFresh: Bool { !freshUntil.hasPassed }

  /// How many seconds a save counts as recent.
  private static let freshness = 1.0
  /// A save also counts as recent for this multiple of the scan's duration.
  private static let lasting = 4.0
}
