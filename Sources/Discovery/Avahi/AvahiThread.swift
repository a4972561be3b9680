internal import CAvahi
internal import Glibc
internal import Synchronization
internal import System

/// The thread on which every call of Avahi happens: nothing of Avahi's needs a lock, and no caller
/// waits longer than it wants, for one call of Avahi's may wait 25 seconds for the daemon.
final class AvahiThread: Sendable {
  typealias Command = @Sendable (AvahiSession) -> Void

  private struct State {
    var commands: [Command] = []
    var hasQuit = false
    var thread: pthread_t?
  }

  /// A pointer that may cross to another thread: `avahi_simple_poll_wakeup` is made for that.
  private struct Poll: @unchecked Sendable {
    let pointer: OpaquePointer
  }

  private final class Answer<R: Sendable>: Sendable {
    let value = Mutex<R?>(nil)
    let isThere = Latch()
  }

  private let state = Mutex(State())
  private let ended = Latch()
  private let poll: Poll
  private let library: AvahiLibrary
  private let deviceID: String

  /// Starts the thread, which ends some time after `quit()`.
  static func start(
    library: AvahiLibrary, deviceID: String
  ) throws(DiscoveryError) -> AvahiThread {
    guard let poll = library.functions.avahi_simple_poll_new() else {
      throw library.error(AvahiLibrary.noMemory, in: "avahi_simple_poll_new")
    }
    let thread = AvahiThread(library: library, poll: Poll(pointer: poll), deviceID: deviceID)
    try thread.spawn()
    return thread
  }

  private init(library: AvahiLibrary, poll: Poll, deviceID: String) {
    self.library = library
    self.poll = poll
    self.deviceID = deviceID
  }

  deinit {
    library.functions.avahi_simple_poll_free(poll.pointer)
  }

  /// Whether the caller runs on this thread.
  var isCurrent: Bool {
    state.withLock { $0.thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
  }

  /// Has `command` run on the thread and returns what it returned, waiting up to `seconds`.
  func perform<R: Sendable>(
    within seconds: Double, _ command: @escaping @Sendable (AvahiSession) -> R
  ) throws(DiscoveryError) -> R {
    let answer = Answer<R>()
    try enqueue { session in
      let value = command(session)
      answer.value.withLock { $0 = value }
      answer.isThere.open()
    }
    guard answer.isThere.wait(until: .now + seconds), let value = answer.value.withLock({ $0 })
    else {
      throw .daemonSilent
    }
    return value
  }

  /// Has `command` run on the thread, some time.
  func enqueue(_ command: @escaping Command) throws(DiscoveryError) {
    let isAccepted = state.withLock { state in
      if !state.hasQuit { state.commands.append(command) }
      return !state.hasQuit
    }
    guard isAccepted else { throw .stopped }
    library.functions.avahi_simple_poll_wakeup(poll.pointer)
  }

  /// Ends the thread after the commands given so far, and waits for that up to `seconds` unless it
  /// is called on the thread itself. When the daemon does not answer, the thread ends later.
  func quit(waiting seconds: Double) {
    state.withLock { $0.hasQuit = true }
    library.functions.avahi_simple_poll_wakeup(poll.pointer)
    if !isCurrent { ended.wait(until: .now + seconds) }
  }
}

extension AvahiThread {
  private func spawn() throws(DiscoveryError) {
    do {
      // Signals are for the program's own threads.
      try startThread(takesSignals: false) { [self] in run() }
    } catch {
      throw .avahi(
        call: error.call, code: error.errno, message: String(errorNumber: error.errno))
    }
  }

  private func run() {
    state.withLock { $0.thread = pthread_self() }
    let session = AvahiSession(library: library, poll: poll.pointer, deviceID: deviceID)
    // A wake-up that comes before Avahi prepares to poll is lost, hence the look at the queue
    // after it, in the poll function.
    library.functions.avahi_simple_poll_set_func(
      poll.pointer,
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
      guard library.functions.avahi_simple_poll_iterate(poll.pointer, timeout) == 0 else { break }
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
