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

  /// Takes an accepted socket through the handshake. The client's request decides between the
  /// notebooks and the invitations of `offer`. Nothing is made ready for a client that says nothing.
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
        // A refusal tells more than an address at which no device answered.
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
      (.notTLS, _), (.tlsVersionUnsupported, _), (.protocolUnsupported, _), (.invalidAddress, _):
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

extension Instant {
  /// The end of this attempt where `count` attempts share what is left.
  fileprivate func share(of count: Int) -> Instant {
    self == .never || count <= 1 ? self : .now + secondsLeft / Double(count)
  }
}
