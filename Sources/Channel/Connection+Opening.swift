internal import Glibc
public import System

extension Connection {
  /// Connects to a device as a member. The addresses are tried in turn, and share the time until
  /// `deadline`: anybody can announce anything, so that somebody answers says nothing before a
  /// member does.
  public static func connect(
    to addresses: [Address], as credentials: MemberCredentials, deadline: Instant,
    cancellation: CancellationToken? = nil
  ) throws -> Connection {
    try connect(
      to: addresses, side: .member(credentials), deadline: deadline, cancellation: cancellation)
  }

  /// Connects to an inviting device by a code. A wrong code counts as one try there, whatever the
  /// number of addresses.
  public static func connect(
    to addresses: [Address], pairing credentials: PairingCredentials, deadline: Instant,
    cancellation: CancellationToken? = nil
  ) throws -> Connection {
    try connect(
      to: addresses, side: .pairing(credentials), deadline: deadline, cancellation: cancellation)
  }

  /// Takes an accepted socket through the handshake. What the client asks for decides between the
  /// notebooks and the invitations of `offer`. Nothing is made ready for a client that says nothing.
  public static func accept(
    _ socket: Socket, offering offer: ServerOffer, deadline: Instant,
    cancellation: CancellationToken? = nil
  ) throws -> Connection {
    _ = try Wait.until(
      socket.descriptor, .reading, deadline: deadline, phase: .handshake, cancellation: cancellation
    )
    return try Connection(socket, .server(offer), deadline: deadline, cancellation: cancellation)
  }

  private static func connect(
    to addresses: [Address], side: Handshake.Side, deadline: Instant,
    cancellation: CancellationToken?
  ) throws -> Connection {
    var failure = ChannelError.invalidAddress("")
    for (index, address) in addresses.enumerated() {
      let share = deadline.share(of: addresses.count - index)
      if address.port == 0 {
        failure = .invalidAddress(address.description)
        continue
      }
      do {
        return try connect(to: address, side: side, deadline: share, cancellation: cancellation)
      } catch let error as ChannelError {
        if !Connection.isWorthAnotherAddress(error, side) { throw error }
        // Who was refused tells more than that nobody was there.
        if !failure.isRefusal || error.isRefusal { failure = error }
      }
    }
    throw failure
  }

  private static func connect(
    to address: Address, side: Handshake.Side, deadline: Instant,
    cancellation: CancellationToken?
  ) throws -> Connection {
    let resolved = try SocketAddress.resolve(
      address, deadline: deadline, cancellation: cancellation)
    var failure = ChannelError.hostUnknown(host: address.host, reason: "no address")
    for (index, target) in resolved.enumerated() {
      let share = deadline.share(of: resolved.count - index)
      do {
        let socket = try Socket.connect(to: target, deadline: share, cancellation: cancellation)
        return try Connection(socket, side, deadline: share, cancellation: cancellation)
      } catch let error as ChannelError {
        if !Connection.isWorthAnotherAddress(error, side) { throw error }
        // Who was refused tells more than that nobody was there.
        if !failure.isRefusal || error.isRefusal { failure = error }
      }
    }
    throw failure
  }

  /// Whether another address may be tried: after any failure but one of our own, where a member is
  /// looked for. Where a pairing is, one who answered in our protocol has answered; and one that
  /// broke off may have cost a try already.
  private static func isWorthAnotherAddress(_ error: ChannelError, _ side: Handshake.Side) -> Bool {
    switch (error, side) {
    case (.unreachable, _), (.connectionRefused, _), (.hostUnknown, _), (.timedOut, _),
      (.notTLS, _), (.tlsVersionUnsupported, _), (.protocolUnsupported, _):
      true
    case (.cancelled, _), (.system, _), (.libraryMissing, _), (.verificationFailed, _): false
    case (_, .member): true
    default: false
    }
  }
}

extension ChannelError {
  /// Whether somebody answered, and is not whom we want or does not want us.
  fileprivate var isRefusal: Bool {
    switch self {
    case .certificateRefused, .refusedByPeer, .notebookUnknown, .peerFailed, .tls: true
    default: false
    }
  }
}
