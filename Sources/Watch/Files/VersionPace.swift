internal import Git
internal import Sync
internal import System

/// How fast versions may follow one another: notes-watch(1), "When a version is made".
///
/// The first save counts at once. After it, what comes within a short window is one version, and
/// whoever writes without end gets fewer and fewer.
struct VersionPace {
  /// The window, in seconds.
  static let window = 0.1
  /// How many versions may follow each other at that distance.
  static let burst = 20.0
  /// How many a second in the long run.
  static let rate = 4.0
  /// The longest distance between versions of a file that is written without end, in seconds.
  static let longest = 5.0

  private var tokens = VersionPace.burst
  private var counted = Instant.now
  private var last: Instant?
  private var files: [TreePath: (last: Instant, gap: Double)] = [:]

  /// When the next version may be made.
  func earliest(_ now: Instant) -> Instant {
    guard let last else { return now }
    let saved = min(Self.burst, tokens + (now.seconds - counted.seconds) * Self.rate)
    let wait = saved >= 1 ? 0 : (1 - saved) / Self.rate
    return max(last + Self.window, now + wait)
  }

  /// When a version of this file may be made.
  func earliest(for path: TreePath, _ now: Instant) -> Instant {
    guard let file = files[path] else { return now }
    return max(now, file.last + file.gap)
  }

  /// A version of these files was made.
  mutating func note(_ paths: Set<TreePath>, _ now: Instant) {
    tokens = min(Self.burst, tokens + (now.seconds - counted.seconds) * Self.rate) - 1
    counted = now
    last = now
    files = files.filter { now.seconds - $0.value.last.seconds < 4 * $0.value.gap }
    for path in paths.prefix(64) {
      let gap = files[path].map { min($0.gap * 2, Self.longest) } ?? Self.window
      files[path] = (now, gap)
    }
  }
}
