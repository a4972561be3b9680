public import Channel
public import System

extension Listener {
  /// The next connection; throws `ChannelError.cancelled`, or an error when the deadline has passed.
  public func accept(
    deadline: Instant = .never, cancellation: CancellationToken? = nil
  ) throws -> Socket {
    let token = try cancellation ?? CancellationToken()
    while try wait(orFor: [], deadline: deadline, cancellation: token).isCalled {
      if let socket = try acceptWaiting(atMost: 1).first { return socket }
    }
    throw SystemError("accept")
  }
}
