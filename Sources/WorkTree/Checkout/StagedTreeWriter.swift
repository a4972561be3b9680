internal import Git
internal import Synchronization
internal import System

/// Writes the files of a first checkout into folders like those in which they will be. If there are many, two
/// threads write, which share only the list of the remaining work.
final class StagedTreeWriter: Sendable {
  private let steps: Slice<CheckoutSteps>
  private let tree: String
  private let modes: FileModeTrust
  private let meter: WorkMeter?
  /// Ranges of steps whose files are in one folder. A thread works on one range at a time.
  private let shares: [Range<Int>]
  private let next = Atomic(0)
  private let state = Mutex(State())

  private struct State {
    var statuses: [(number: Int, status: FileStatus?)] = []
    /// The files that the helper thread could not read; the main thread tries them again.
    var left: [Range<Int>] = []
    var failure: (any Error)?
  }

  // From this number of files on, a second thread is worth its start; also the number that a thread stages at a
  // time.
  private static let parallelThreshold = 300
  private static let share = 128

  init(_ steps: Slice<CheckoutSteps>, to tree: String, modes: FileModeTrust, meter: WorkMeter?) {
    (self.steps, self.tree, self.modes, self.meter) = (steps, tree, modes, meter)
    var shares: [Range<Int>] = []
    for step in steps {
      if let last = shares.last, last.count < Self.share, step.isBeside(steps[last.lowerBound]) {
        shares[shares.count - 1] = last.lowerBound..<(step.number + 1)
      } else {
        shares.append(step.number..<(step.number + 1))
      }
    }
    self.shares = shares
  }

  /// Writes all files, not durably, and returns their status by step.
  func write(from repository: Repository) throws -> [(number: Int, status: FileStatus?)] {
    let folder = repository.folder
    let helper =
      steps.count < Self.parallelThreshold
      ? nil
      : HelperThread { [self] in
        // Without a helper, the other thread writes all files.
        guard let own = try? Repository.open(at: folder) else { return }
        run(from: own, isHelping: true)
      }
    run(from: repository, isHelping: false)
    helper?.join()
    let left = state.withLock { $0.left }
    if !left.isEmpty {
      let folder = try FolderAccess(folder: tree)
      for share in left { _ = try write(share, from: repository, to: folder) }
    }
    return try state.withLock { state in
      if let failure = state.failure { throw failure }
      return state.statuses
    }
  }

  private func run(from repository: Repository, isHelping: Bool) {
    do {
      let folder = try FolderAccess(folder: tree)
      while true {
        let number = next.wrappingAdd(1, ordering: .relaxed).oldValue
        guard number < shares.count else { return }
        let rest = try write(shares[number], from: repository, to: folder, leavesRest: isHelping)
        if !rest.isEmpty { return state.withLock { $0.left.append(rest) } }
      }
    } catch {
      state.withLock { $0.failure = $0.failure ?? error }
      next.store(shares.count, ordering: .relaxed)
    }
  }

  /// If a file cannot be read and `leavesRest` is true, returns the steps from that one on.
  private func write(
    _ share: Range<Int>, from repository: Repository, to tree: FolderAccess,
    leavesRest: Bool = false
  ) throws -> Range<Int> {
    var written: [(number: Int, status: FileStatus?)] = []
    defer { state.withLock { $0.statuses += written } }
    let first = steps[share.lowerBound].path
    return try tree.withFolder(first.parent ?? "", of: first, create: true) { folder in
      for step in steps[share] {
        guard let new = step.new else { continue }
        let bytes: [UInt8]
        do {
          bytes = try repository.blobReadOnce(new.id)
        } catch let error as GitError {
          // This repository may not know objects that other threads have just stored.
          if leavesRest { return step.number..<share.upperBound }
          throw error
        }
        let status = try StagedFiles.write(
          bytes, of: step.path, as: modes.permissions(of: new.mode), to: folder, step.path.name)
        written.append((step.number, status))
        meter?.count(bytes: bytes.count)
      }
      return share.upperBound..<share.upperBound
    } ?? share
  }
}
