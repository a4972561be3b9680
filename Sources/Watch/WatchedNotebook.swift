internal import Exchange
internal import Git
internal import History
internal import Membership
internal import Notebook
internal import Synchronization
internal import System
internal import WorkTree

/// A watched notebook: one thread saves and merges (`NotebookLoop`), and sessions and other callers
/// give it jobs.
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
    /// Close files that are open only for speed.
    case rest
    /// Scan the whole folder.
    case look
    /// This user has opened or closed these notes.
    case setEdited([TreePath], isOpen: Bool)
    case currentState(Reply<NotebookState>)
    case merge([ObjectID], from: PeerIdentity, Reply<MergeOutcome>)
  }

  /// The queue for the answer to a job; the answer is nil if the thread has ended.
  typealias Reply<Value: Sendable> = BlockingQueue<Result<Value, any Error>?>

  var notebookID: String { context.membership.notebookID }

  /// How long a session waits for the notebook's thread, in seconds: as long as a peer waits for a
  /// side that reports work (notes-protocol(7), "Time-outs").
  private static let patience = 15 * 60.0

  init(_ context: SessionContext, emit: @escaping @Sendable (Event) -> Void) throws {
    self.context = context
    self.emit = emit
    sessions = SessionTable(
      ownDevice: context.key.deviceID, notebookID: context.membership.notebookID,
      // An unreadable membership has an empty digest, which differs from any other, so sessions exchange the
      // membership again.
      digest: { (try? context.membership.digest()) ?? [] }, emit: emit)
    jobs = try PolledQueue()
  }

  func start() throws {
    try startThread { [self] in
      NotebookLoop(self).run()
      // Answer the callers that wait for these jobs.
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

  /// Ends the thread and the sessions, and waits a little for the thread.
  func stop() {
    sessions.endAll(.stopped)
    jobs.put(.stop)
    _ = ended.take(until: .now + 5)
  }

  /// Closes the packs after a while without activity.
  func rest() {
    jobs.put(.rest)
    sessions.closeCaches()
  }

  /// Whether this device may exchange with another: false for one that is known to be removed or blocked. An
  /// unknown device may be a member whom another admin certified.
  func exchanges(with device: String) -> Bool {
    !context.membership.members().contains {
      $0.deviceID == device && ($0.isRemoved || $0.isBlocked)
    }
  }

  // MARK: SessionKeeper, on the sessions' threads

  func currentState() throws -> (state: NotebookState, replaced: PortableVersion?) {
    // The notebook's thread reports the replaced commit.
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

/// A queue whose one reader waits in `Poll`. If it is full, the oldest element is dropped.
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
