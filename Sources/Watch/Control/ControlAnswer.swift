internal import Exchange
internal import Git
internal import Glibc
internal import History
internal import Membership
internal import Notebook
internal import Synchronization
internal import System

/// The answer to one command: notes-control(7). An instance belongs to the command's thread.
struct ControlAnswer {
  let server: ControlServer
  let lines: ControlLines
  let notebook: WatchedNotebook

  /// How long a requested sync may take, in seconds.
  private static let longestSync = 60.0
  /// How often to check if the device that joined has everything, in seconds.
  private static let tick = 0.5

  private struct Gone: Error {}

  func give(within patience: Double) {
    guard let line = lines.next(within: patience) else { return }
    do {
      try answer(ControlQuestion.request(in: line))
      try send(.done)
    } catch is Gone {
      return
    } catch {
      // The asking program may have ended.
      try? send(.error(message: "\(error)"))
    }
  }

  private func answer(_ request: ControlRequest) throws {
    switch request {
    case .peers: try sendPeers()
    case .follow: try follow()
    case .sync(let seconds):
      try synchronise(until: .now + min(max(seconds, 0), Self.longestSync))
      try sendPeers()
    case .invite(let role, let seconds, let name, let device):
      try invite(as: role, [.unnamed], seconds, name: name, device: device)
    case .inviteMine(let role, let seconds, let name, let device):
      try invite(as: role, [.own], seconds, name: name, device: device)
    case .inviteSeveral(let role, let seconds, let count, let mine, let names):
      guard (1...Invitation.mostAtOnce).contains(count), names.count <= count else {
        throw SyncError.failed("\(Invitation.mostAtOnce) invitations can be opened at once")
      }
      let people = try names.map { InvitedPerson.new(name: try DisplayName.check($0)) }
      let others = Array(
        repeating: mine ? InvitedPerson.own : .unnamed, count: count - names.count)
      try invite(as: role, people + others, seconds)
    case .edit(let paths): try edit(Array(paths.prefix(ProtocolLimits.editedNotes)))
    case .offer(let invitation): try offer(invitation)
    case .pause: server.service.pause(true)
    case .resume: server.service.pause(false)
    }
  }

  private func send(_ reply: ControlReply) throws { if !lines.send(reply) { throw Gone() } }

  /// Calls `body` with events until the command ends; first with an empty list.
  private func untilGone(_ body: ([Event]) throws -> Void) throws {
    try server.following { follower in
      repeat { try body(follower.takeAll()) } while server.wait(follower, for: lines, until: nil)
    }
    throw Gone()
  }

  // MARK: Connections and events

  private var state: ControlReply {
    .watcher(
      state: WatcherState(
        process: getpid(), port: server.port,
        isPaused: server.service.isPaused.load(ordering: .relaxed),
        isDeletionRefused: notebook.isDeletionRefused.load(ordering: .relaxed),
        // Nil if the folder is unavailable.
        tip: try? notebook.context.notebook().state().tip))
  }

  private func sendPeers() throws {
    try send(state)
    for (peer, state) in notebook.sessions.lasting { try send(.peer(identity: peer, shows: state)) }
  }

  private func follow() throws {
    var isFirst = true
    try untilGone { events in
      if isFirst { try send(state) }
      isFirst = false
      // The code is only for the command that invites.
      for event in events where event.locator == nil {
        if !lines.send(ControlReply.event(what: event)) { try send(.changed) }
      }
    }
  }

  private func edit(_ paths: [TreePath]) throws {
    notebook.jobs.put(.setEdited(paths, isOpen: true))
    defer { notebook.jobs.put(.setEdited(paths, isOpen: false)) }
    try send(state)
    try untilGone { _ in }
  }

  /// Saves, and waits until the connected devices show this device's version.
  private func synchronise(until end: Instant) throws {
    try server.following { follower in
      notebook.jobs.put(.look)
      let settled = BlockingQueue<Bool>()
      server.service.occurrences.put(.reachAll(settled))
      _ = settled.take(until: end)
      while Instant.now < end {
        let own = try notebook.currentState().state
        let others = notebook.sessions.lasting.map(\.state)
        if others.allSatisfy({ $0.tip == own.tip || $0.refusal != nil }) { return }
        guard server.wait(follower, for: lines, until: end) else { throw Gone() }
        _ = follower.takeAll()
      }
    }
  }

  // MARK: Invitations

  private func invite(
    as role: Role, _ people: [InvitedPerson], _ seconds: Double, name: String? = nil,
    device: String? = nil
  ) throws {
    let service = server.service
    try server.following { follower in
      var invitations: [Invitation] = []
      defer { for invitation in invitations { service.withdraw(invitation) } }
      for person in people {
        invitations.append(
          try service.invite(
            role: role, person: person, seconds: seconds, to: notebook.notebookID, name: name,
            deviceID: device))
      }
      var ending = ServiceEnding(of: invitations)
      while !ending.isReached {
        guard server.wait(follower, for: lines, until: .now + Self.tick) else { throw Gone() }
        for event in follower.takeAll() {
          ending.observe(event)
          if ending.concerns(event) { try send(.event(what: event)) }
        }
      }
    }
  }

  /// Tells a device of an invitation to another notebook, in each live session, until the command
  /// ends.
  private func offer(_ invitation: CarriedInvitation) throws {
    notebook.sessions.offer(invitation)
    defer { notebook.sessions.withdraw(invitation) }
    var isTold = false
    try untilGone { _ in
      guard !isTold, let guest = invitation.guest, notebook.sessions.has(guest) else { return }
      isTold = true
      try send(.told)
    }
  }
}
