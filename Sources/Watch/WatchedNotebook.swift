internal import Exchange
internal import Git
internal import History
internal import Membership
internal import Notebook
internal import Synchronization
internal import System
internal import WorkTree

/// A notebook that is watched: one thread saves and joins (`NotebookLoop`), and the sessions and
/// everybody else ask it to.
final class WatchedNotebook: SessionKeeper {
  let context: SessionContext
  let sessions: SessionTable
  let emit: @Sendable (Event) -> Void
  let isDeletionRefused = Atomic(false)
  let jobs: PolledQueue<Job>
  private let ended = BlockingQueue<Bool>()

  /// The jobs of the notebook's thread.
  enum Job: Sendable {
    case stop
    /// Close what is open only for speed.
    case rest
    /// Look through the whole folder.
    case look
    /// This user has opened or closed these notes.
    case setEdited([TreePath], isOpen: Bool)
    case currentState(Reply<NotebookState>)
    case merge([ObjectID], from: PeerIdentity, Reply<MergeOutcome>)
  }

  /// The queue at which the answer to a job is awaited; nil if the thread has ended.
  typealias Reply<Value: Sendable> = BlockingQueue<Result<Value, any Error>?>

  var notebookID: String { context.membership.notebookID }

  /// How long a session waits for the notebook's thread, in seconds: as long as a peer waits for one
  /// that says it is working (notes-protocol(7), "Time-outs").
  private static let patience = 15 * 60.0

  init(_ context: SessionContext, emit: @escaping @Sendable (Event) -> Void) throws {
    self.context = context
    self.emit = emit
    sessions = SessionTable(
      ownDevice: context.key.deviceID, notebookID: context.membership.notebookID,
      // Without a digest each look finds another one, and the sessions tell each other again.
      digest: { (try? context.membership.digest()) ?? [] }, emit: emit)
    jobs = try PolledQueue()
  }

  func start() throws {
    try startThread { [self] in
      NotebookLoop(self).run()
      // Callers that still wait are told.
      for job in jobs.takeAll() {
        switch job {
        case .currentState(let reply): reply.put(nil)
        case .merge(_, _, let reply): reply.put(nil)
        case .stop, .rest, .look, .setEdited: break
        }
      }
      ended.put(true)
    }
  }

  /// Ends the thread and the sessions, and waits a little for it.
  func stop() {
    sessions.endAll(.stopped)
    jobs.put(.stop)
    _ = ended.take(until: .now + 5)
  }

  /// Nothing has happened for a while: packs that were read need not stay open.
  func rest() {
    jobs.put(.rest)
    sessions.closeCaches()
  }

  /// Whether this device may exchange anything with that one: not with one that is known to be removed
  /// or blocked. One that is not known may be a member all the same, whom another admin certified.
  func exchanges(with device: String) -> Bool {
    !context.membership.members().contains {
      $0.deviceID == device && ($0.isRemoved || $0.isBlocked)
    }
  }

  // MARK: SessionKeeper, on the sessions' threads

  func currentState() throws -> (state: NotebookState, replaced: PortableVersion?) {
    // The notebook's thread tells what was replaced.
    (try answer { .currentState($0) }, nil)
  }

  func merge(
    _ heads: [ObjectID], from peer: PeerIdentity, meter: WorkMeter
  ) throws -> MergeOutcome {
    try answer { .merge(heads, from: peer, $0) }
  }

  private func answer<Value: Sendable>(to job: (Reply<Value>) -> Job) throws -> Value {
    let reply = Reply<Value>()
    jobs.put(job(reply))
    guard let result = reply.take(until: .now + Self.patience) ?? nil else {
      throw WatchError.notAnswering(context.folder)
    }
    return try result.get()
  }

}

/// A queue whose one reader waits in `Poll`. Where it is full, the oldest element goes.
final class PolledQueue<Element: Sendable>: Sendable {
  let bell: WakeUp
  private let capacity: Int
  private let elements = Mutex<[Element]>([])

  init(capacity: Int = .max) throws {
    bell = try WakeUp()
    self.capacity = capacity
  }

  func put(_ element: Element) {
    elements.withLock { elements in
      if elements.count == capacity { elements.removeFirst() }
      elements.append(element)
    }
    bell.signal()
  }

  func takeAll() -> [Element] {
    bell.clear()
    return elements.withLock { elements in
      defer { elements = [] }
      return elements
    }
  }
}
