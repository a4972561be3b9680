internal import Git
internal import History
internal import Membership
internal import Notebook
internal import Sync
internal import Synchronization
internal import System

/// A notebook that is watched: one thread saves and joins (`NotebookLoop`), and the sessions and
/// everybody else ask it to.
final class WatchedNotebook: SessionKeeper {
  let context: SessionContext
  let sessions: SessionTable
  let bell: WakeUp
  let emit: @Sendable (Event) -> Void
  /// Whether a version that would delete most notes is held back.
  let isHolding = Atomic(false)
  private let jobs = Mutex<[Job]>([])
  private let ended = BlockingQueue<Bool>()

  /// What the notebook's thread is asked to do.
  enum Job: Sendable {
    case state(BlockingQueue<Result<NotebookState, any Error>>)
    case join([ObjectID], BlockingQueue<Result<MergeOutcome, any Error>>)
    case lookAtEverything
    /// Nothing has happened for a while.
    case rest
    /// This user has opened or closed these notes.
    case edits([TreePath], isOpen: Bool)
    case stop
  }

  var notebookID: String { context.membership.notebookID }

  /// How long a session waits for the notebook's thread, in seconds: as long as a peer waits for one
  /// that says it is working (notes-protocol(7), "Time-outs").
  private static let patience = 15 * 60.0

  init(_ context: SessionContext, emit: @escaping @Sendable (Event) -> Void) throws {
    self.context = context
    self.emit = emit
    sessions = SessionTable(ownDevice: context.key.deviceID)
    bell = try WakeUp()
  }

  /// Starts the notebook's thread.
  func start() throws {
    try startThread { [self] in
      NotebookLoop(self).run()
      // Whoever still waits is told.
      for job in takeJobs() { refuse(job) }
      ended.put(true)
    }
  }

  /// Ends the thread and the sessions, and waits a little for it.
  func stop() {
    sessions.endAll(.stopped)
    ask(.stop)
    _ = ended.take(until: .now + 5)
  }

  func ask(_ job: Job) {
    jobs.withLock { $0.append(job) }
    bell.signal()
  }

  func takeJobs() -> [Job] {
    bell.clear()
    return jobs.withLock { jobs in
      defer { jobs = [] }
      return jobs
    }
  }

  /// Nothing has happened for a while: packs that were read need not stay open.
  func rest() {
    ask(.rest)
    sessions.closeCaches()
  }

  /// What is known of the members now, in short.
  var membershipDigest: [UInt8] { (try? context.membership.digest()) ?? [] }

  /// Whether this device may exchange anything with that one: not with one that is known to be removed
  /// or blocked. One that is not known may be a member all the same, whom another admin certified.
  func exchanges(with device: String) -> Bool {
    !context.membership.members().contains {
      $0.deviceID == device && ($0.isRemoved || $0.isBlocked)
    }
  }

  private func refuse(_ job: Job) {
    let error = WatchError.notAnswering(context.folder)
    switch job {
    case .state(let reply): reply.put(.failure(error))
    case .join(_, let reply): reply.put(.failure(error))
    case .lookAtEverything, .rest, .edits, .stop: break
    }
  }

  // MARK: SessionKeeper, on the sessions' threads

  func currentState() throws -> (state: NotebookState, replaced: PortableVersion?) {
    let reply = BlockingQueue<Result<NotebookState, any Error>>()
    ask(.state(reply))
    // What was replaced is told by the notebook's thread.
    return (try answer(of: reply), nil)
  }

  func merge(_ heads: [ObjectID], from peer: PeerIdentity) throws -> MergeOutcome {
    let reply = BlockingQueue<Result<MergeOutcome, any Error>>()
    ask(.join(heads, reply))
    return try answer(of: reply)
  }

  private func answer<Value>(of reply: BlockingQueue<Result<Value, any Error>>) throws -> Value {
    guard let result = reply.take(until: .now + Self.patience) else {
      throw WatchError.notAnswering(context.folder)
    }
    return try result.get()
  }

  func begin(_ session: SessionHandle) throws {
    try sessions.begin(session, digest: membershipDigest)
    if !session.ends { emit(.connected(notebook: notebookID, peer: session.peer)) }
  }

  func update(_ state: PeerState, of session: SessionHandle) {
    guard let change = sessions.update(state, of: session) else { return }
    if change.former.editing != change.now.editing {
      emit(
        .editing(
          notebook: notebookID, peer: session.peer, paths: change.now.editing))
    }
    if change.former.heads != change.now.heads {
      emit(.shows(notebook: notebookID, peer: session.peer, tip: change.now.tip))
    }
  }

  func end(_ session: SessionHandle) {
    if sessions.end(session) { emit(.disconnected(notebook: notebookID, peer: session.peer)) }
  }
}
