internal import COpenSSL
internal import Glibc
public import System

/// An authenticated, encrypted connection to another device for the exchange of frames.
///
/// One thread at a time uses it. Another thread can stop it by cancelling the token, and can make
/// it send by signalling a `WakeUp`. The server sends first: in TLS 1.3 a client whose certificate
/// is refused still completes its handshake, and notices the refusal when it reads. So a client is
/// accepted only after the first frame has arrived.
public final class Connection {
  /// The purpose of the connection, and the device on the other side.
  public enum Purpose: Sendable, Equatable {
    /// Members of a notebook. The chain is the peer's, verified: its own certificate first, without
    /// the root.
    case member(notebookID: String, peerChain: [[UInt8]])
    /// A joining device that has the code of this identity.
    case pairing(identity: [UInt8])
  }

  /// The purpose of the connection.
  public let purpose: Purpose
  /// The other side's address.
  public var peer: Address { socket.peer }
  /// Whether this machine no longer has the connection's local address: see `Socket.isHomeless`.
  public var isHomeless: Bool { socket.isHomeless }
  /// The bytes of frames sent, including headers.
  public private(set) var bytesSent: UInt64 = 0
  /// The bytes of frames received, including headers.
  public private(set) var bytesReceived: UInt64 = 0

  let socket: Socket
  private let cancellation: CancellationToken?
  private let handshake: Handshake
  private var ssl: OpaquePointer { handshake.ssl }
  private var library: OpenSSL { handshake.library }

  private var reader = FrameReader()
  var outgoing: [UInt8] = []
  private var sent = 0
  private var peerHasFinished = false
  private var failure: ChannelError?
  private var isClosed = false
  private var received = [UInt8](repeating: 0, count: Connection.readSize)
  // Whether something was sent since the last receipt: then the next receipt completes a round
  // trip.
  private var awaitsAnswer = false

  private static let readSize = 64 * 1024
  private static let writeSize = 64 * 1024
  /// How many bytes to request from `produce` in advance.
  private static let sendAhead = 256 * 1024

  /// Performs the handshake. After a failure the peer gets time to read the reason.
  init(
    _ socket: Socket, _ side: Handshake.Side, deadline: Instant, cancellation: CancellationToken?
  ) throws {
    let library = try OpenSSL.library()
    library.crypto.ERR_clear_error()
    socket.prepare()
    self.socket = socket
    self.cancellation = cancellation
    handshake = try Handshake(side, library)
    do {
      purpose = try handshake.run(on: socket, deadline: deadline, cancellation: cancellation)
      Counter.roundTrips.add()
    } catch {
      if case ChannelError.timedOut = error { throw error }
      socket.finish(deadline: min(deadline, .now + 1), cancellation: cancellation)
      throw error
    }
  }

  /// Sends a frame; returns when the kernel has all of it. Throws `timedOut(.sending)` if `deadline` passes
  /// before.
  public func send(_ frame: Frame, deadline: Instant) throws {
    try enqueue(frame)
    while !isFlushed { try step(deadline: deadline, phase: .sending) }
  }

  /// Holds back small packets until the connection is closed, which then sends all at once.
  public func holdBack() { socket.holdBack() }

  /// The next frame. Throws `closedByPeer` if the other side has closed, `refusedByPeer` if it has
  /// refused this device, `timedOut(.receiving)` if `deadline` passes first.
  public func receive(deadline: Instant) throws -> Frame {
    while true {
      if let frame = try reader.next() { return frame }
      if peerHasFinished { throw ended() }
      try step(deadline: deadline, phase: .receiving)
    }
  }

  /// Sends and receives at the same time, until the time that `deadline` returns. `deadline` is called again
  /// after each event and may return another time.
  ///
  /// `produce` returns the next frame to send, and is called while there is space. If it returns nil, it is
  /// called again after every received frame and every signal of `wakeup`. `consume` is called with each
  /// received frame.
  ///
  /// Throws `closedByPeer` or `connectionLost` when the other side has ended, and the closures' errors.
  public func exchange(
    until deadline: () -> Instant, wakeup: WakeUp, produce: () throws -> Frame?,
    consume: (Frame) throws -> Void
  ) throws {
    while true {
      while let frame = try reader.next() {
        try consume(frame)
        // Send waiting answers before receiving more.
        if pending < Connection.sendAhead, let answer = try produce() { try enqueue(answer) }
      }
      while pending < Connection.sendAhead, let frame = try produce() { try enqueue(frame) }
      if peerHasFinished { throw ended() }
      let end = deadline()
      if end.hasPassed { return }
      do {
        try step(deadline: end, phase: .receiving, wakeup: wakeup)
      } catch ChannelError.timedOut(.receiving) {
        return
      }
    }
  }

