internal import CLinux
internal import Glibc

/// Wakes a thread that waits in `Poll`: a counter of the kernel, eventfd(2).
public final class WakeUp: Sendable {
  /// Readable from `signal` on until `clear`.
  public let descriptor: Int32

  /// Throws if the process has no descriptors left.
  public init() throws(SystemCallError) {
    descriptor = notes_eventfd()
    if descriptor < 0 { throw .system(call: "eventfd", errno: errno) }
  }

  deinit { close(descriptor) }

  /// Wakes the thread. Can be called from any thread, any number of times.
  public func signal() { WakeUp.signal(descriptor) }

  /// Wakes the thread from a signal handler, which knows only the descriptor.
  public static func signal(_ descriptor: Int32) {
    // A counter at its limit is already readable, so a failed write does not matter.
    var one: UInt64 = 1
    _ = write(descriptor, &one, 8)
  }

  /// Clears all signals so far.
  public func clear() {
    var count: UInt64 = 0
    _ = read(descriptor, &count, 8)
  }
}

/// A pipe: pipe(2). Both ends are closed with this value at the latest, and child processes do not
/// inherit them.
public struct Pipe: ~Copyable, Sendable {
  package let readEnd: Int32
  /// The writing end; negative after it was closed.
  package private(set) var writeEnd: Int32

  /// Throws if the process has no descriptors left.
  public init() throws(SystemCallError) {
    var ends: [Int32] = [-1, -1]
    if pipe(&ends) != 0 { throw .system(call: "pipe", errno: errno) }
    (readEnd, writeEnd) = (ends[0], ends[1])
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
  }

  deinit {
    close(readEnd)
    if writeEnd >= 0 { close(writeEnd) }
  }

  /// Closes the write end, which another process has inherited.
  package mutating func closeWriteEnd() {
    close(writeEnd)
    writeEnd = -1
  }

  /// Makes `read` return if there is no data.
  package func setNonBlocking() { _ = fcntl(readEnd, F_SETFL, O_NONBLOCK) }

  /// The bytes that can be read now, at most 16 KiB; empty at the end of the stream, nil if there
  /// are none yet.
  package func read() -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    let count = Glibc.read(readEnd, &buffer, buffer.count)
    return count < 0 ? nil : Array(buffer[..<count])
  }
}

/// Waiting for descriptors: poll(2).
public enum Poll {
  /// Waits until one of `descriptors` is readable or at its end, until `toWrite` is writable, or until
  /// `deadline`. Returns the descriptors that are ready; a negative descriptor is never ready.
  @discardableResult
  public static func wait(
    for descriptors: [Int32], toWrite: Int32 = -1, until deadline: Instant = .never
  ) -> [Int32] {
    var entries = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    if toWrite >= 0 { entries.append(pollfd(fd: toWrite, events: Int16(POLLOUT), revents: 0)) }
    while poll(&entries, nfds_t(entries.count), deadline.pollTimeout) < 0 {
      if errno != EINTR { return [] }
    }
    return entries.filter { $0.revents != 0 }.map(\.fd)
  }

  /// Whether a descriptor is readable, or at its end.
  public static func isReadable(_ descriptor: Int32) -> Bool {
    !wait(for: [descriptor], until: .now).isEmpty
  }
}

/// Ends all waits that use this token, at once and permanently.
public final class CancellationToken: Sendable {
  private let wakeUp: WakeUp

  /// Throws if the process has no descriptors left.
  public init() throws(SystemCallError) { wakeUp = try WakeUp() }

  /// Ends all waits. Can be called from any thread, any number of times.
  public func cancel() { wakeUp.signal() }

  /// The descriptor that is readable after cancellation. A signal handler can call `WakeUp.signal` with it instead of
  /// `cancel`.
  public var descriptor: Int32 { wakeUp.descriptor }

  /// Whether the token was cancelled.
  public var isCancelled: Bool { Poll.isReadable(descriptor) }

  /// Calls `body` on a new thread when this token is cancelled, unless `other` is cancelled first.
  public func whenCancelled(
    unless other: CancellationToken, _ body: @escaping @Sendable () -> Void
  ) throws(SystemCallError) {
    try startThread { [self] in
      if Poll.wait(for: [descriptor, other.descriptor]).contains(descriptor) { body() }
    }
  }
}
