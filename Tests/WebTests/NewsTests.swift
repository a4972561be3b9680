import Git
import Glibc
import History
import Membership
import Notebook
import Synchronization
import System
import TestSupport
import Testing
import WorkTree

@testable import Exchange
@testable import Watch
@testable import Web

/// notes-web(1): "the page is told when the notebook has another version", and who is here.
@Suite(.serialized, .timeLimit(.minutes(20))) struct NewsTests {
  private let web: WebFixture

  init() throws { web = try WebFixture() }

  /// A page that follows what happens.
  private final class Page {
    private let client: HTTPClient
    private let socket: Int32
    private var text = ""

    init(_ web: WebFixture, as browser: WebFixture.Browser, query: String = "") throws {
      client = web.client
      socket = try client.connect()
      let head = ["GET \(browser.root)/events\(query) HTTP/1.1", "Host: " + web.host]
      client.write(
        (head + ["Cookie: " + browser.cookie, "", ""]).joined(separator: "\r\n"), to: socket)
      try wait(for: "ready")
    }

    deinit { close(socket) }

    /// Waits for an event, and forgets what came before it.
    func wait(for event: String) throws {
      let mark = "event: \(event)\n"
      let known = text
      let bytes = try client.read(from: socket) { bytes in
        (known + String(decoding: bytes, as: UTF8.self)).contains(mark)
      }
      let all = known + String(decoding: bytes, as: UTF8.self)
      let place = try #require(all.firstRange(of: mark), "\(event) in: \(all)")
      text = String(all[place.upperBound...])
    }

    /// What has come, up to an event.
    func events(until event: String) throws -> [String] {
      let known = text
      let bytes = try client.read(from: socket) { bytes in
        (known + String(decoding: bytes, as: UTF8.self)).contains("event: \(event)\n")
      }
      return (known + String(decoding: bytes, as: UTF8.self)).split(separator: "\n").compactMap {
        $0.hasPrefix("event: ") ? String($0.dropFirst(7)) : nil
      }
    }
  }

  private func git(_ arguments: String...) throws {
    let result = try run(["git", "-C", web.folder.path] + arguments)
    try #require(result.isSuccess, "\(result)")
  }

  private func save(_ text: String) throws {
    try web.folder.write(text, to: "Shopping.txt")
    _ = try web.notebook.save()
  }

  @Test(arguments: ["other", "trips/2026/rome"])
  func `A page goes on being told of versions after git switched to another branch`(branch: String)
    throws
  {
    let page = try Page(web, as: web.browser)
    try save("milk\neggs\n")
    try page.wait(for: "changed")
    try git("switch", "-q", "-c", branch)
    try page.wait(for: "changed")
    for text in ["oats\n", "oats\nfigs\n"] {
      try save(text)
      try page.wait(for: "changed")
    }
    // With all branches in one file, the branch has no folder until its next version.
    try git("pack-refs", "--all", "--prune")
    try save("rice\n")
    try page.wait(for: "changed")
    try git("switch", "-q", "main")
    try page.wait(for: "changed")
    try save("milk\ntea\n")
    try page.wait(for: "changed")
  }

  // notes-web(1), "Devices".
  @Test func `A page of the user is told of the devices while a watcher runs, and no guest's is`()
    throws
  {
    let token = try GuestBook(stateFolder: web.notebook.stateFolder).invite("Grandma", as: .writer)
      .token
    let guest = try Page(web, as: web.comeIn(token))
    let own = try Page(web, as: web.browser)
    var watcher: FakeWatcher? = try FakeWatcher(of: web)
    // "Whether one runs is looked for every two seconds while a page is shown."
    try own.wait(for: "presence")
    let ben = PeerIdentity(
      name: "Ben", deviceID: "BEN", role: .writer, address: "192.0.2.1:9")
    let note = try web.address("Shopping.txt")
    #expect(try !web.get(note).text.contains("is writing"))
    var shows = PeerState()
    shows.editing = ["Shopping.txt"]
    watcher?.peers = [(ben, shows)]
    watcher?.tell(.editing(notebook: "notebookid", peer: ben, paths: ["Shopping.txt"]))
    try own.wait(for: "presence")
    for page in [note, note + "/edit"] {
      #expect(try web.page(page).text.contains("<b>Ben</b> is writing"), "\(page)")
    }
    let other = try web.post("/new", [("title", "Plan"), ("text", "x")])
    #expect(other.status == 303)
    // On its own page, not in the list beside it.
    #expect(
      try web.get(web.address("Plan.txt")).text.contains(
        "<span id=\"editors\" role=\"status\" data-live data-presence></span>"))
    #expect(
      try !web.get(
        note,
        as: web.comeIn(
          GuestBook(stateFolder: web.notebook.stateFolder).invite("Eve", as: .writer).token)
      ).text.contains("Ben"))
    // That it ends is told, too, and that another one begins.
    watcher = nil
    try own.wait(for: "presence")
    watcher = try FakeWatcher(of: web)
    try own.wait(for: "presence")
    try save("milk\neggs\n")
    #expect(try !guest.events(until: "changed").contains("presence"))
    withExtendedLifetime(watcher) {}
  }

  @Test func `That a watcher is gone is told, also where its socket goes after its connections`()
    throws
  {
    let page = try Page(web, as: web.browser)
    var socket: ControlSocket? = try FakeWatcher.socket(of: web)
    let descriptor = try #require(socket?.descriptor)
    try #require(!Poll.wait(for: [descriptor], until: .now + 60).isEmpty)
    _ = socket?.accept()
    try page.wait(for: "presence")
    socket = nil
    try page.wait(for: "presence")
  }

  @Test func `The watcher is told of a note while its page for editing is open`() throws {
    let watcher = try FakeWatcher(of: web)
    let id = try web.address("Shopping.txt").split(separator: "/")[1]
    var page: Page? = try Page(web, as: web.browser, query: "?edit=\(id)")
    let edit = try #require(watcher.edit())
    #expect(edit.paths == ["Shopping.txt"])
    #expect(Poll.wait(for: [edit.command.descriptor], until: .now).isEmpty)
    page = nil
    // The end can be read.
    #expect(!Poll.wait(for: [edit.command.descriptor], until: .now + 60).isEmpty)
    let book = GuestBook(stateFolder: web.notebook.stateFolder)
    let (reader, writer) = try (
      web.comeIn(book.invite("Ben", as: .reader).token),
      web.comeIn(book.invite("Grandma", as: .writer).token)
    )
    let pages = try [
      Page(web, as: reader, query: "?edit=\(id)"), Page(web, as: web.browser, query: "?edit=new"),
      Page(web, as: web.browser, query: "?edit=../x"),
      Page(web, as: writer, query: "?edit=\(id)"),
    ]
    // The first that is told of is the writer's.
    #expect(watcher.edit()?.paths == ["Shopping.txt"])
    withExtendedLifetime((pages, page)) {}
  }

  @Test func `A watcher that says nothing keeps no note from being shown`() throws {
    let socket = try FakeWatcher.socket(of: web)
    let start = Instant.now
    #expect(try web.get(web.address("Shopping.txt")).text.contains("milk"))
    #expect(Instant.now - start < 20)
    withExtendedLifetime(socket) {}
  }
}