  /// The error for a clean end of the stream: in the middle of a frame the connection was lost.
  private func ended() -> ChannelError { reader.count == 0 ? .closedByPeer : .connectionLost }

  /// Whether the kernel has all bytes that were sent.
  var isFlushed: Bool { pending == 0 }
  var pending: Int { outgoing.count - sent }

  private func enqueue(_ frame: Frame) throws {
    if isFlushed {
      outgoing.removeAll(keepingCapacity: outgoing.capacity <= 4 * Connection.writeSize)
      sent = 0
    } else if sent > Connection.sendAhead {
      // During a long stream the buffer may never become empty.
      outgoing.removeFirst(sent)
      sent = 0
    }
    try frame.encode(into: &outgoing)
  }

  /// One step: sends and receives everything possible now, or else waits once. Receives while
  /// sending, so that two sides that both send do not block each other.
  func step(deadline: Instant, phase: ChannelError.Phase, wakeup: WakeUp? = nil) throws {
    if let failure { throw failure }
    var moved = false
    var events: Wait.Events = []
    if !isFlushed { moved = try writeSome(&events) }
    if !peerHasFinished, !reader.isFull, try readSome(&events) { moved = true }
    if cancellation?.isCancelled == true { throw ChannelError.cancelled }
    if moved { return }
    if deadline.hasPassed { throw ChannelError.timedOut(phase) }
    if events.isEmpty { return }
    try Wait.until(
      socket.descriptor, events, deadline: deadline, phase: phase, cancellation: cancellation,
      wakeup: wakeup)
  }

  private func writeSome(_ events: inout Wait.Events) throws -> Bool {
    library.crypto.ERR_clear_error()
    let count = outgoing.withUnsafeBytes { bytes in
      library.ssl.SSL_write(
        ssl, bytes.baseAddress?.advanced(by: sent), Int32(min(pending, Connection.writeSize)))
    }
    if count > 0 {
      sent += Int(count)
      awaitsAnswer = true
      bytesSent += UInt64(count)
      return true
    }
    try handle(count, "SSL_write", &events)
    return false
  }

  private func readSome(_ events: inout Wait.Events) throws -> Bool {
    var moved = false
    // Reads only some records at a time, so that writing gets its turn and the reader's buffer
    // stays small.
    for _ in 0..<16 where !reader.isFull {
      library.crypto.ERR_clear_error()
      let count = library.ssl.SSL_read(ssl, &received, Int32(received.count))
      if count <= 0 {
        try handle(count, "SSL_read", &events)
        break
      }
      moved = true
      if awaitsAnswer { Counter.roundTrips.add() }
      awaitsAnswer = false
      bytesReceived += UInt64(count)
      reader.append(received[..<Int(count)])
    }
    return moved
  }

  private func handle(_ result: Int32, _ call: String, _ events: inout Wait.Events) throws {
    let status = library.ssl.SSL_get_error(ssl, result)
    if let awaited = Wait.Events(status: status) {
      events.formUnion(awaited)
    } else if status == SSL_ERROR_ZERO_RETURN, call == "SSL_read" {
      peerHasFinished = true
    } else {
      // Writing to a side that has closed and disconnected also reports zero return.
      let error = handshake.error(call, status: status, isOver: true)
      failure = error
      throw error
    }
  }

  /// Sends the close message, and closes. Waits until the other side has done the same, at most
  /// until `deadline`, so that the last bytes arrive. Does nothing when called again.
  public func close(deadline: Instant = .now + 1) {
    if isClosed { return }
    isClosed = true
    while failure == nil {
      library.crypto.ERR_clear_error()
      let result = library.ssl.SSL_shutdown(ssl)
      if result < 0, library.ssl.SSL_get_error(ssl, result) == SSL_ERROR_WANT_WRITE,
        // A peer that gets no close message finds the connection closed.
        (try? Wait.until(
          socket.descriptor, .writing, deadline: deadline, phase: .sending,
          cancellation: cancellation)) != nil
      {
        continue
      }
      failure = .closedByPeer
    }
    socket.finish(deadline: deadline, cancellation: cancellation)
  }
}
