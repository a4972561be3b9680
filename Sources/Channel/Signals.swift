internal import Glibc

/// A pipe to oneself: what makes a `poll` in another thread return.
package final class SelfPipe: Sendable {
  package let readEnd: Int32
  let writeEnd: Int32

  /// Throws when the process has no descriptors left.
  package init() throws {
    var ends: [Int32] = [-1, -1]
    if pipe(&ends) != 0 { throw ChannelError.system(call: "pipe", code: errno) }
    (readEnd, writeEnd) = (ends[0], ends[1])
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
  }

  deinit {
    close(readEnd)
    close(writeEnd)
  }

  /// A full pipe is readable already, so failing to write is no failure.
  package func signal() {
    var byte: UInt8 = 1
    _ = write(writeEnd, &byte, 1)
  }

  /// Forgets all signals until now.
  package func drain() {
    var bytes = [UInt8](repeating: 0, count: 64)
    while read(readEnd, &bytes, bytes.count) > 0 {}
  }
}

/// Ends all waiting of those who hold it, at once and for good.
public final class CancellationToken: Sendable {
  let pipe: SelfPipe

  /// Throws when the process has no file descriptors left.
  public init() throws { pipe = try SelfPipe() }

  /// Ends all waiting. From any thread, any number of times.
  public func cancel() { pipe.signal() }

  /// A descriptor to which a signal handler may write a byte: the same as `cancel`.
  public var signalDescriptor: Int32 { pipe.writeEnd }

  /// Becomes readable when it is cancelled, for whoever polls.
  public var descriptor: Int32 { pipe.readEnd }

  /// Waits until this one is cancelled, or `other`; true when it was this one.
  public func wait(orUntil other: CancellationToken) -> Bool {
    var entries = [
      pollfd(fd: pipe.readEnd, events: Int16(POLLIN), revents: 0),
      pollfd(fd: other.pipe.readEnd, events: Int16(POLLIN), revents: 0),
    ]
    while poll(&entries, nfds_t(entries.count), -1) < 0 && errno == EINTR {}
    return entries[0].revents != 0
  }

  /// Whether it was cancelled.
  public var isCancelled: Bool {
    var entry = pollfd(fd: pipe.readEnd, events: Int16(POLLIN), revents: 0)
    return poll(&entry, 1, 0) > 0
  }
}

/// Makes a `Connection.exchange` in another thread ask for frames again.
public final class Wakeup: Sendable {
  let pipe: SelfPipe

  /// Throws when the process has no file descriptors left.
  public init() throws { pipe = try SelfPipe() }

  /// From any thread; several calls before it is noticed count as one.
  public func signal() { pipe.signal() }
}

/// The one place where this module waits.
enum Wait {
  enum Outcome: Equatable { case ready, woken }

  /// Waits until `descriptor` is ready for `events`. A cancelled token comes before all else.
  static func until(
    _ descriptor: Int32, _ events: Int32, deadline: Deadline, phase: ChannelError.Phase,
    cancellation: CancellationToken?, wakeup: Wakeup? = nil
  ) throws(ChannelError) -> Outcome {
    // poll passes over negative descriptors.
    var entries = [
      pollfd(fd: descriptor, events: Int16(events), revents: 0),
      pollfd(fd: cancellation?.pipe.readEnd ?? -1, events: Int16(POLLIN), revents: 0),
      pollfd(fd: wakeup?.pipe.readEnd ?? -1, events: Int16(POLLIN), revents: 0),
    ]
    while true {
      let count = poll(&entries, nfds_t(entries.count), deadline.remainingMilliseconds)
      if count < 0 {
        if errno == EINTR { continue }
        throw .system(call: "poll", code: errno)
      }
      if entries[1].revents != 0 { throw .cancelled }
      if entries[0].revents != 0 { return .ready }
      if entries[2].revents != 0 {
        wakeup?.pipe.drain()
        return .woken
      }
      if deadline.hasPassed { throw .timedOut(phase) }
    }
  }
}
