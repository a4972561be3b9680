internal import CLinux
internal import Glibc
internal import System

/// Changes of the machine's networks and clock, noticed on a thread of its own until a token is cancelled.
enum MachineWatch {
  /// How often the clocks are compared, in seconds.
  private static let interval = 60

  /// Notices that this machine got or lost a network or an address, from the kernel's messages (rtnetlink(7)).
  /// Then other devices may have become reachable, and connections may be dead. Throws if the kernel sends no
  /// messages, as in some containers.
  static func networks(
    until token: CancellationToken, _ changed: @escaping @Sendable (NetworkState.News) -> Void
  ) throws {
    let socket = try RouteSocket.open()
    try startThread {
      var state = NetworkState()
      var buffer = [UInt8](repeating: 0, count: 1 << 14)
      while true {
        if Poll.wait(for: [socket, token.descriptor]).contains(token.descriptor) { break }
        var news = NetworkState.News.none
        while true {
          let count = recv(socket, &buffer, buffer.count, 0)
          if count > 0 {
            news = max(news, state.takes(buffer[..<count]))
          } else if count < 0, errno == ENOBUFS {
            // The kernel had more messages than fit into the buffer, so one of them may be of interest.
            news = .got
          } else {
            break
          }
        }
        if news != .none { changed(news) }
      }
      close(socket)
    }
  }

  /// Notices that the machine was asleep, as soon as it is awake. Sets a timer on a clock that also runs during
  /// sleep: if its time passes during sleep, the timer ends when the machine wakes up. The difference to a
  /// clock that stops during sleep is the duration of the sleep.
  static func sleep(
    until token: CancellationToken, _ awoken: @escaping @Sendable () -> Void
  ) throws {
    let timer = notes_sleepless_timer(interval)
    guard timer >= 0 else {
      throw WatchError.system(call: "timerfd_create", path: "", errno: errno)
    }
    try startThread {
      var gauge = SleepGauge(gap: Instant.secondsAsleep)
      while true {
        if Poll.wait(for: [timer, token.descriptor]).contains(token.descriptor) { break }
        var count: UInt64 = 0
        _ = read(timer, &count, 8)
        if gauge.hasSlept(gap: Instant.secondsAsleep) { awoken() }
      }
      close(timer)
    }
  }
}

/// The links and addresses from the kernel's messages. Many messages report no change: the kernel
/// repeats addresses whenever their lifetime is extended, and links whenever a radio reports its
/// strength.
struct NetworkState {
  /// Changes of links and addresses: some were lost, or new ones appeared. The latter matters more.
  enum News: Comparable, Sendable { case none, lost, got }

  /// Whether each link runs, for links with a message: the kernel does not report the initial
  /// state.
  private var running: [UInt32: Bool] = [:]
  private var addresses: Set<[UInt8]> = []

  // Types of messages, flags and attributes of rtnetlink(7).
  private enum Message { static let newLink = 16, gone = 17, newAddress = 20, addressGone = 21 }
  private static let isRunning: UInt32 = 0x40
  private static let address = 1

  /// Reads messages, and returns the change that they report.
  mutating func takes(_ messages: ArraySlice<UInt8>) -> News {
    var news = News.none
    func add(_ isNews: Bool, _ kind: News) { if isNews { news = max(news, kind) } }
    var rest = messages
    // struct nlmsghdr: length, type, flags, sequence, port.
    while rest.count >= 16 {
      let length = Int(rest.number(at: 0, as: UInt32.self))
      guard length >= 16, length <= rest.count else { break }
      let body = rest.dropFirst(16).prefix(length - 16)
      switch Int(rest.number(at: 4, as: UInt16.self)) {
      case Message.newLink where body.count >= 16:
        // struct ifinfomsg: family, type, index, flags, change.
        let runs = body.number(at: 8) & Self.isRunning != 0
        add(running.updateValue(runs, forKey: body.number(at: 4)) != runs, runs ? .got : .lost)
      case Message.gone where body.count >= 16:
        add(running.removeValue(forKey: body.number(at: 4)) != false, .lost)
      case Message.newAddress where body.count >= 8:
        add(addresses.insert(Self.place(body)).inserted, .got)
      case Message.addressGone where body.count >= 8:
        addresses.remove(Self.place(body))
        add(true, .lost)
      default: break
      }
      // Each message begins at a multiple of four bytes.
      rest = rest.dropFirst((length + 3) & ~3)
    }
    return news
  }

  /// The bytes that identify an address: family, prefix and link of its struct ifaddrmsg, and the
  /// attribute with the address.
  private static func place(_ body: ArraySlice<UInt8>) -> [UInt8] {
    let start = body.startIndex
    var place = Array(body[start..<(start + 2)] + body[(start + 4)..<(start + 8)])
    var rest = body.dropFirst(8)
    while rest.count >= 4 {
      let (length, kind): (UInt16, UInt16) = (rest.number(at: 0), rest.number(at: 2))
      guard length >= 4, length <= rest.count else { break }
      if kind == address { place += rest.prefix(Int(length)).dropFirst(4) }
      rest = rest.dropFirst((Int(length) + 3) & ~3)
    }
    return place
  }
}

/// Detects from the difference of two clocks that the machine was asleep.
struct SleepGauge {
  var gap: Double

  /// The difference between the clocks, in seconds, from which the machine counts as having been asleep.
  private static let nap = 5.0

  mutating func hasSlept(gap now: Double) -> Bool {
    defer { gap = now }
    return now - gap >= Self.nap
  }
}
