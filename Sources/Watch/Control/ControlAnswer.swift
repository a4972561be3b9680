internal import FoundationEssentials
internal import Git
internal import Glibc
internal import History
internal import Membership
internal import Notebook
internal import Sync
internal import Synchronization
internal import System

/// The answer to one command: notes-control(7). An instance belongs to the command's thread.
struct ControlAnswer {
  private let server: ControlServer
  private let lines: ControlLines
  private let notebook: WatchedNotebook

  /// How long a sync takes if the command does not say, and at most, in seconds.
  private static let sync = (usual: 5.0, longest: 60.0)
  /// How long an invitation is open at most, in seconds: notes-security(7).
  private static let invitation = 600.0
  /// How often it is asked whether the user took an invitation back, in seconds.
  private static let cancellation = 0.5

  /// The command has gone.
  private struct Gone: Error {}

  init(_ server: ControlServer, _ lines: ControlLines, _ notebook: WatchedNotebook) {
    self.server = server
    self.lines = lines
    self.notebook = notebook
  }

  /// Reads what is asked and answers.
  func give(within patience: Double) {
    guard let line = lines.next(within: patience) else { return }
    do {
      guard let request = try? ReceivedJSON.decode(ControlRequest.self, from: line) else {
        throw SyncError.failed("the watcher does not know what was asked")
      }
      try answer(request)
      try send(ControlReply("done"))
    } catch is Gone {
      return
    } catch {
      var reply = ControlReply("error")
      reply.message = "\(error)"
      try? send(reply)
    }
  }

  private func answer(_ request: ControlRequest) throws {
    switch request.verb {
    case .peers: try sendPeers()
    case .follow: try follow()
    case .sync:
      try synchronise(
        until: .now + min(max(request.seconds ?? Self.sync.usual, 0), Self.sync.longest))
      try sendPeers()
    case .invite: try invite(request)
    case .edit: try edit(request)
    case .offer: try offer(request)
    case .pause: server.pause(true)
    case .resume: server.pause(false)
    }
  }

  // MARK: Who is connected

  private func sendPeers() throws {
    let head = head()
    try send(head)
    for (peer, state) in notebook.sessions.lasting {
      var reply = ControlReply("peer")
      reply.name = peer.name
      reply.device = peer.deviceID
      reply.role = peer.role.rawValue
      reply.address = peer.address
      reply.tip = state.tip?.hex
      reply.inSync = reply.tip == head.tip
      reply.editing = state.editing.map { String(hexadecimal: $0.bytes) }
      reply.sentBytes = state.sentBytes
      reply.receivedBytes = state.receivedBytes
      reply.sentVersions = state.sentVersions
      reply.receivedVersions = state.receivedVersions
      reply.refused = state.refusal?.rawValue
      try send(reply)
    }
  }

  private func head() -> ControlReply {
    var reply = ControlReply("watcher")
    reply.process = Int(getpid())
    reply.port = Int(server.port)
    reply.paused = server.isPaused
    reply.tip = notebook.sessions.shown?.tip?.hex
    reply.held = notebook.isHolding.load(ordering: .relaxed)
    return reply
  }

  private func follow() throws {
    try server.following { follower in
      try send(head())
      while server.wait(follower, for: lines, until: nil) {
        _ = follower.take()
        try send(ControlReply("changed"))
      }
      throw Gone()
    }
  }

  private func edit(_ request: ControlRequest) throws {
    let paths = (request.paths ?? []).prefix(ProtocolLimits.editedNotes)
      .compactMap { [UInt8](hexadecimal: $0) }.map { TreePath(bytes: $0) }
    notebook.ask(.edits(paths, isOpen: true))
    defer { notebook.ask(.edits(paths, isOpen: false)) }
    try server.following { follower in
      try send(head())
      while server.wait(follower, for: lines, until: nil) { _ = follower.take() }
      throw Gone()
    }
  }

  /// Saves, and waits until the devices that are connected show what this one shows.
  private func synchronise(until end: Instant) throws {
    try server.following { follower in
      notebook.ask(.lookAtEverything)
      let settled = BlockingQueue<Bool>()
      server.service.occurrences.put(.reachAll(settled))
      _ = settled.take(until: end)
      while Instant.now < end {
        let own = try notebook.currentState().state
        let others = notebook.sessions.lasting.map(\.state)
        if others.allSatisfy({ $0.tip == own.tip || $0.refusal != nil }) { return }
        guard server.wait(follower, for: lines, until: end) else { throw Gone() }
        _ = follower.take()
      }
    }
  }

