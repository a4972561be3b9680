internal import Git
internal import Glibc
internal import Merge
internal import Synchronization
internal import System

/// Reads many files on two threads and puts their bytes into one pack.
final class BulkRead: Sendable {
  /// The number of files from which a pack is cheaper than an object for each file.
  static let threshold = 100

  enum Outcome {
    /// The last three are the modification time, whether the file may contain conflict blocks, and
    /// its permissions.
    case stored(ObjectID, FileMode, FileStatus, Int64, Bool, mode_t)
    case gone
    case skipped(SkipReason)

    /// A file with this content, which has that ID.
    init(_ id: ObjectID, _ content: FileContent) {
      self = .stored(
        id, content.mode, content.status, content.written, MarkedText.mayHoldBlocks(content.bytes),
        content.before.st_mode)
    }
  }

  private let files: [Candidate]
  private let index: IndexFile
  private let workTree: (folder: String, sizeLimit: Int)
  private let pack: NewPack
  private let next = Atomic(0)
  private let state: Mutex<State>

  private struct State {
    var done = WorkAmount()
    var outcomes: [Outcome]
    var hasHelper = false
    var failure: (any Error)?
  }

  private static let share = 64
  /// The size in bytes from which a file's progress is reported on its own, not with its share.
  private static let largeFile = 1 << 20
  /// The interval in seconds at which the other thread's progress is reported.
  private static let tick = 0.1

  init(_ files: [Candidate], index: IndexFile, in workTree: WorkTree, pack: NewPack) {
    self.files = files
    self.index = index
    self.workTree = (workTree.folder, workTree.sizeLimit)
    self.pack = pack
    state = Mutex(State(outcomes: [Outcome](repeating: .gone, count: files.count)))
  }

  /// The outcome for each file, in their order; `progress` is called on this thread.
  func run(progress: (WorkAmount) throws -> Void) throws -> [Outcome] {
    let root = try Disk.open(workTree.folder, O_RDONLY | O_DIRECTORY)
    defer { close(root) }
    let isOver = Latch()
    let thread = HelperThread { [self] in
      state.withLock { $0.hasHelper = true }
      work(at: root) { _ in }
      isOver.open()
    }
    work(at: root, report: progress)
    do {
      while state.withLock(\.hasHelper), !isOver.wait(until: .now + Self.tick) {
        try progress(state.withLock(\.done))
      }
    } catch {
      end(error)
    }
    thread.join()
    let (outcomes, done) = try state.withLock { state in
      if let failure = state.failure { throw failure }
      return (state.outcomes, state.done)
    }
    // The other thread may have finished last.
    try progress(done)
    return outcomes
  }

  private func work(at root: Int32, report: (WorkAmount) throws -> Void) {
    do {
      var piece = try PackPiece(of: pack)
      while true {
        let start = next.wrappingAdd(Self.share, ordering: .relaxed).oldValue
        guard start < files.count else { break }
        let range = start..<min(start + Self.share, files.count)
        var outcomes: [Outcome] = []
        for file in files[range] {
          outcomes.append(try read(file, at: root, into: &piece))
          // Append a full piece at once: a share of large files may need more memory than there is.
          if piece.isFull { try pack.append(&piece) }
          let done = state.withLock { state in
            state.done.count(file)
            return state.done
          }
          if file.size >= Self.largeFile { try report(done) }
        }
        try report(
          state.withLock { state in
            state.outcomes.replaceSubrange(range, with: outcomes)
            return state.done
          })
      }
      try pack.append(&piece)
    } catch {
      end(error)
    }
  }

  /// Records the error, which makes both threads stop.
  private func end(_ error: any Error) {
    next.store(files.count, ordering: .relaxed)
    state.withLock { $0.failure = $0.failure ?? error }
  }

  private func read(
    _ file: Candidate, at root: Int32, into piece: inout PackPiece
  ) throws -> Outcome {
    switch try FileContent.read(file.path, at: root, sizeLimit: workTree.sizeLimit) {
    case .skipped(let reason): return .skipped(reason)
    case .gone: return .gone
    case .read(let content):
      let id = try piece.add(.blob, content.bytes, known: file.position.map { index.id(at: $0) })
      return Outcome(id, content)
    }
  }
}
