internal import Channel

/// Somebody to connect to.
struct SyncTarget: Sendable {
  enum Source: Sendable {
    /// The user said so.
    case given
    /// It is announced on the network.
    case discovered
    /// It was there once.
    case remembered
  }

  let source: Source
  /// Who it is said to be; nil when only the address is known.
  let device: String?
  let addresses: [Address]

  /// What tells targets apart.
  var key: String { device ?? addresses.map(\.description).joined(separator: " ") }

  /// How long connecting may take, in seconds.
  func patience(_ timeouts: ProtocolTimeouts) -> Double {
    switch source {
    case .given, .discovered: timeouts.connect + timeouts.handshake
    // Most often nobody is there any more.
    case .remembered: min(2, timeouts.connect)
    }
  }

  /// That nothing came of it.
  func failure(_ error: any Error) -> SyncFailure {
    SyncFailure(
      device: device, address: addresses.first?.description ?? "", error: error)
  }
}
