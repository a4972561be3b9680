public import Channel
internal import Git
internal import Membership
internal import Notebook

/// One conversation between two members of a notebook: notes-protocol(7), SESSION.
///
///     hello ↔ hello            who, what heads
///     membership ↔ membership  if the digests differ
///     want ↔ want              ┐
///     pack ↔ pack              ├ a round; again while somebody writes meanwhile
///     applied ↔ applied        ┘
///     bye ↔ bye
///
/// Where both let it, the session stands instead: see `StandingConversation`.
public enum Session {
  /// Holds a session on a connection that has just been authenticated, to its end, on this thread.
  ///
  /// - Parameter onEvent: is told what happens; called on this thread.
  /// - Returns: what was done.
  /// - Throws: `SyncError`, or what the notebook or the channel throws; the peer has been told why,
  ///   and what was not applied is forgotten.
  public static func run(
    on connection: Connection, as context: SessionContext,
    options: SessionOptions = SessionOptions(), onEvent: (Event) -> Void = { _ in }
  ) throws -> SessionResult {
    let stream = MessageStream(connection: connection, timeouts: context.timeouts)
    do {
      var conversation = try Conversation(stream, context, options)
      let notebook = context.membership.notebookID
      let result = try conversation.run { onEvent($0.happening(in: notebook)) }
      stream.close(.done)
      return result
    } catch let end as SessionEnd {
      stream.close(end.reason)
      throw SyncError.ended(end.reason)
    } catch {
      stream.close(after: error)
      if case GitError.unfit = error {
        // Somebody made it while the session began. The next one looks at everything.
        try? Notebook.open(at: context.folder).forgetPlainForm()
      }
      if let error = error as? PackError { throw SyncError.packRefused(error) }
      throw error
    }
  }

  /// Ends a connection that has just been authenticated without a session, and tells the peer why.
  public static func refuse(
    _ connection: Connection, as context: SessionContext, because error: SyncError
  ) {
    MessageStream(connection: connection, timeouts: context.timeouts).close(after: error)
  }
}

/// The state of a session.
struct Conversation {
  let stream: MessageStream
  let context: SessionContext
  let options: SessionOptions
  let notebook: Notebook
  /// The peer by its certificate, and its role by what is known now.
  var peer: PeerIdentity
  /// What this side shows, and the peer's, as of the last `hello` or `applied`.
  var own: Standing
  var theirs: Standing
  /// The version of the merge rules that the peer follows, if it says so.
  var peerRules: Int?
  /// Which ways versions go.
  var gives = false
  var takes = false
  /// Whether the peer lets the session stand.
  var peerStands = false
  var outcome = Outcome()
  /// What stands in the place of a version made with git since the session began.
  private var replaced: PlainVersion?

  /// What a side shows.
  struct Standing: Equatable {
    var tip: ObjectID?
    var heads: [ObjectID]

    init(tip: ObjectID?, heads: [ObjectID]) {
      self.tip = tip
      self.heads = heads
    }

    init(_ state: NotebookState) {
      self.init(tip: state.tip, heads: state.heads.sorted())
    }
  }

  /// What was done so far.
  struct Outcome {
    var sentVersions = 0
    var receivedVersions = 0
    var joins: [JoinResult] = []
  }

  init(_ stream: MessageStream, _ context: SessionContext, _ options: SessionOptions) throws {
    self.stream = stream
    self.context = context
    self.options = options
    guard case .member(_, let chain) = stream.connection.purpose else {
      throw SyncError.protocolBroken("a session needs a member's connection")
    }
    let member = try context.membership.verify(chain: chain)
    peer = PeerIdentity(
      name: member.name, deviceID: member.deviceID, role: member.role,
      address: stream.connection.peer.description)
    notebook = try Notebook.open(at: context.folder)
    if let keeper = options.keeper {
      own = Standing(try keeper.currentState())
    } else {
      let notebook = notebook
      replaced = try stream.working {
        _ = try notebook.save(allowsMassDeletion: options.allowsMassDeletion)
        return try notebook.bringToPlainForm()
      }
      own = try notebook.standing()
    }
    theirs = Standing(tip: nil, heads: [])
  }

  mutating func run(_ onEvent: (Event) -> Void) throws -> SessionResult {
    try greet()
    onEvent(.peer(peer))
    if let replaced { onEvent(.replaced(replaced)) }
    if let keeper = options.keeper, peerStands {
      let link = try SessionLink(peer: peer, isOpenedHere: options.isOpenedHere)
      try withoutActuallyEscaping(onEvent) { report in
        try StandingConversation(self, keeper, link, report).run()
      }
    }
    if (gives || takes) && Set(own.heads) != Set(theirs.heads) {
      for round in 1...ProtocolLimits.rounds {
        let isRefused = try exchangeVersions(onEvent)
        if isRefused || !(gives && takes) || Set(own.heads) == Set(theirs.heads) { break }
        if round == ProtocolLimits.rounds { break }
      }
    }
    try rememberPeer()
    let difference = try compareTips(onEvent)
    var result = SessionResult(peer: peer, tip: own.tip, peerTip: theirs.tip)
    result.sentVersions = outcome.sentVersions
    result.receivedVersions = outcome.receivedVersions
    result.sentBytes = Int(clamping: stream.connection.bytesSent)
    result.receivedBytes = Int(clamping: stream.connection.bytesReceived)
    result.joins = outcome.joins
    result.conflicts = try notebook.state().conflictCount
    result.tipDifference = difference
    return result
  }

  /// Notes what the peer has, for the next session to start from.
  func rememberPeer() throws {
    let repository = notebook.repository
    let branch = try repository.head().branch ?? "HEAD"
    let known = try ([theirs.tip] + (theirs.heads.count == 1 ? theirs.heads : [])).compactMap { $0 }
      .first { try repository.contains($0) }
    guard let known else { return }
    let name = Negotiation.remoteReference(of: peer.deviceID, branch: branch)
    if try repository.reference(name) == known { return }
    try notebook.note(reference: name, at: known, message: "notes: sync")
  }
}

extension Notebook {
  /// What this device shows, as a side states it.
  func standing() throws -> Conversation.Standing {
    Conversation.Standing(try state())
  }
}
