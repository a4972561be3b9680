internal import Channel
internal import Glibc
internal import Synchronization
internal import System

/// Ctrl-C and requests to terminate, for commands that wait: the first ends the waiting and lets
/// the command finish what it is in the middle of, the second ends the process.
enum Interruption {
  /// Where the signal handler writes; -1 before there is anything to end.
  private static let descriptor = Atomic<Int32>(-1)
  /// The signal that came first, or 0.
  private static let received = Atomic<Int32>(0)

  /// A token that the first signal cancels. A command asks for it once.
  static func token() throws -> CancellationToken {
    let token = try CancellationToken()
    // The handler may run until the process ends, and so must what it writes to.
    _ = Unmanaged.passRetained(token)
    descriptor.store(token.descriptor, ordering: .sequentiallyConsistent)
    for signal in [SIGINT, SIGTERM, SIGHUP] { install(signal) }
    return token
  }

  static var hasCome: Bool { received.load(ordering: .sequentiallyConsistent) != 0 }

  /// How a command that waits for others without end is left: a request to terminate is how
  /// services are ended, Ctrl-C is told as what it is.
  static var exit: Exit {
    received.load(ordering: .sequentiallyConsistent) == SIGTERM ? .done : .interrupted
  }

  /// SIG_IGN, which Swift cannot compare as a function.
  private static let ignore = 1

  private static func install(_ signal: Int32) {
    var former = sigaction()
    sigaction(signal, nil, &former)
    // Who was started to ignore it (nohup) goes on ignoring it.
    let handler = unsafeBitCast(former.__sigaction_handler.sa_handler, to: Int.self)
    if handler == Self.ignore { return }
    var action = sigaction()
    action.__sigaction_handler.sa_handler = { @Sendable signal in
      let number = errno
      Interruption.received.store(signal, ordering: .sequentiallyConsistent)
      WakeUp.signal(Interruption.descriptor.load(ordering: .sequentiallyConsistent))
      errno = number
    }
    // Once only; and a read that waits for an answer returns.
    action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND))
    sigaction(signal, &action, nil)
  }
}
