internal import FoundationEssentials
internal import Git
internal import Glibc
internal import Membership
internal import Notebook
internal import Sync
internal import Synchronization

/// Answers the commands that want something of a running watcher.
final class ControlServer: Sendable {
  private let service: Service
  private let port: UInt16
  private let folder: String
  private let stopping: Doorbell
  private let ended = Mailbox<Bool>()
  private let state = Mutex(State())

  private struct State: Sendable {
    var isPaused = false
    var clients = 0
    var followers: [Follower] = []
  }

  /// Somebody who wants to know when something happens.
  private final class Follower: Sendable {
    let bell: Doorbell
    init() throws { bell = try Doorbell() }
  }

  /// How many commands are answered at once.
  private static let clients = 32
  /// How long a command may take to ask, in seconds.
  private static let patience = 5.0

  init(_ service: Service, port: UInt16, in folder: String) throws {
    self.service = service
    self.port = port
    self.folder = folder
    stopping = try Doorbell()
  }

  /// Starts to listen, for each notebook at a socket of its own.
  func start() throws {
    var sockets: [(descriptor: Int32, notebook: WatchedNotebook, path: String)] = []
    do {
      for notebook in service.watched.values {
        let path = ControlSocket.path(
          in: folder, notebookID: notebook.notebookID,
          deviceID: notebook.context.key.deviceID)
        sockets.append((try ControlSocket.listen(at: path), notebook, path))
      }
      try startThread { [self, sockets] in
        serve(sockets)
        for socket in sockets {
          unlink(socket.path)
          close(socket.descriptor)
        }
        ended.put(true)
      }
    } catch {
      for socket in sockets { close(socket.descriptor) }
      throw error
    }
  }

  func stop() {
    stopping.ring()
    _ = ended.take(until: .now + 2)
    changed()
  }

  /// Something happened that followers may want to look at.
  func changed() {
    for follower in state.withLock({ $0.followers }) { follower.bell.ring() }
  }

  private func serve(
    _ sockets: [(descriptor: Int32, notebook: WatchedNotebook, path: String)]
  ) {
    while true {
      Doorbell.wait(for: [stopping.descriptor] + sockets.map(\.descriptor), until: nil)
      var entries = ([stopping.descriptor] + sockets.map(\.descriptor)).map {
        pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
      }
      guard poll(&entries, nfds_t(entries.count), 0) > 0 else { continue }
      if entries[0].revents != 0 { return }
      for (entry, socket) in zip(entries.dropFirst(), sockets) where entry.revents != 0 {
        let descriptor = accept(socket.descriptor, nil, nil)
        guard descriptor >= 0 else { continue }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        welcome(descriptor, socket.notebook)
      }
    }
  }

  private func welcome(_ descriptor: Int32, _ notebook: WatchedNotebook) {
    let hasRoom = state.withLock { state in
      guard state.clients < Self.clients else { return false }
      state.clients += 1
      return true
    }
    do {
      guard hasRoom, ControlSocket.isOwnUser(descriptor) else { throw SyncError.stopped }
      try startThread { [self] in
        let lines = ControlLines(takingOwnership: descriptor)
        answer(lines, notebook)
        state.withLock { $0.clients -= 1 }
      }
    } catch {
      if hasRoom { state.withLock { $0.clients -= 1 } }
      close(descriptor)
    }
  }

  // MARK: Answers, each on the command's own thread

  private func answer(_ lines: ControlLines, _ notebook: WatchedNotebook) {
    guard let line = lines.next(within: Self.patience) else { return }
    guard let request = try? JSONDecoder().decode(ControlRequest.self, from: Data(line)) else {
      var reply = ControlReply("error")
      reply.message = "the watcher does not know what was asked"
      _ = send(reply, lines)
      return
    }
    switch request.verb {
    case .peers:
      guard send(head(), lines) else { return }
      for peer in peers(of: notebook) where !send(peer, lines) { return }
    case .follow:
      follow(lines)
      return
    case .sync:
      notebook.ask(.lookAtEverything)
      wait(for: notebook, seconds: min(request.seconds ?? 5, 60))
      guard send(head(), lines) else { return }
      for peer in peers(of: notebook) where !send(peer, lines) { return }
    case .invite:
      invite(request, notebook, lines)
      return
    case .pause, .resume:
      let value = request.verb == .pause
      state.withLock { $0.isPaused = value }
      service.occurrences.put(.paused(value))
    }
    _ = send(ControlReply("done"), lines)
  }

