internal import Git
internal import Glibc
internal import Merge
internal import Synchronization
internal import System

/// Reads many files on two threads and puts their bytes into one pack.
final class BulkRead: Sendable {
  /// From how many files on a pack is cheaper than an object a file.
  static let threshold = 100

  enum Outcome {
    /// The last two are when it was written, and whether it may hold conflict blocks.
    case stored(ObjectID, FileMode, FileStatus, Int64, Bool)
    case gone
    case skipped(SkipReason)

    /// A file with this content, which has that ID.
    init(_ id: ObjectID, _ content: FileContent) {
      self = .stored(
        id, content.mode, content.status, content.written, MarkedText.mayHoldBlocks(content.bytes))
    }
  }

  private let files: [Candidate]
  private let index: IndexFile
  private let workTree: (folder: String, sizeLimit: Int)
  private let pack: NewPack
  private let next = Atomic(0)
  private let state: Mutex<State>

  private struct State {
    var done = 0
    var outcomes: [Outcome]
    var failure: (any Error)?
  }

  private static let share = 64

  init(_ files: [Candidate], index: IndexFile, in workTree: WorkTree, pack: NewPack) {
    self.files = files
    self.index = index
    self.workTree = (workTree.folder, workTree.sizeLimit)
    self.pack = pack
    state = Mutex(State(outcomes: [Outcome](repeating: .gone, count: files.count)))
  }

  /// What came of each file, in their order; `progress` is called on this thread.
  func run(progress: (Int) throws -> Void) throws -> [Outcome] {
    let root = try Disk.open(workTree.folder, O_RDONLY | O_DIRECTORY)
    defer { close(root) }
    let thread = HelperThread { [self] in work(at: root) { _ in } }
    work(at: root, report: progress)
    thread.join()
    let outcomes = try state.withLock { state in
      if let failure = state.failure { throw failure }
      return state.outcomes
    }
    // The other thread may have been the last.
    try progress(outcomes.count)
    return outcomes
  }

  private func work(at root: Int32, report: (Int) throws -> Void) {
    do {
      var piece = try PackPiece(of: pack)
      while true {
        let start = next.wrappingAdd(Self.share, ordering: .relaxed).oldValue
        guard start < files.count else { break }
        let range = start..<min(start + Self.share, files.count)
        let outcomes = try files[range].map { try read($0, at: root, into: &piece) }
        if piece.isFull { try pack.append(&piece) }
        try report(
          state.withLock { state in
            state.outcomes.replaceSubrange(range, with: outcomes)
            state.done += outcomes.count
            return state.done
          })
      }
      try pack.append(&piece)
    } catch {
      next.store(files.count, ordering: .relaxed)
      state.withLock { $0.failure = $0.failure ?? error }
    }
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
