internal import Git
internal import Glibc
internal import Synchronization
internal import System
internal import WorkTree

/// Searches the notes of a folder, on several threads. It may read a half-written file: good enough
/// for a search, not for a save.
final class FolderSearch: Sendable {
  private let query: SearchQuery
  private let paths: [TreePath]
  private let root: Int32
  private let sizeLimit: Int
  private let state = Mutex(State())

  private struct State {
    var next = 0
    var hits: [SearchHit] = []
    var failure: (any Error)?
  }

  // How many files a thread takes at once; with more files, another thread helps.
  private static let share = 256
  private static let threadsAtMost = 4

  /// - Parameter paths: the files to search; those that are not notes are skipped.
  init(_ query: SearchQuery, folder: String, paths: [TreePath], sizeLimit: Int) throws {
    self.query = query
    self.paths = paths
    self.sizeLimit = sizeLimit
    root = try Disk.open(folder, O_RDONLY | O_DIRECTORY)
  }

  deinit { close(root) }

  /// The notes that match, in no order. `progress` is called with the number of finished files, on
  /// this thread.
  func run(progress: (Int) -> Void) throws -> [SearchHit] {
    let processors = sysconf(Int32(_SC_NPROCESSORS_ONLN))
    let shares = (paths.count + Self.share - 1) / Self.share
    let others = max(0, min(processors, Self.threadsAtMost, shares) - 1)
    let threads = (0..<others).map { _ in HelperThread { [self] in work { _ in } } }
    work(report: progress)
    for thread in threads { thread.join() }
    return try state.withLock { state in
      if let failure = state.failure { throw failure }
      return state.hits
    }
  }

  private func work(report: (Int) -> Void) {
    do {
      let patterns = try SearchPatterns(query)
      while let range = takeShare() {
        let hits = paths[range].compactMap { hit($0, patterns) }
        if !hits.isEmpty { state.withLock { $0.hits += hits } }
        report(range.upperBound)
      }
    } catch {
      state.withLock { $0.failure = $0.failure ?? error }
    }
  }

  private func takeShare() -> Range<Int>? {
    state.withLock { state in
      guard state.failure == nil, state.next < paths.count else { return nil }
      let start = state.next
      state.next = min(start + Self.share, paths.count)
      return start..<state.next
    }
  }

  /// The matches in a note; nil if there are none, or if the file is not plain, unreadable, or too large to be
  /// versioned.
  private func hit(_ path: TreePath, _ patterns: SearchPatterns) -> SearchHit? {
    guard let inTitle = patterns.termsFound(inTitleOf: path) else { return nil }
    if query.isTitleOnly && inTitle.contains(false) { return nil }
    let descriptor = Counted.openWithoutTrace(root, path.cString, O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var status = stat()
    // An unreadable file never matches; 'notes status' reports it.
    guard let text = (try? Disk.read(descriptor, path: "", limit: sizeLimit)).map(patterns.prepare),
      patterns.holdsRest(text, inTitle: inTitle), Counted.fstat(descriptor, &status) == 0
    else { return nil }
    return SearchHit(
      path, text, modified: Int64(status.st_mtim.tv_sec), inTitle: inTitle, patterns: patterns)
  }
}
