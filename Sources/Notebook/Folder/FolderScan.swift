internal import CLinux
internal import Git
internal import Glibc
internal import Synchronization

/// A file that a scan found.
struct ScannedFile {
  let path: TreePath
  let status: FileStatus
  let mode: FileMode
  let size: Int
}

/// How the files of a folder compare with the index by their status alone; nothing is read.
struct FolderScan {
  /// Files that are not in the index.
  private(set) var untracked: [ScannedFile] = []
  /// Files whose status is not the remembered one, or can't tell, with their place in the index.
  private(set) var suspects: [(file: ScannedFile, position: Int)] = []
  /// The places in the index whose files were found.
  private(set) var seen: [Bool]
  private(set) var skipped: [SkippedFile]

  /// From how many files on a second thread is worth its start.
  private static let parallelThreshold = 2_000

  init(folder: String, sizeLimit: Int, index: IndexFile, rules: IgnoreRules) throws {
    let places = IndexPlaces(index)
    let listing = try FolderListing(folder: folder) { path, hasIgnoreFile in
      try rules.mayLeaveOut(hasIgnoreFile) && !index.containsFolder(path)
        && rules.isIgnored(path, isFolder: true)
    }
    skipped = listing.skipped
    seen = [Bool](repeating: false, count: index.count)
    let root = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard root >= 0 else { throw NotebookError.file(call: "open", path: folder, errno: errno) }
    defer { close(root) }
    let comparison = Comparison(
      listing: listing, index: index, places: places, root: root, sizeLimit: sizeLimit)
    for part in comparison.parts(threads: listing.items.count < Self.parallelThreshold ? 1 : 2) {
      for position in part.seen { seen[position] = true }
      suspects += part.suspects
      skipped += part.skipped
      for file in part.untracked where !SkipRules.isDebris(file.path.name.bytes) {
        if try rules.mayLeaveOut(listing.hasIgnoreFile)
          && rules.isIgnored(file.path, isFolder: false)
        {
          continue
        }
        untracked.append(file)
      }
    }
    untracked.sort { $0.path < $1.path }
    suspects.sort { $0.position < $1.position }
    skipped.sort { $0.path < $1.path }
  }
}

/// Where each path is in the index: a hash table over the index's own bytes.
private final class IndexPlaces: Sendable {
  // Open addressing, a power of two in size, at most half full; -1 is free.
  private let slots: [Int32]
  private let mask: Int

  init(_ index: IndexFile) {
    var size = 16
    while size < index.count * 2 { size *= 2 }
    var slots = [Int32](repeating: -1, count: size)
    for position in 0..<index.count {
      var slot = Self.hash(index.pathBytes(at: position)) & (size - 1)
      while slots[slot] >= 0 { slot = (slot + 1) & (size - 1) }
      slots[slot] = Int32(position)
    }
    self.slots = slots
    mask = size - 1
  }

  func position(of path: UnsafeRawBufferPointer, in index: IndexFile) -> Int? {
    var slot = Self.hash(path) & mask
    while slots[slot] >= 0 {
      let known = index.pathBytes(at: Int(slots[slot]))
      if known.isEqual(to: path) {
        return Int(slots[slot])
      }
      slot = (slot + 1) & mask
    }
    return nil
  }

  private static func hash(_ bytes: UnsafeRawBufferPointer) -> Int {
    // FNV-1a; the table is private to one scan of the user's own folder.
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return Int(truncatingIfNeeded: hash ^ hash >> 29) & Int.max
  }
}

/// Looks at listed files, on one thread or several.
///
/// Unchecked: everything in it is read only while threads run, and the index and listing outlive
/// them because `parts` waits.
private struct Comparison: @unchecked Sendable {
  let listing: FolderListing
  let index: IndexFile
  let places: IndexPlaces
  let root: Int32
  let sizeLimit: Int

  struct Part: Sendable {
    var seen: [Int] = []
    var suspects: [(file: ScannedFile, position: Int)] = []
    var untracked: [ScannedFile] = []
    var skipped: [SkippedFile] = []
  }

  func parts(threads: Int) -> [Part] {
    let count = listing.items.count
    guard threads > 1 else { return [part(0..<count)] }
    let second = PartBox()
    let thread = ScanThread { second.part.withLock { $0 = part((count / 2)..<count) } }
    let first = part(0..<(count / 2))
    thread.join()
    return [first, second.part.withLock { $0 }]
  }

  private final class PartBox: Sendable {
    let part = Mutex(Part())
  }

  private func part(_ range: Range<Int>) -> Part {
    var part = Part()
    part.seen.reserveCapacity(range.count)
    for item in listing.items[range] {
      listing.withPath(of: item) { name, path in look(name, path, &part) }
    }
    return part
  }

  private func look(
    _ name: UnsafePointer<CChar>, _ path: UnsafeRawBufferPointer, _ part: inout Part
  ) {
    var status = stat()
    guard fstatat(root, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
      if errno != ENOENT && errno != ENOTDIR {
        part.skipped.append(
          SkippedFile(path: TreePath(bytes: path), reason: .unreadable(errno: errno)))
      }
      return
    }
    let kind = status.st_mode & S_IFMT
    guard kind == S_IFREG else {
      // A folder now: what is in it will be seen by the next scan.
      guard kind != S_IFDIR else { return }
      part.skipped.append(
        SkippedFile(
          path: TreePath(bytes: path), reason: kind == S_IFLNK ? .symbolicLink : .specialFile))
      return
    }
    let known = FileStatus(status)
    let mode: FileMode = status.st_mode & S_IXUSR != 0 ? .executable : .regular
    let position = places.position(of: path, in: index)
    if let position {
      part.seen.append(position)
      if index.status(at: position) == known, index.mode(at: position) == mode,
        !index.isRacy(known)
      {
        return
      }
    }
    let size = Int(status.st_size)
    let treePath = TreePath(bytes: path)
    guard size <= sizeLimit else {
      part.skipped.append(SkippedFile(path: treePath, reason: .tooLarge(size: size)))
      return
    }
    let file = ScannedFile(path: treePath, status: known, mode: mode, size: size)
    if let position {
      part.suspects.append((file, position))
    } else {
      part.untracked.append(file)
    }
  }
}

extension UnsafeRawBufferPointer {
  /// Whether both hold the same bytes.
  func isEqual(to other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count else { return false }
    guard let left = baseAddress, let right = other.baseAddress else { return count == 0 }
    return memcmp(left, right, count) == 0
  }
}

extension IndexFile {
  /// Whether a file below that folder is in the index.
  func containsFolder(_ folder: TreePath) -> Bool {
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
