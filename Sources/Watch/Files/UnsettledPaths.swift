internal import Git
internal import System

/// The paths with changes that are not in a version yet, and when each may be saved:
/// notes-watch(1), "When a version is made".
struct UnsettledPaths {
  private struct Entry {
    var due: Instant
    let since: Instant
    var isGone = false
  }

  private var entries: [TreePath: Entry] = [:]
  /// The time of the last deletion. All deletions wait for each other, so that the guard against
  /// mass deletion counts them together.
  private var lastGone: Instant?

  /// How long a file that is being written must rest, in seconds.
  static let quiet = 2.0
  /// How long a program may keep writing to a file before it is saved anyway.
  static let patience = 10.0
  /// How long a deleted file may take to reappear: some editors save this way.
  static let reappearance = 0.2
  /// How long a new folder may take to fill.
  static let filling = 0.05

  var all: Set<TreePath> { Set(entries.keys) }
  var next: Instant? { entries.values.map(due).min() }

  mutating func complete(_ path: TreePath, _ now: Instant) { set(path, now, now) }

  mutating func writing(_ path: TreePath, _ now: Instant) {
    let since = entries[path]?.since ?? now
    set(path, min(now + Self.quiet, since + Self.patience), now)
  }

  mutating func gone(_ path: TreePath, _ now: Instant) {
    set(path, now + Self.reappearance, now)
    entries[path]?.isGone = true
    lastGone = now
  }

  mutating func folder(_ path: TreePath, _ now: Instant) { set(path, now + Self.filling, now) }

  /// Delays paths that could not be saved; they are tried again at `moment`.
  mutating func postpone(_ paths: Set<TreePath>, until moment: Instant) {
    for path in paths { set(path, moment, moment) }
  }

  func ready(_ now: Instant) -> Set<TreePath> { Set(entries.filter { due($0.value) <= now }.keys) }

  mutating func remove(_ paths: Set<TreePath>) { for path in paths { entries[path] = nil } }

  mutating func removeAll() { entries.removeAll() }

  private func due(_ entry: Entry) -> Instant {
    guard entry.isGone, let lastGone else { return entry.due }
    return max(entry.due, min(lastGone + Self.reappearance, entry.since + Self.patience))
  }

  private mutating func set(_ path: TreePath, _ due: Instant, _ now: Instant) {
    entries[path] = Entry(due: due, since: entries[path]?.since ?? now)
  }
}

/// How fast versions may follow one another: notes-watch(1), "When a version is made". The first
/// change is saved at once. After that, changes within a short window become one version, and a
/// file that is written continuously gets fewer and fewer versions.
struct VersionPace {
  /// The window, in seconds.
  static let window = 0.1
  /// How many versions may follow each other in windows of that length.
  static let burst = 20.0
  /// How many a second in the long run.
  static let rate = 4.0
  /// The longest time between versions of a file that is written continuously, in seconds.
  static let longest = 5.0

  private var bucket = TokenBucket(aSecond: VersionPace.rate, atOnce: VersionPace.burst)
  private var last: Instant?
  private var files: [TreePath: (last: Instant, gap: Double)] = [:]

  func earliest(_ now: Instant) -> Instant {
    guard let last else { return now }
    return max(last + Self.window, bucket.next(now))
  }

  func earliest(for path: TreePath, _ now: Instant) -> Instant {
    guard let file = files[path] else { return now }
    return max(now, file.last + file.gap)
  }

  mutating func saved(_ paths: Set<TreePath>, _ now: Instant) {
    bucket.spend(now)
    last = now
    files = files.filter { now - $0.value.last < 4 * $0.value.gap }
    for path in paths.prefix(64) {
      let gap = files[path].map { min($0.gap * 2, Self.longest) } ?? Self.window
      files[path] = (now, gap)
    }
  }
}
