internal import Channel
internal import System

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

  /// How trying a target goes.
  struct Progress {
    var isUnderWay = false
    var tries = 0
    /// When to try again, after a reason that passes.
    var retry: Instant?
    var isOver = false
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
