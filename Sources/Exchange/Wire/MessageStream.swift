internal import Channel
internal import Git
internal import Membership
internal import Notebook
// Callers of this module also use instants and tokens.
@_exported public import System
internal import WorkTree

struct MessageStream {
  let connection: Connection
  var timeouts: ProtocolTimeouts

  func send(_ message: some Message) throws { try send(Frame(message)) }

  /// Sends a last message before an error: if the peer has disconnected, the message is lost, and
  /// the error is thrown anyway.
  func sendIfHeard(_ message: some Message) { try? send(message) }

  func send(_ frame: Frame) throws {
    try translated { try connection.send(frame, deadline: .after(seconds: timeouts.message)) }
  }

  /// The next message, which must be of this kind. Unknown types are ignored, and `working`
  /// restarts the wait, up to the limit for a busy peer.
  func receive<M: Message>(_ kind: M.Type) throws -> M { try receive().frame.decode(kind) }

  func receive() throws -> (frame: Frame, type: MessageType) {
    let patience = Instant.after(seconds: timeouts.patience)
    while true {
      let deadline = min(patience, .after(seconds: timeouts.message))
      let frame = try translated { try connection.receive(deadline: deadline) }
      if let type = try known(frame), type != .working { return (frame, type) }
    }
  }

  /// Runs `body`, which may take long, on a thread of its own. In the meantime, tells the peer that this side
  /// is busy. `body` runs to its end even if that message cannot be sent.
  func working<Value>(
    onTick: () -> Void = {}, _ body: @escaping () throws -> Value
  ) throws -> Value {
    let isDone = Latch()
    var result: Result<Value, any Error>?
    // Only the other thread uses these until it has finished. Afterwards it has no reference to them.
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

  /// Sends and receives at the same time. After each event, waits for as many seconds as `patience` returns.
  /// Frames of unknown types count only as a sign of life.
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

  /// Ends the session: sends the reason, and closes. It is not an error if the peer has disconnected.
  func close(_ reason: ByeReason, _ message: String? = nil) {
    connection.holdBack()
    // A last message: a peer that has disconnected does not get it.
    if let frame = try? Frame(ByeMessage(reason: reason, message: message?.printable)) {
      // If this cannot be sent, it is not an error.
      try? connection.send(frame, deadline: .after(seconds: 1))
    }
    connection.close()
  }

  /// Ends a conversation that failed or that this side ends. Tells the peer the reason if it concerns the peer.
  func close(after error: any Error) {
    switch error {
    case SyncError.ended(let reason): close(reason)
    case let error as SyncError: close(error.byeReason, error.description)
    case let error as PackError: close(after: SyncError.packRefused(error))
    case NotebookError.massDeletion(let deleted, let total):
      close(.failed, "its user must first allow the deletion of \(deleted) of \(total) notes there")
    case let error as MembershipError where error.isAboutThePeer: close(.failed, "\(error)")
    case GitError.missing(let id):
      close(.failed, "its history lacks object \(id), which it asks other devices for")
    default: close(.failed)
    }
  }

  /// Translates a connection's error for a session. An error of the handshake is kept: a refusal becomes
  /// known only at the first message.
  private func translated<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch ChannelError.timedOut {
      throw SyncError.timedOut("nothing arrived for \(Int(timeouts.message)) s")
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
