internal import COpenSSL
internal import Glibc
public import System

/// An authenticated, encrypted connection to another device, carrying frames.
///
/// One thread at a time uses it; to stop that thread from another, cancel the token, and to make
/// it send, signal a `WakeUp`. The server speaks first: in TLS 1.3 a client whose certificate is
/// refused still completes its handshake, and learns it when it reads. So a client is accepted
/// when the first frame has arrived, not before.
public final class Connection {
  /// What the connection is for, and who is at the other end.
  public enum Purpose: Sendable, Equatable {
    /// Members of a notebook. The chain is the peer's, verified: its own certificate first, the
    /// root left out.
    case member(notebookID: String, peerChain: [[UInt8]])
    /// A joining device, by the code that this identity belongs to.
    case pairing(identity: [UInt8])
  }

  /// What it is for.
  public let purpose: Purpose
  /// The other end's address.
  public var peer: Address { socket.peer }
  /// See `Socket.isHomeless`.
  public var isHomeless: Bool { socket.isHomeless }
  /// Bytes of frames, headers included, since the beginning.
  public private(set) var bytesSent: UInt64 = 0
  /// Bytes of frames, headers included, since the beginning.
  public private(set) var bytesReceived: UInt64 = 0

  let socket: Socket
  let cancellation: CancellationToken?
  private let ssl: OpaquePointer
  private let handshake: Handshake
  private let lib: libssl
  private let crypto: libcrypto

  var reader = FrameReader()
  var outgoing: [UInt8] = []
  private var sent = 0
  /// The other end has said that it will send no more.
  private(set) var peerHasFinished = false
  private var failure: ChannelError?
  private var isClosed = false
  private let scratch = UnsafeMutableRawBufferPointer.allocate(
    byteCount: Connection.readSize, alignment: 16)

  private static let readSize = 64 * 1024
  private static let writeSize = 64 * 1024

  /// Does the handshake. On failure the peer is given the time to read why.
  init(
    _ socket: Socket, _ side: Handshake.Side, deadline: Instant, cancellation: CancellationToken?
  ) throws {
    let library = try OpenSSL.library()
    library.crypto.ERR_clear_error()
    socket.prepare()
    let handshake = Handshake(side, library)
    let ssl = try Connection.makeSSL(handshake)
    self.socket = socket
    self.cancellation = cancellation
    self.ssl = ssl
    self.handshake = handshake
    lib = library.ssl
    crypto = library.crypto
    do {
      try library.check("SSL_set_fd", Int(library.ssl.SSL_set_fd(ssl, socket.descriptor)))
      purpose = try Connection.shakeHands(
        ssl, handshake, socket, deadline: deadline, cancellation: cancellation)
    } catch {
      // There is no deinit before `purpose` is set.
      library.ssl.SSL_free(ssl)
      scratch.deallocate()
      if case ChannelError.timedOut = error { throw error }
      socket.finish(deadline: min(deadline, .now + 1), cancellation: cancellation)
      throw error
    }
  }

  deinit {
    lib.SSL_free(ssl)
    scratch.deallocate()
  }

