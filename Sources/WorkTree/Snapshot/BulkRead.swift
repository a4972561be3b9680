internal import Git
internal import Glibc
internal import Merge
internal import Synchronization
internal import System

/// Reads many files on two threads and puts their bytes into one pack.
final class BulkRead: Sendable {
  /// From how many files on a pack is cheaper than an object a file.
  static let threshold = 100

  /// What came of a file.
  enum Outcome {
    /// Whether it may hold conflict blocks comes last.
    case stored(ObjectID, FileMode, FileStatus, Bool)
    case gone
    case skipped(SkipReason)
  }

  private let files: ArraySlice<Candidate>
  private let index: IndexFile
  private let root: Int32
  private let sizeLimit: Int
  private let pack: NewPack
  private let state: Mutex<State>

  private struct State {
    var next: Int
    var done = 0
    var outcomes: [Outcome]
    var failure: (any Error)?
  }

  // How many files a thread takes at a time.
  private static let share = 64

  init(
    _ files: ArraySlice<Candidate>, index: IndexFile, in folder: String, sizeLimit: Int,
    pack: NewPack
  ) throws {
    self.files = files
    self.index = index
    self.sizeLimit = sizeLimit
    self.pack = pack
    state = Mutex(
      State(
        next: files.startIndex, outcomes: [Outcome](repeating: .gone, count: files.count)))
    root = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard root >= 0 else { throw NotebookError.file(call: "open", path: folder, errno: errno) }
  }

  deinit { close(root) }

  /// Reads all files and returns what came of each, in their order.
  ///
  /// - Parameter progress: called now and then, on this thread, with the number of files done.
  func run(progress: (Int) -> Void) throws -> [Outcome] {
    let thread = HelperThread { [self] in work { _ in } }
    work(report: progress)
    thread.join()
    let outcomes = try state.withLock { state in
      if let failure = state.failure { throw failure }
      return state.outcomes
    }
    // The other thread may have been the last.
    progress(outcomes.count)
    return outcomes
  }

  private func work(report: (Int) -> Void) {
    do {
      var piece = try PackPiece(of: pack)
      while let range = take() {
        let outcomes = try files[range].map { try read($0, into: &piece) }
        if piece.isFull { try pack.append(&piece) }
        report(
          state.withLock { state in
            for (position, outcome) in zip(range, outcomes) {
              state.outcomes[position - files.startIndex] = outcome
            }
            state.done += outcomes.count
            return state.done
          })
      }
      try pack.append(&piece)
    } catch {
      state.withLock { $0.failure = $0.failure ?? error }
    }
  }

  private func take() -> Range<Int>? {
    state.withLock { state in
      guard state.failure == nil, state.next < files.endIndex else { return nil }
      let start = state.next
      state.next = min(start + Self.share, files.endIndex)
      return start..<state.next
    }
  }

  private func read(_ file: Candidate, into piece: inout PackPiece) throws -> Outcome {
    switch try FileContent.read(file.path, at: root, sizeLimit: sizeLimit) {
    case .skipped(let reason): return .skipped(reason)
    case .gone: return .gone
    case .read(let content):
      let id = try piece.add(
        .blob, content.bytes, known: file.position.map { index.id(at: $0) })
      return .stored(
        id, content.mode, content.status, MarkedText.mayHoldBlocks(content.bytes))
    }
  }
}
