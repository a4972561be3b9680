internal import Glibc

/// A moment on the monotonic clock, after which waiting ends.
public struct Deadline: Hashable, Comparable, Sendable {
  private let nanoseconds: UInt64

  /// A moment that never comes.
  public static let never = Deadline(nanoseconds: .max)

  /// So many seconds from now.
  public static func after(seconds: Double) -> Deadline {
    let span = min(max(seconds, 0), 1e9) * 1e9
    return Deadline(nanoseconds: now() + UInt64(span))
  }

  public static func < (left: Deadline, right: Deadline) -> Bool {
    left.nanoseconds < right.nanoseconds
  }

  /// Whether the moment is over.
  public var hasPassed: Bool { self != .never && nanoseconds <= Deadline.now() }

  /// Milliseconds left, rounded up, as `poll` takes them: -1 for ever.
  public var remainingMilliseconds: Int32 {
    if self == .never { return -1 }
    let now = Deadline.now()
    if nanoseconds <= now { return 0 }
    return Int32(min((nanoseconds - now + 999_999) / 1_000_000, UInt64(Int32.max)))
  }

  /// The end of this attempt where `count` attempts share what is left.
  func share(of count: Int) -> Deadline {
    if self == .never || count <= 1 { return self }
    let now = Deadline.now()
    if nanoseconds <= now { return self }
    return Deadline(nanoseconds: now + (nanoseconds - now) / UInt64(count))
  }

  private static func now() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
