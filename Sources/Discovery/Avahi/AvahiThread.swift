internal import CAvahi
internal import Glibc
internal import Synchronization
internal import System

/// The thread for all calls of Avahi. So nothing needs a lock, and callers need not wait for the daemon, which
/// can take 25 seconds to answer.
final class AvahiThread: Sendable {
  typealias Command = @Sendable (AvahiSession) -> Void

  private struct State {
    var commands: [Command] = []
    var hasQuit = false
    var thread: pthread_t?
  }

  private let state = Mutex(State())
  private let ended = Latch()
  private let library: AvahiLibrary
  private let deviceID: String
  /// Other threads only call `avahi_simple_poll_wakeup`, which may be called from any thread.
  nonisolated(unsafe) private let poll: OpaquePointer

  /// Starts the thread. It ends soon after `quit()`.
  init(library: AvahiLibrary, deviceID: String) throws(DiscoveryError) {
    guard let poll = library.functions.avahi_simple_poll_new() else {
      throw library.error(Int32(AVAHI_ERR_NO_MEMORY), in: "avahi_simple_poll_new")
    }
    self.library = library
    self.deviceID = deviceID
    self.poll = poll
    do {
      // Signals must go to the program's other threads.
      try startThread(takesSignals: false) { [self] in run() }
    } catch {
      throw .avahi(call: error.call, code: error.errno, message: String(errorNumber: error.errno))
    }
  }

  deinit { library.functions.avahi_simple_poll_free(poll) }

  var isCurrent: Bool {
    state.withLock { $0.thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
  }

  /// Whether the thread has ended, or will end.
  var hasQuit: Bool { state.withLock { $0.hasQuit } }

  /// Runs `command` on the thread and throws its result, waiting up to `seconds`.
  func perform(
    within seconds: Double, _ command: @escaping @Sendable (AvahiSession) -> DiscoveryError?
  ) throws(DiscoveryError) {
    let answer = BlockingQueue<DiscoveryError?>()
    try enqueue { answer.put(command($0)) }
    guard let error = answer.take(until: .now + seconds) else { throw .daemonSilent }
    if let error { throw error }
  }

  func enqueue(_ command: @escaping Command) throws(DiscoveryError) {
    let isAccepted = state.withLock { state in
      if !state.hasQuit { state.commands.append(command) }
      return !state.hasQuit
    }
    guard isAccepted else { throw .stopped }
    library.functions.avahi_simple_poll_wakeup(poll)
  }

  /// Ends the thread after the commands queued so far, and waits for that up to `seconds`, unless
  /// called on the thread itself. If the daemon does not answer, the thread ends later.
  func quit(waiting seconds: Double) {
    state.withLock { $0.hasQuit = true }
    library.functions.avahi_simple_poll_wakeup(poll)
    if !isCurrent { ended.wait(until: .now + seconds) }
  }

  private func run() {
    state.withLock { $0.thread = pthread_self() }
    let session = AvahiSession(library: library, poll: poll, deviceID: deviceID)
    // A wake-up before Avahi prepares to poll is lost, so the poll function checks the queue after
    // that.
    library.functions.avahi_simple_poll_set_func(
      poll,
      { descriptors, count, timeout, thread in
        guard let thread else { return -1 }
        let hasWork = Unmanaged<AvahiThread>.fromOpaque(thread).takeUnretainedValue().hasWork
        return Glibc.poll(descriptors, nfds_t(count), hasWork ? 0 : timeout)
      }, Unmanaged.passUnretained(self).toOpaque())
    while true {
      let (commands, hasQuit) = state.withLock { state in
        defer { state.commands = [] }
        return (state.commands, state.hasQuit)
      }
      for command in commands { command(session) }
      if hasQuit && commands.isEmpty { break }
      session.settle()
      let timeout = commands.isEmpty ? session.millisecondsToNextAttempt : 0
      guard library.functions.avahi_simple_poll_iterate(poll, timeout) == 0 else { break }
      session.settle()
    }
    session.close()
    state.withLock { state in
      state.hasQuit = true
      state.thread = nil
    }
    ended.open()
  }

  private var hasWork: Bool { state.withLock { !$0.commands.isEmpty || $0.hasQuit } }
}
