public import System

extension Connection {
  /// Connects to a device as a member. Tries the addresses in turn; they share the time until `deadline`.
  /// Anybody can announce any address, so an answer means nothing until a member has authenticated.
  public static func connect(
    to addresses: [Address], as credentials: MemberCredentials, deadline: Instant,
    cancellation: CancellationToken? = nil
  ) throws -> Connection {
    try connect(
      to: addresses, side: .member(credentials), deadline: deadline, cancellation: cancellation)
  }

  /// Connects to an inviting device with a code. A wrong code counts as one attempt there, whatever
  /// the number of addresses.
  public static func connect(
    to addresses: [Address], pairing credentials: PairingCredentials, deadline: Instant,
    cancellation: CancellationToken? = nil
  ) throws -> Connection {
    try connect(
      to: addresses, side: .pairing(credentials), deadline: deadline, cancellation: cancellation)
  }

  /// Performs the handshake on an accepted socket. The client's request chooses a notebook or an invitation of
  /// `offer`. A client that sends nothing causes no work.
  public static func accept(
    _ socket: Socket, offering offer: ServerOffer, deadline: Instant,
    cancellation: CancellationToken? = nil
  ) throws -> Connection {
    try Wait.until(
      socket.descriptor, .reading, deadline: deadline, phase: .handshake, cancellation: cancellation
    )
    return try Connection(socket, .server(offer), deadline: deadline, cancellation: cancellation)
  }

  private static func connect(
    to addresses: [Address], side: Handshake.Side, deadline: Instant,
    cancellation: CancellationToken?
  ) throws -> Connection {
    try tryEach(addresses, side, deadline, orElse: .invalidAddress("")) { address, deadline in
      if address.port == 0 { throw ChannelError.invalidAddress(address.description) }
      let resolved = try SocketAddress.resolve(
        address, deadline: deadline, cancellation: cancellation)
      let unknown = ChannelError.hostUnknown(host: address.host, reason: "no address")
      return try tryEach(resolved, side, deadline, orElse: unknown) { target, deadline in
        let socket = try Socket.connect(to: target, deadline: deadline, cancellation: cancellation)
        return try Connection(socket, side, deadline: deadline, cancellation: cancellation)
      }
    }
  }

  private static func tryEach<Target>(
    _ targets: [Target], _ side: Handshake.Side, _ deadline: Instant, orElse failure: ChannelError,
    _ attempt: (Target, Instant) throws -> Connection
  ) throws -> Connection {
    var failure = failure
    for (index, target) in targets.enumerated() {
      do {
        return try attempt(target, deadline.share(of: targets.count - index))
      } catch let error as ChannelError {
        if !isWorthAnotherAddress(error, side) { throw error }
        // A refusal says more than an address at which no device answered.
        if !failure.isRefusal || error.isRefusal { failure = error }
      }
    }
    throw failure
  }

  /// Whether to try another address after this error. When connecting to a member: after every
  /// error except failures on this side. When pairing: not if the other side has answered with the
  /// protocol, or the connection was interrupted, as that may have used an attempt.
  private static func isWorthAnotherAddress(_ error: ChannelError, _ side: Handshake.Side) -> Bool {
    switch (error, side) {
    case (.unreachable, _), (.connectionRefused, _), (.hostUnknown, _), (.timedOut, _),
      (.notTLS, _), (.tlsVersionUnsupported, _), (.protocolUnsupported, _), (.invalidAddress, _):
      true
    case (.cancelled, _), (.system, _), (.libraryMissing, _), (.verificationFailed, _): false
    case (_, .member): true
    default: false
    }
  }
}

extension ChannelError {
  /// Whether a device answered, but is the wrong one, refused this device, or failed in the handshake.
  fileprivate var isRefusal: Bool {
    switch self {
    case .certificateRefused, .refusedByPeer, .notebookUnknown, .peerFailed, .tls: true
    default: false
    }
  }
}

extension Instant {
  /// The deadline of this attempt if `count` attempts share the remaining time.
  fileprivate func share(of count: Int) -> Instant {
    self == .never || count <= 1 ? self : .now + secondsLeft / Double(count)
  }
}