/// Speaks as a watcher does, of devices that a test names.
final class FakeWatcher: Sendable {
  private let stopping: WakeUp
  private let state = State()

  private final class State: Sendable {
    let peers = Mutex<[(PeerIdentity, PeerState)]>([])
    let followers = Mutex<[ControlLines]>([])
    let edits = BlockingQueue<([TreePath], ControlLines)>()
    let ended = Latch()
  }

  var peers: [(PeerIdentity, PeerState)] {
    get { state.peers.withLock { $0 } }
    set { state.peers.withLock { $0 = newValue } }
  }

  static func socket(of web: WebFixture) throws -> ControlSocket {
    let identity = try Notebook.open(at: web.folder.path).identity
    return try ControlSocket(
      at: ControlSocket.path(
        in: web.controlFolder, notebookID: identity.id, deviceID: identity.device.deviceID))
  }

  init(of web: WebFixture) throws {
    stopping = try WakeUp()
    let socket = Handed(try Self.socket(of: web))
    startThread { [stopping, state] in
      if let socket = socket.take() { Self.serve(socket, state, until: stopping) }
      // The socket's file is gone by now.
      state.ended.open()
    }
  }

  deinit {
    stopping.signal()
    state.ended.wait(until: .now + 60)
  }

  private static func serve(_ socket: ControlSocket, _ state: State, until stopping: WakeUp) {
    let watcher = ControlReply.watcher(
      state: WatcherState(process: 1, port: 9, isPaused: false, isDeletionRefused: false, tip: nil))
    while Poll.wait(for: [socket.descriptor, stopping.descriptor]) == [socket.descriptor] {
      guard let command = socket.accept(), let line = command.next(within: 60),
        let request = try? ControlQuestion.request(in: line)
      else { continue }
      _ = command.send(watcher)
      if case .follow = request {
        state.followers.withLock { $0.append(command) }
      } else if case .edit(let paths) = request {
        state.edits.put((paths, command))
      } else {
        for (peer, shows) in state.peers.withLock({ $0 }) {
          _ = command.send(ControlReply.peer(identity: peer, shows: shows))
        }
        _ = command.send(ControlReply.done)
      }
    }
    state.followers.withLock { $0 = [] }
  }

  /// The next notes that are edited, and the connection that ends with it.
  func edit() -> (paths: [TreePath], command: ControlLines)? { state.edits.take(until: .now + 60) }

  func tell(_ event: Event) {
    for follower in state.followers.withLock({ $0 }) {
      _ = follower.send(ControlReply.event(what: event))
    }
  }
}

/// What is handed to another thread, and not kept here.
private final class Handed<Value: Sendable>: Sendable {
  private let value: Mutex<Value?>
  init(_ value: Value) { self.value = Mutex(value) }
  func take() -> Value? { value.withLock { $0.take() } }
}
