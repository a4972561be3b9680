internal import Git
internal import Sync
internal import System

/// The paths at which something happened that is not in a version yet, and when each may be:
/// notes-watch(1), "When a version is made".
struct UnsettledPaths {
  private struct Entry {
    var due: Instant
    /// When it began.
    let since: Instant
    var isGone = false
  }

  private var entries: [TreePath: Entry] = [:]
  /// When the last file went. All that went wait for each other, so that the guard against mass
  /// deletion sees them together.
  private var lastGone: Instant?

  /// How long a file that is being written must rest, in seconds.
  static let quiet = 2.0
  /// How long somebody may go on writing into a file before a version is made all the same.
  static let patience = 10.0
  /// How long a file that was deleted may take to come back: some editors save so.
  static let reappearance = 0.2
  /// How long a new folder may take to fill.
  static let filling = 0.05

  /// Everything that is waited for.
  var all: Set<TreePath> { Set(entries.keys) }
  /// When the next is due.
  var next: Instant? { entries.values.map(due).min() }

  /// The file is whole.
  mutating func complete(_ path: TreePath, _ now: Instant) { set(path, now, now) }

  /// Somebody is writing it.
  mutating func writing(_ path: TreePath, _ now: Instant) {
    let since = entries[path]?.since ?? now
    set(path, min(now + Self.quiet, since + Self.patience), now)
  }

  /// It went.
  mutating func gone(_ path: TreePath, _ now: Instant) {
    set(path, now + Self.reappearance, now)
    entries[path]?.isGone = true
    lastGone = now
  }

  /// A folder appeared.
  mutating func folder(_ path: TreePath, _ now: Instant) { set(path, now + Self.filling, now) }

  /// It could not be versioned; it is tried again later.
  mutating func postpone(_ paths: Set<TreePath>, until moment: Instant) {
    for path in paths { set(path, moment, moment) }
  }

  /// Those that are due.
  func ready(_ now: Instant) -> Set<TreePath> {
    Set(entries.filter { due($0.value) <= now }.keys)
  }

  mutating func remove(_ paths: Set<TreePath>) {
    for path in paths { entries[path] = nil }
  }

  mutating func removeAll() { entries.removeAll() }

  private func due(_ entry: Entry) -> Instant {
    guard entry.isGone, let lastGone else { return entry.due }
    return max(entry.due, min(lastGone + Self.reappearance, entry.since + Self.patience))
  }

  private mutating func set(_ path: TreePath, _ due: Instant, _ now: Instant) {
    entries[path] = Entry(due: due, since: entries[path]?.since ?? now)
  }
}
