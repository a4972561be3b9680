internal import Exchange
internal import Git
internal import History
internal import Membership
internal import Notebook
internal import Synchronization
internal import System

/// A notebook that is watched: one thread saves and joins (`NotebookLoop`), and the sessions and
/// everybody else ask it to.
final class WatchedNotebook: SessionKeeper {
  let context: SessionContext
  let sessions: SessionTable
  let bell: WakeUp
  let emit: @Sendable (Event) -> Void
  let isHolding = Atomic(false)
  private let jobs = Mutex<[Job]>([])
  private let ended = BlockingQueue<Bool>()

  typealias Reply<Value: Sendable> = BlockingQueue<Result<Value, any Error>>

  /// What the notebook's thread is asked to do.
  enum Job: Sendable {
    case state(Reply<NotebookState>)
    case join([ObjectID], Reply<MergeOutcome>)
    case lookAtEverything
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
    // What was replaced is told by the notebook's thread.
    (try answer { .state($0) }, nil)
  }

  func merge(_ heads: [ObjectID], from peer: PeerIdentity) throws -> MergeOutcome {
    try answer { .join(heads, $0) }
  }

  private func answer<Value: Sendable>(to job: (Reply<Value>) -> Job) throws -> Value {
    let reply = Reply<Value>()
    ask(job(reply))
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
      emit(.editing(notebook: notebookID, peer: session.peer, paths: change.now.editing))
    }
    if change.former.heads != change.now.heads {
      emit(.shows(notebook: notebookID, peer: session.peer, tip: change.now.tip))
    }
  }

  func end(_ session: SessionHandle) {
    if sessions.end(session) { emit(.disconnected(notebook: notebookID, peer: session.peer)) }
  }
}