  private static func makeSSL(_ handshake: Handshake) throws -> OpaquePointer {
    let library = handshake.library
    let context: TLSContext
    switch handshake.side {
    case .member(let credentials):
      context = try .member(.client, credentials, library)
    case .pairing:
      context = try .pairingClient(library)
    case .server:
      context = try .server.get()
    }
    let ssl = try library.check("SSL_new", library.ssl.SSL_new(context.pointer))
    handshake.attach(to: ssl)
    if case .member(let credentials) = handshake.side {
      var name = credentials.notebookID.utf8CString.map { $0 }
      let set = library.ssl.SSL_ctrl(
        ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name), &name)
      if set != 1 {
        library.ssl.SSL_free(ssl)
        throw library.failure("SSL_set_tlsext_host_name")
      }
    }
    return ssl
  }

  private static func shakeHands(
    _ ssl: OpaquePointer, _ handshake: Handshake, _ socket: Socket, deadline: Instant,
    cancellation: CancellationToken?
  ) throws -> Purpose {
    let lib = handshake.library.ssl
    defer { handshake.answered() }
    while true {
      handshake.library.crypto.ERR_clear_error()
      let result = handshake.isServer ? lib.SSL_accept(ssl) : lib.SSL_connect(ssl)
      if result == 1 { break }
      let status = lib.SSL_get_error(ssl, result)
      let events: Wait.Events
      switch status {
      case SSL_ERROR_WANT_READ: events = .reading
      case SSL_ERROR_WANT_WRITE: events = .writing
      default:
        throw handshake.error(
          handshake.isServer ? "SSL_accept" : "SSL_connect", status: status,
          isOver: false)
      }
      handshake.answered()
      _ = try Wait.until(
        socket.descriptor, events, deadline: deadline, phase: .handshake,
        cancellation: cancellation)
    }
    if let failure = handshake.failure { throw failure }
    return try checkedPurpose(ssl, handshake)
  }

  /// A last look at what was agreed: nothing here may rest on OpenSSL's choosing well.
  private static func checkedPurpose(_ ssl: OpaquePointer, _ handshake: Handshake) throws -> Purpose
  {
    let lib = handshake.library.ssl
    var name: UnsafePointer<UInt8>?
    var length: UInt32 = 0
    lib.SSL_get0_alpn_selected(ssl, &name, &length)
    let selected = Array(UnsafeBufferPointer(start: name, count: name == nil ? 0 : Int(length)))
    guard let chosen = handshake.chosen, selected == chosen.bytes else {
      throw ChannelError.protocolUnsupported
    }
    switch chosen {
    case .member:
      guard let credentials = handshake.credentials, !handshake.peerChain.isEmpty,
        lib.SSL_session_reused(ssl) == 0
      else { throw ChannelError.certificateRefused(.missing) }
      return .member(notebookID: credentials.notebookID, peerChain: handshake.peerChain)
    case .pairing:
      // OpenSSL counts a pre-shared key as resumption.
      if lib.SSL_session_reused(ssl) != 1 { throw ChannelError.wrongCode }
      return .pairing(identity: handshake.identity)
    }
  }

  // MARK: Moving bytes

  /// Whether everything given has gone to the kernel.
  var isFlushed: Bool { sent == outgoing.count }
  /// Bytes given and not yet gone.
  var pending: Int { outgoing.count - sent }

  /// Appends a frame to what is to be sent.
  func enqueue(_ frame: Frame) throws {
    if isFlushed {
      outgoing.removeAll(keepingCapacity: outgoing.capacity <= 4 * Connection.writeSize)
      sent = 0
    }
    try frame.encode(into: &outgoing)
  }

  enum Step: Equatable { case moved, waited, woken }

  /// One step: sends and receives what can be sent and received now, or else waits once. Receives
  /// while sending, so that two ends that both send do not wait for each other.
  func step(
    reading: Bool, deadline: Instant, phase: ChannelError.Phase, wakeup: WakeUp? = nil
  ) throws -> Step {
    if let failure { throw failure }
    var moved = false
    var events: Wait.Events = []
    if !isFlushed { moved = try writeSome(&events) }
    if reading && !peerHasFinished && !reader.isFull {
      if try readSome(&events) { moved = true }
    }
    if cancellation?.isCancelled == true { throw ChannelError.cancelled }
    if moved { return .moved }
    if deadline.hasPassed { throw ChannelError.timedOut(phase) }
    if events.isEmpty { return .waited }
    let outcome = try Wait.until(
      socket.descriptor, events, deadline: deadline, phase: phase, cancellation: cancellation,
      wakeup: wakeup)
    return outcome == .woken ? .woken : .waited
  }

  private func writeSome(_ events: inout Wait.Events) throws -> Bool {
    crypto.ERR_clear_error()
    let count = outgoing.withUnsafeBytes { bytes in
      lib.SSL_write(
        ssl, bytes.baseAddress?.advanced(by: sent), Int32(min(pending, Connection.writeSize)))
    }
    if count > 0 {
      sent += Int(count)
      bytesSent += UInt64(count)
      return true
    }
    try handle(count, "SSL_write", &events)
    return false
  }

  private func readSome(_ events: inout Wait.Events) throws -> Bool {
    var moved = false
    // Some records at a time: writing gets its turn, and the reader stays bounded.
    for _ in 0..<16 where !reader.isFull {
      crypto.ERR_clear_error()
      let count = lib.SSL_read(ssl, scratch.baseAddress, Int32(scratch.count))
      if count <= 0 {
        try handle(count, "SSL_read", &events)
        break
      }
      moved = true
      bytesReceived += UInt64(count)
      reader.append(UnsafeRawBufferPointer(rebasing: scratch[..<Int(count)]))
    }
    return moved
  }

  /// Turns a result that moved nothing into what to wait for, or throws.
  private func handle(_ result: Int32, _ call: String, _ events: inout Wait.Events) throws {
    let status = lib.SSL_get_error(ssl, result)
    switch status {
    case SSL_ERROR_WANT_READ: events.insert(.reading)
    case SSL_ERROR_WANT_WRITE: events.insert(.writing)
    case SSL_ERROR_ZERO_RETURN where call == "SSL_read": peerHasFinished = true
    default:
      // What is written to an end that said good-bye and went away comes back as zero return, too.
      let error = handshake.error(call, status: status, isOver: true)
      failure = error
      throw error
    }
  }

  /// Says that nothing more comes, and closes. Waits until the other end has done the same, at
  /// most until `deadline`, so that what was sent last arrives. Does nothing the second time.
  public func close(deadline: Instant = .now + 1) {
    if isClosed { return }
    isClosed = true
    if failure == nil {
      while true {
        crypto.ERR_clear_error()
        let result = lib.SSL_shutdown(ssl)
        guard result < 0, lib.SSL_get_error(ssl, result) == SSL_ERROR_WANT_WRITE,
          (try? Wait.until(
            socket.descriptor, .writing, deadline: deadline, phase: .sending,
            cancellation: cancellation)) != nil
        else { break }
      }
      failure = .closedByPeer
    }
    socket.finish(deadline: deadline, cancellation: cancellation)
  }
}
