internal import Git
internal import Glibc
internal import Synchronization
internal import System
internal import WorkTree

/// Looks for texts in the notes of a folder, on several threads.
///
/// Unchecked: the listing is only read while threads run, and it outlives them because `run` waits;
/// what changes is behind the lock.
final class FolderSearch: @unchecked Sendable {
  private let query: SearchQuery
  private let listing: FolderListing
  private let root: Int32
  private let sizeLimit: Int
  private let state = Mutex(State())

  private struct State {
    var next = 0
    var hits: [SearchHit] = []
    var failure: (any Error)?
  }

  // How many files a thread takes at a time, and from how many on another thread is worth it.
  private static let share = 256
  private static let threadsAtMost = 4

  init(_ query: SearchQuery, folder: String, listing: FolderListing, sizeLimit: Int) throws {
    self.query = query
    self.listing = listing
    self.sizeLimit = sizeLimit
    root = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard root >= 0 else { throw NotebookError.file(call: "open", path: folder, errno: errno) }
  }

  deinit { close(root) }

  /// The notes that were found, in no order.
  ///
  /// - Parameter progress: called now and then, on this thread, with the number of files done.
  func run(progress: (Int) -> Void) throws -> [SearchHit] {
    let processors = sysconf(Int32(_SC_NPROCESSORS_ONLN))
    let shares = (listing.items.count + Self.share - 1) / Self.share
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
      var reader = FileReader(root: root, sizeLimit: sizeLimit)
      while let range = take() {
        var hits: [SearchHit] = []
        for item in listing.items[range] {
          listing.withPath(of: item) { name, path in
            guard let title = TreePath.titleRange(inPath: path) else { return }
            look(
              name, path, UnsafeRawBufferPointer(rebasing: path[title]), patterns, &reader, &hits)
          }
        }
        if !hits.isEmpty { state.withLock { $0.hits += hits } }
        report(range.upperBound)
      }
    } catch {
      state.withLock { $0.failure = $0.failure ?? error }
    }
  }

  private func take() -> Range<Int>? {
    state.withLock { state in
      guard state.failure == nil, state.next < listing.items.count else { return nil }
      let start = state.next
      state.next = min(start + Self.share, listing.items.count)
      return start..<state.next
    }
  }

  private func look(
    _ name: UnsafePointer<CChar>, _ path: UnsafeRawBufferPointer,
    _ title: UnsafeRawBufferPointer, _ patterns: SearchPatterns, _ reader: inout FileReader,
    _ hits: inout [SearchHit]
  ) {
    let inTitle = patterns.termsFound(inTitle: title)
    let isTitleHit = !inTitle.contains(false)
    if query.isTitleOnly && !isTitleHit { return }
    reader.read(name) { text, descriptor in
      guard isTitleHit || patterns.holdsRest(text, inTitle: inTitle) else { return }
      var status = stat()
      guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return }
      hits.append(
        SearchHit(
          TreePath(bytes: path), text, modified: Int64(status.st_mtim.tv_sec), inTitle: inTitle,
          patterns: patterns))
    }
  }
}

extension SearchHit {
  /// What a text that fits holds.
  init(
    _ path: TreePath, _ text: UnsafeRawBufferPointer, modified: Int64, inTitle: [Bool],
    patterns: SearchPatterns
  ) {
    self.path = path
    self.modified = modified
    former = nil
    let isTitleHit = !inTitle.contains(false)
    guard !patterns.query.isTitleOnly else {
      (rank, lines, matchingLineCount) = (.title, [], 0)
      return
    }
    let found = patterns.matches(in: text, inTitle: inTitle)
    rank = isTitleHit ? .title : found.areWords ? .words : .parts
    let matching = MatchingLines(of: text, found.ranges, limit: patterns.query.lineLimit)
    lines = matching.lines(context: patterns.query.context)
    matchingLineCount = matching.count
  }
}