  // MARK: Invitations

  private func invite(_ request: ControlRequest) throws {
    let service = server.service
    let role = try request.role.map { try Self.role($0) } ?? .writer
    let book = InvitationBook(stateFolder: notebook.context.folder + "/.git/notes")
    let invitation = try Invitation(
      role: role, lifetime: min(max(request.seconds ?? Self.invitation, 1), Self.invitation),
      avoiding: service.locators.union(book.openLocators()))
    try server.following { follower in
      try service.open(invitation, to: notebook.notebookID)
      defer { service.withdraw(invitation) }
      let held = try book.hold(invitation, for: request.name, deviceID: request.device)
      defer { if let state = invitation.end?.state { held.note(state) } }
      var reply = ControlReply("invitation")
      reply.code = invitation.code.description
      reply.port = Int(server.port)
      reply.role = role.rawValue
      reply.expires = invitation.expires
      try send(reply)
      var ending = ServiceEnding(invitation: invitation)
      while !ending.isReached {
        guard server.wait(follower, for: lines, until: .now + Self.cancellation) else {
          invitation.finish(.withdrawn)
          throw Gone()
        }
        if held.isCancelled { invitation.finish(.withdrawn) }
        for event in follower.take() {
          ending.note(event)
          Self.note(event, of: invitation, in: held)
          if let reply = Self.reply(to: event, of: invitation, ending) { try send(reply) }
        }
      }
    }
    var reply = ControlReply("ended")
    reply.message = invitation.end?.rawValue
    try send(reply)
  }

  /// Tells a device of an invitation to another notebook, in each session meanwhile.
  private func offer(_ request: ControlRequest) throws {
    guard let invitation = request.offer.flatMap(CarriedInvitation.init) else {
      throw SyncError.failed("an offer that is none")
    }
    try server.following { follower in
      notebook.sessions.offer(invitation)
      defer { notebook.sessions.withdraw(invitation) }
      var isTold = false
      repeat {
        _ = follower.take()
        if !isTold, notebook.sessions.has(invitation.guest) {
          isTold = true
          try send(ControlReply("told"))
        }
      } while server.wait(follower, for: lines, until: nil)
      throw Gone()
    }
  }

  private static func note(
    _ event: Event, of invitation: Invitation, in held: HeldInvitation
  ) {
    switch event {
    case .offered(invitation.locator, _): held.note(.pending)
    case .declined(invitation.locator, _): held.note(.declined)
    case .joined(invitation.locator, let device):
      held.note(.joined, name: device.name, deviceID: device.deviceID)
    default: break
    }
  }

  private static func role(_ name: String) throws -> Role {
    guard let role = Role(rawValue: name) else {
      throw SyncError.failed("there is no role '\(name)'")
    }
    return role
  }

  /// What is told of an invitation; nil for what does not concern it.
  private static func reply(
    to event: Event, of invitation: Invitation, _ ending: ServiceEnding
  ) -> ControlReply? {
    var reply: ControlReply
    switch event {
    case .wrongCode(invitation.locator, let address, let left):
      reply = ControlReply("wrong_code")
      reply.address = address
      reply.attemptsLeft = left
    case .offered(invitation.locator, let address):
      reply = ControlReply("offered")
      reply.address = address
    case .declined(invitation.locator, let address):
      reply = ControlReply("declined")
      reply.address = address
    case .joined(invitation.locator, let device):
      reply = ControlReply("joined")
      reply.name = device.name
      reply.device = device.deviceID
      reply.role = invitation.role.rawValue
      reply.address = device.address
    case .finished(let session) where ending.isGuest(session.peer.deviceID):
      reply = ControlReply("synchronised")
      reply.name = session.peer.name
      reply.device = session.peer.deviceID
      reply.role = session.peer.role.rawValue
      reply.address = session.peer.address
      reply.tip = session.tip?.hex
      reply.inSync = session.isInSync
      reply.sentVersions = session.sentVersions
      reply.receivedVersions = session.receivedVersions
      reply.sentBytes = session.sentBytes
      reply.receivedBytes = session.receivedBytes
    default: return nil
    }
    return reply
  }

  private func send(_ reply: ControlReply) throws {
    guard lines.send(Array(try JSONEncoder().encode(reply))) else { throw Gone() }
  }
}

extension InvitationEnd {
  /// What the book calls it; nil for one that was used, of which the book says more.
  fileprivate var state: InvitationRecord.State? {
    switch self {
    case .used: nil
    case .exhausted: .exhausted
    case .expired: .expired
    case .withdrawn: .cancelled
    }
  }
}
