internal import Glibc
internal import Synchronization
internal import System

/// A wire to a server on loopback that is as slow as a test says, or stops passing anything on.
public final class SlowWire: Sendable {
  /// How fast bytes pass, in each direction.
  public struct Pace: Sendable {
    /// How many bytes pass at once, and how many seconds after the ones before.
    public var bytes: Int
    public var pause: Double
    /// After how many bytes in a direction nothing passes any more in it.
    public var most: Int

    public init(bytes: Int = 65_536, every pause: Double = 0, most: Int = .max) {
      (self.bytes, self.pause, self.most) = (bytes, pause, most)
    }
  }

  /// Where it is entered, on loopback.
  public let port: UInt16
  private let target: UInt16
  private let listener: Int32 = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
  private let state: Mutex<State>
  private let stop: CancellationToken
  private let stalls = EventLog<Bool>()

  private struct State {
    var pace: Pace
    var fromServer = 0
    var toServer = 0
  }

  /// A wire to a port, until it is closed.
  public init(to target: UInt16, _ pace: Pace = Pace()) throws {
    self.target = target
    state = Mutex(State(pace: pace))
    stop = try CancellationToken()
    // Small buffers: what was written has gone, and does not wait in the system.
    Self.set(listener, Int32(SOL_SOCKET), SO_RCVBUF, 4_096)
    Self.set(listener, Int32(IPPROTO_TCP), TCP_MAXSEG, 536)
    var address = LoopbackPort.address(0)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listener = listener
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, size) == 0 && listen(listener, 16) == 0
          && getsockname(listener, $0, &size) == 0
      }
    }
    guard isBound else { throw SystemError("bind", "127.0.0.1") }
    port = UInt16(bigEndian: address.sin_port)
    startThread { [self] in
      while !Poll.wait(for: [listener, stop.descriptor]).contains(stop.descriptor) {
        let client = accept(listener, nil, nil)
        if client >= 0 { serve(client) }
      }
      Glibc.close(listener)
    }
  }

  /// Cuts all connections, and takes no more.
  public func close() { stop.cancel() }

  /// Changes how fast it is, and counts anew.
  public func set(_ pace: Pace) { state.withLock { $0 = State(pace: pace) } }

  /// How many bytes have passed since the pace was set.
  public var passed: (fromServer: Int, toServer: Int) {
    state.withLock { ($0.fromServer, $0.toServer) }
  }

  /// Waits until it passes nothing on any more; false when it still does after `seconds`.
  public func stands(within seconds: Double = 80) -> Bool { stalls.next(within: seconds) != nil }

  private static func set(_ socket: Int32, _ level: Int32, _ name: Int32, _ value: Int32) {
    var value = value
    setsockopt(socket, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
  }

  private func serve(_ client: Int32) {
    let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard LoopbackPort.connects(server, to: target) else {
      Glibc.close(server)
      Glibc.close(client)
      return
    }
    let ends = Ends(client, server)
    startThread { [self] in pass(from: client, to: server, isFromServer: false, ends) }
    startThread { [self] in pass(from: server, to: client, isFromServer: true, ends) }
  }

  /// Both ends of a connection, open while either direction is in use.
  private final class Ends: Sendable {
    private let sockets: [Int32]
    init(_ sockets: Int32...) { self.sockets = sockets }
    deinit { for socket in sockets { Glibc.close(socket) } }
  }

  private func pass(from: Int32, to: Int32, isFromServer: Bool, _ ends: Ends) {
    defer { withExtendedLifetime(ends) {} }
    while !Poll.wait(for: [from, stop.descriptor]).contains(stop.descriptor) {
      let pace = state.withLock { $0.pace }
      var buffer = [UInt8](repeating: 0, count: max(1, min(pace.bytes, 65_536)))
      let count = read(from, &buffer, room(buffer.count, isFromServer))
      if count < 0 { break }
      if count == 0 {
        // Its end, or no room: then it stands until the test is over.
        if room(1, isFromServer) == 0 {
          stalls.append(true)
          Poll.wait(for: [stop.descriptor])
        }
        break
      }
      state.withLock { state in
        if isFromServer { state.fromServer += count } else { state.toServer += count }
      }
      var sent = 0
      while sent < count {
        let written = buffer[sent..<count].withUnsafeBytes {
          send(to, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        if written <= 0 { return }
        sent += written
      }
      if pace.pause > 0 { Poll.wait(for: [stop.descriptor], until: .now + pace.pause) }
    }
    shutdown(to, Int32(SHUT_WR))
  }

  /// How many of `count` bytes may pass.
  private func room(_ count: Int, _ isFromServer: Bool) -> Int {
    state.withLock { state in
      max(0, min(count, state.pace.most - (isFromServer ? state.fromServer : state.toServer)))
    }
  }
}
