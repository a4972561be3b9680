internal import Glibc
internal import Sync

/// Lets go of memory that a quiet service does not need: pages of the program, its libraries and of
/// packs, most of which were only needed to start, are left to the system's cache, from which they
/// come back without a look at the disk. A value of the service's own thread.
struct IdleMemory {
  /// How long nothing must happen before, in seconds.
  static let quiet = 10.0

  private var due: Moment? = .now + quiet

  /// When there is something to let go of.
  var next: Moment? { due }

  /// Something happened.
  mutating func stir() { due = .now + Self.quiet }

  /// Lets go, if it is time; true when it was.
  mutating func rest() -> Bool {
    guard let due, Moment.now >= due else { return false }
    self.due = nil
    for pages in Self.cleanMappings() { madvise(pages.baseAddress, pages.count, MADV_DONTNEED) }
    return true
  }

  /// The mappings of files that nobody can have written into, of which the system has a copy:
  /// proc_pid_maps(5). Others that are read-only may have been written when the program was loaded.
  static func cleanMappings() -> [UnsafeMutableRawBufferPointer] {
    guard let file = fopen("/proc/self/maps", "re") else { return [] }
    defer { fclose(file) }
    var found: [UnsafeMutableRawBufferPointer] = []
    var line: UnsafeMutablePointer<CChar>?
    var capacity = 0
    defer { free(line) }
    while getline(&line, &capacity, file) > 0, let text = line.map({ String(cString: $0) }) {
      // START-END MODE OFFSET DEVICE INODE PATH
      let words = text.split(separator: " ", maxSplits: 4)
      let ends = words.first?.split(separator: "-").compactMap { UInt($0, radix: 16) } ?? []
      guard words.count == 5, words[4].contains("/"), ["r-xp", "r--s"].contains(words[1]),
        ends.count == 2, let start = UnsafeMutableRawPointer(bitPattern: ends[0])
      else { continue }
      found.append(UnsafeMutableRawBufferPointer(start: start, count: Int(ends[1] - ends[0])))
    }
    return found
  }
}
