internal import Channel
internal import Sync

/// Calls somebody when a token is cancelled: for threads that wait for something else than a
/// connection.
final class Cancellation: Sendable {
  private let ended: CancellationToken

  init(_ token: CancellationToken, _ body: @escaping @Sendable () -> Void) throws {
    ended = try CancellationToken()
    try startThread { [ended] in
      if token.wait(orUntil: ended) { body() }
    }
  }

  /// Lets the thread end without calling anybody.
  func stop() { ended.cancel() }
}
