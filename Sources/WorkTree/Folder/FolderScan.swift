package import Git
internal import Glibc
internal import System

/// How the files of a folder compare with the index by their status alone; nothing is read.
///
/// Two things take the time: listing the folders, and asking for the status of every file. Both are
/// done at once: a second thread looks at the files that the index has, while this one lists.
struct FolderScan {
  /// Files that are not in the index, and files whose status is not the remembered one or can't
  /// tell; by path.
  var candidates: [Candidate] = []
  /// The places in the index whose files were found.
  private(set) var seen: [Bool]
  private(set) var skipped: [SkippedFile]

  /// From how many files on a second thread is worth its start.
  private static let parallelThreshold = 300

  init(
    folder: String, sizeLimit: Int, modes: FileModeTrust, index: IndexFile, rules: IgnoreRules
  ) throws {
    let root = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard root >= 0 else { throw NotebookError.file(call: "open", path: folder, errno: errno) }
    defer { close(root) }
    let known = KnownFiles(index: index, root: root, sizeLimit: sizeLimit, modes: modes)
    let thread = index.count < Self.parallelThreshold ? nil : HelperThread { known.look() }
    // The descriptor and the index stay until the other thread is done.
    defer { thread?.join() }
    let folders = IndexFolders(index)
    let listing = try FolderListing(folder: folder, known: folders) { path, hasIgnoreFile in
      try rules.mayExclude(hasIgnoreFile) && !index.containsFolder(path)
        && rules.isIgnored(path, isFolder: true)
    }
    skipped = listing.skipped
    seen = [Bool](repeating: false, count: index.count)
    for run in folders.runs where listing.unchangedFolders[run.folder] {
      for position in run.positions { seen[position] = true }
    }
    let places = listing.items.isEmpty ? nil : IndexPlaces(index)
    for item in listing.items {
      try listing.withPath(of: item) { name, path in
        if let position = places?.position(of: path, in: index) {
          seen[position] = true
        } else if !SkipRules.isDebris(path[path.nameStart...]) {
          let path = TreePath(bytes: path)
          switch LookedAt(name, root: root, sizeLimit: sizeLimit) {
          case .missing, .folder: break
          case .skipped(let reason):
            skipped.append(SkippedFile(path: path, reason: reason))
          case .file(let status):
            let isIgnored =
              try rules.mayExclude(listing.hasIgnoreFile)
              && rules.isIgnored(path, isFolder: false)
            if !isIgnored { candidates.append(Candidate(path, status)) }
          }
        }
      }
    }
    known.look()
    thread?.join()
    // What no folder lists is not there: what stands at its path may be beyond a link.
    for (position, found) in known.deviations where seen[position] {
      switch found {
      case .missing, .folder: seen[position] = false
      case .skipped(let reason):
        seen[position] = false
        skipped.append(SkippedFile(path: index[position].path, reason: reason))
      case .file(let status):
        candidates.append(Candidate(index[position].path, status, position: position))
      }
    }
    candidates.sort { $0.path < $1.path }
    skipped.sort { $0.path < $1.path }
  }
}

extension UnsafeRawBufferPointer {
  /// Where a path's last name begins.
  var nameStart: Int { lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0 }

  /// Whether both hold the same bytes.
  func isEqual(to other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count else { return false }
    guard let left = baseAddress, let right = other.baseAddress else { return count == 0 }
    return memcmp(left, right, count) == 0
  }
}

extension IndexFile {
  /// Whether a file below that folder is in the index.
  package func containsFolder(_ folder: TreePath) -> Bool {
    let prefix = folder.bytes + [UInt8(ascii: "/")]
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if pathBytes(at: middle).lexicographicallyPrecedes(prefix) {
        low = middle + 1
      } else {
        high = middle
      }
    }
    return low < count && pathBytes(at: low).starts(with: prefix)
  }
}