  private func head() -> ControlReply {
    var reply = ControlReply("watcher")
    reply.process = Int(getpid())
    reply.port = Int(port)
    reply.isPaused = state.withLock { $0.isPaused }
    return reply
  }

  private func peers(of notebook: WatchedNotebook) -> [ControlReply] {
    notebook.sessions.sessions.map { peer, standing in
      var reply = ControlReply("peer")
      reply.name = peer.name
      reply.device = peer.deviceID
      reply.role = peer.role.rawValue
      reply.address = peer.address
      reply.tip = standing.tip?.hex
      reply.editing = standing.editing.map { String(hexadecimal: $0.bytes) }
      reply.sentBytes = standing.sentBytes
      reply.receivedBytes = standing.receivedBytes
      return reply
    }
  }

  /// Waits until the devices that are connected show what this one shows.
  private func wait(for notebook: WatchedNotebook, seconds: Double) {
    guard let follower = try? Follower() else { return }
    state.withLock { $0.followers.append(follower) }
    defer { state.withLock { $0.followers.removeAll { $0 === follower } } }
    let end = Moment.now + seconds
    while Moment.now < end {
      guard let own = try? notebook.currentState() else { return }
      if notebook.sessions.sessions.allSatisfy({ $0.standing.tip == own.tip }) { return }
      Doorbell.wait(for: [follower.bell.descriptor, stopping.descriptor], until: end)
      follower.bell.silence()
    }
  }

  private func follow(_ lines: ControlLines) {
    guard let follower = try? Follower() else { return }
    state.withLock { $0.followers.append(follower) }
    defer { state.withLock { $0.followers.removeAll { $0 === follower } } }
    guard send(head(), lines) else { return }
    while true {
      Doorbell.wait(
        for: [follower.bell.descriptor, lines.descriptor, stopping.descriptor], until: nil)
      var entry = pollfd(fd: lines.descriptor, events: Int16(POLLIN), revents: 0)
      // Whoever follows says nothing more: what can be read is the end.
      if poll(&entry, 1, 0) > 0 { return }
      entry.fd = stopping.descriptor
      if poll(&entry, 1, 0) > 0 { return }
      follower.bell.silence()
      guard send(ControlReply("changed"), lines) else { return }
    }
  }

  private func invite(
    _ request: ControlRequest, _ notebook: WatchedNotebook, _ lines: ControlLines
  ) {
    do {
      let role = request.role.flatMap(Role.init(rawValue:)) ?? .writer
      let minutes = min(max(request.minutes ?? 10, 1), 10)
      let invitation = try Invitation(
        role: role, lifetime: Double(minutes) * 60, avoiding: service.locators)
      try service.open(invitation, to: notebook.notebookID)
      defer { service.withdraw(invitation) }
      var reply = ControlReply("invitation")
      reply.code = invitation.code.description
      reply.port = Int(port)
      reply.role = role.rawValue
      reply.expires = invitation.expires
      guard send(reply, lines) else { return }
      while invitation.end == nil {
        var entry = pollfd(fd: lines.descriptor, events: Int16(POLLIN), revents: 0)
        // The command is gone: it takes the invitation with it.
        if poll(&entry, 1, 200) > 0 { return }
      }
      reply = ControlReply("ended")
      reply.message = invitation.end.map { "\($0)" }
      guard send(reply, lines) else { return }
      _ = send(ControlReply("done"), lines)
    } catch {
      var reply = ControlReply("error")
      reply.message = "\(error)"
      _ = send(reply, lines)
    }
  }

  private func send(_ reply: ControlReply, _ lines: ControlLines) -> Bool {
    guard let data = try? JSONEncoder().encode(reply) else { return false }
    return lines.send(Array(data))
  }
}
