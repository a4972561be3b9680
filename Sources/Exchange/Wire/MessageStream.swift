internal import Channel
internal import Git
internal import Membership
internal import Notebook
// Callers of this module name instants and tokens, too.
@_exported public import System
internal import WorkTree

struct MessageStream {
  let connection: Connection
  var timeouts: ProtocolTimeouts

  func send(_ message: some Message) throws { try send(Frame(message)) }

  /// Sends a last word: whoever is gone hears none, and what is told after that is why it was said.
  func sendIfHeard(_ message: some Message) { try? send(message) }

  func send(_ frame: Frame) throws {
    try translated { try connection.send(frame, deadline: .after(seconds: timeouts.message)) }
  }

  /// The next message, which must be of this kind. Types that are not known are ignored, and
  /// `working` begins the wait anew, up to the peer's patience.
  func receive<M: Message>(_ kind: M.Type) throws -> M { try receive().frame.decode(kind) }

  func receive() throws -> (frame: Frame, type: MessageType) {
    let patience = Instant.after(seconds: timeouts.patience)
    while true {
      let deadline = min(patience, .after(seconds: timeouts.message))
      let frame = try translated { try connection.receive(deadline: deadline) }
      if let type = try known(frame), type != .working { return (frame, type) }
    }
  }

  /// Does what may take long, on a thread of its own, and tells the peer meanwhile that this side is
  /// busy. It runs to its end even where the peer cannot be told.
  func working<Value>(
    onTick: () -> Void = {}, _ body: @escaping () throws -> Value
  ) throws -> Value {
    let isDone = Latch()
    var result: Result<Value, any Error>?
    // The other thread alone touches these until it is done, and it leaves nothing of them behind.
    nonisolated(unsafe) var work: (() -> Void)? = { result = Result { try body() } }
    try startThread {
      work?()
      work = nil
      isDone.open()
    }
    var failure: (any Error)?
    while !isDone.wait(until: .now + timeouts.working) {
      guard failure == nil else { continue }
      onTick()
      do { try send(WorkingMessage()) } catch { failure = error }
    }
    if let failure { throw failure }
    guard let result else { throw SyncError.failed("the work did not run") }
    return try result.get()
  }

  /// The frame's type; nil for one to ignore. Throws `SyncError.peerEnded` for a `bye`.
  func known(_ frame: Frame) throws -> MessageType? {
    guard let type = MessageType(rawValue: frame.type) else { return nil }
    if type == .bye {
      let bye = try frame.decode(ByeMessage.self)
      throw SyncError.peerEnded(bye.reason, (bye.message ?? "").printable)
    }
    return type
  }

  /// Sends and receives at the same time, for some seconds: as many as `patience` says whenever
  /// something happened. Frames of types that are not known count as a sign of life only.
  func exchange(
    patience: () -> Double, wakeup: WakeUp, produce: () throws -> Frame?,
    consume: (Frame, MessageType?) throws -> Void
  ) throws {
    try translated {
      try connection.exchange(
        until: { .after(seconds: patience()) }, wakeup: wakeup, produce: produce
      ) { frame in try consume(frame, known(frame)) }
    }
  }

  /// Ends the session: says why, and closes. The peer may be gone; that is no error any more.
  func close(_ reason: ByeReason, _ message: String? = nil) {
    connection.holdBack()
    // A last word: whoever is gone hears none.
    if let frame = try? Frame(ByeMessage(reason: reason, message: message?.printable)) {
      // Nor is that an error.
      try? connection.send(frame, deadline: .after(seconds: 1))
    }
    connection.close()
  }

  /// Ends a conversation that failed or was ended here: tells the peer why, as far as that is its
  /// business.
  func close(after error: any Error) {
    switch error {
    case SyncError.ended(let reason): close(reason)
    case let error as SyncError: close(error.byeReason, error.description)
    case let error as PackError: close(after: SyncError.packRefused(error))
    case NotebookError.massDeletion(let deleted, let total):
      close(.failed, "its user has to allow first that \(deleted) of \(total) notes go there")
    case let error as MembershipError where error.isAboutThePeer: close(.failed, "\(error)")
    case GitError.missing(let id):
      close(.failed, "its history lacks object \(id), which it asks other devices for")
    default: close(.failed)
    }
  }

  /// The meaning of a connection's error for a session. An error of the handshake keeps its name: a refusal
  /// is known only at the first message.
  private func translated<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch ChannelError.timedOut {
      throw SyncError.timedOut("nothing came for \(Int(timeouts.message)) s")
    } catch ChannelError.closedByPeer {
      throw SyncError.interrupted("the peer closed the connection")
    } catch ChannelError.connectionLost {
      throw SyncError.interrupted("the connection broke off")
    } catch ChannelError.frameTooLarge {
      throw SyncError.overLimit("bytes in a frame")
    } catch ChannelError.frameEmpty {
      throw SyncError.protocolBroken("an empty frame")
    } catch ChannelError.cancelled {
      throw SyncError.stopped
    }
  }
}
