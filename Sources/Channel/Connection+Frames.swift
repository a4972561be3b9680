public import System

extension Connection {
  /// How much is asked of `produce` in advance.
  private static let sendAhead = 256 * 1024

  /// Sends a frame; returns when the kernel has it. Throws `timedOut(.sending)` when `deadline` passes
  /// first.
  public func send(_ frame: Frame, deadline: Instant) throws {
    try enqueue(frame)
    while !isFlushed {
      _ = try step(reading: true, deadline: deadline, phase: .sending)
    }
  }

  /// The next frame. Throws `closedByPeer` when the other end has finished, `refusedByPeer` when it
  /// turns out that it refused us, `timedOut(.receiving)` when `deadline` passes first.
  public func receive(deadline: Instant) throws -> Frame {
    while true {
      if let frame = try reader.next() { return frame }
      if peerHasFinished { throw ended() }
      _ = try step(reading: true, deadline: deadline, phase: .receiving)
    }
  }

  /// Sends and receives at the same time, for as long as the moment that `deadline` names has not
  /// come; it is asked again whenever something happened, and may name another one then.
  ///
  /// `produce` is asked for the next frame while there is room; nil means that there is nothing
  /// now, and it is asked again after every received frame and every signal of `wakeup`. `consume`
  /// is given each frame.
  ///
  /// Throws `closedByPeer` or `connectionLost` when the other side has ended, and whatever the
  /// closures throw.
  public func exchange(
    until deadline: () -> Instant, wakeup: WakeUp, produce: () throws -> Frame?,
    consume: (Frame) throws -> Void
  ) throws {
    while true {
      while let frame = try reader.next() {
        try consume(frame)
        // Let what was asked for go out before more is taken in.
        if pending < Connection.sendAhead, let answer = try produce() { try enqueue(answer) }
      }
      while pending < Connection.sendAhead, let frame = try produce() { try enqueue(frame) }
      if peerHasFinished { throw ended() }
      let end = deadline()
      if end.hasPassed { return }
      do {
        _ = try step(reading: true, deadline: end, phase: .receiving, wakeup: wakeup)
      } catch ChannelError.timedOut(.receiving) {
        return
      }
    }
  }

  /// What a clean end of the other side is worth: in the middle of a frame it is a loss.
  private func ended() -> ChannelError { reader.count == 0 ? .closedByPeer : .connectionLost }
}
