import Channel
import Logging
import Membership
import Notebook
import TestSupport
import Testing
import Watch

@testable import Exchange
@testable import Git

/// What a member's device sends is untrusted all the same: each row is played over real TLS with a
/// valid certificate against a service, which refuses it in one line that names the peer, keeps
/// nothing of it, and goes on.
@Suite("A hostile peer with a valid certificate", .serialized, .timeLimit(.minutes(5)))
struct HostilePeerTests {
  private static let world = Result { try HostileWorld() }

  /// Plays a row against the service and checks that it did no harm.
  private func play(_ row: HostileRow) throws {
    let world = try Self.world.get()
    let before = try world.state()
    let connection = try world.connect()
    _ = try? row.play(HostileScript(stream: world.stream(connection), device: world.bob))
    // Reads on, to the good-bye or the end.
    while (try? connection.receive(deadline: .after(seconds: 10))) != nil {}
    connection.close()
    let line = try #require(world.refusal(), "no refusal was logged")
    #expect(line.hasPrefix("session with Bob (\(world.bob.key.deviceID.prefix(8)))"), "\(line)")
    #expect(
      line.utf8.count < 500
        && !line.unicodeScalars.contains { $0.properties.generalCategory == .control },
      "one line: \(line)")
    #expect(try world.state() == before)
    #expect(try world.quarantined().isEmpty)
    try world.expectService(after: row.name)
  }

  @Test("packs", arguments: HostileRow.packs) func packs(row: HostileRow) throws { try play(row) }

  @Test("messages", arguments: HostileRow.messages)
  func messages(row: HostileRow) throws { try play(row) }

  // notes-protocol(7), LIMITS: "bytes of certificates and revocation lists in all".
  @Test("membership messages are taken up to the size of a set, however many are sent")
  func membershipWithoutEnd() throws {
    let world = try Self.world.get()
    let connection = try world.connect()
    let script = HostileScript(stream: world.stream(connection), device: world.bob)
    try script.stream.send(script.hello(heads: []))
    let list = Base64([UInt8](repeating: 1, count: 200 << 10))
    let frame = try Frame(MembershipMessage(revocations: [list, list, list], more: true))
    var sent = 0
    while sent < 400, (try? script.stream.send(frame)) != nil { sent += 1 }
    while (try? connection.receive(deadline: .after(seconds: 10))) != nil {}
    connection.close()
    #expect(world.refusal()?.contains("over a limit") == true)
    // What the kernel holds on the way is counted here, too.
    let taken = ProtocolLimits.allMembershipBytes / (600 << 10)
    #expect(sent <= 2 * taken, "\(sent) messages of \(frame.payload.count) bytes were taken")
    try world.expectService(after: "membership without end")
  }

  // notes-protocol(7): a head that turns out to be a derived merge counts as its parents.
  @Test("a forged derived merge is recomputed, never believed")
  func forgedMerge() throws {
    let world = try Self.world.get()
    // Both edit, so that the tip is a derived merge; Bob then forges one with other text.
    try world.ada.write("ada\n", to: "ada.txt")
    try world.bob.write("bob\n", to: "bob.txt")
    try world.synchronise()
    let merge = try #require(try world.ada.tip())
    let honest = try world.ada.notebook().repository.commit(merge)
    #expect(honest.parents.count == 2)
    let connection = try world.connect()
    let script = HostileScript(stream: world.stream(connection), device: world.bob)
    var pack = HandmadePack()
    let blob = try pack.add(.blob, Array("forged\n".utf8))
    let tree = try pack.addTree([("100644", Array("n.txt".utf8), blob)])
    let lines =
      ["tree \(tree)"] + honest.parents.map { "parent \($0)" } + [
        "author notes <merge@notes.invalid> \(honest.author.time) +0000",
        "committer notes <merge@notes.invalid> \(honest.author.time) +0000", "",
        honest.message,
      ]
    let forged = try pack.add(.commit, Array(lines.joined(separator: "\n").utf8))
    #expect(forged != merge)
    try script.greet(heads: [forged])
    try script.offer(pack.bytes(), heads: [forged])
    while (try? connection.receive(deadline: .after(seconds: 10))) != nil {}
    connection.close()
    // What Ada shows is what she computes.
    #expect(try world.ada.tip() == merge)
    #expect(try world.ada.text("n.txt") == "a\n")
    #expect(try world.ada.text("ada.txt") == "ada\n")
    #expect(try world.ada.text("bob.txt") == "bob\n")
    #expect(try world.quarantined().isEmpty)
    try world.expectService(after: "a forged merge")
  }

  @Test("the rows, counted")
  func count() {
    let rows = HostileRow.packs.count + HostileRow.messages.count + 1
    print(
      "hostile rows played over TLS: \(rows) (\(HostileRow.packs.count) packs, "
        + "\(HostileRow.messages.count) sequences of messages, 1 forged merge)")
    #expect(rows >= 70)
  }
}

/// Ada's notebook, served; Bob is certified and hostile.
///
/// Sendable although its parts are not: the suite runs one test after the other.
final class HostileWorld: @unchecked Sendable {
  let ada: Device
  let bob: Device
  private let lines = EventLog<String>()
  private let events = EventLog<Event>()
  private let token: CancellationToken
  private var port: UInt16 = 0

  init() throws {
    ada = try Device(founding: "Ada")
    bob = try Device("Bob", certifiedBy: ada)
    token = try CancellationToken()
    try ada.write("a\n", to: "n.txt")
    let log = Lines(lines: lines)
    var logger = Logger(label: "notes") { _ in log }
    logger.logLevel = .warning
    let service = try Service(
      contexts: [ada.context], discovery: nil, listen: Address(host: "127.0.0.1", port: 0),
      logger: logger)
    try Exchange.startThread { [token, events] in
      try? service.run(cancellation: token) { events.append($0) }
    }
    let event = events.next { if case .listening = $0 { true } else { false } }
    guard case .listening(_, let port)? = event else { throw SyncError.timedOut("the service") }
    self.port = port
    try synchronise()
  }

  deinit { token.cancel() }

  func connect() throws -> Connection {
    try Connection.connect(
      to: [Address(host: "127.0.0.1", port: port)], as: bob.context.credentials(),
      deadline: .after(seconds: 10), cancellation: nil)
  }

  func stream(_ connection: Connection) -> MessageStream {
    MessageStream(connection: connection, timeouts: .forTests)
  }

  /// The line that the service logs of a session that it refused.
  func refusal() -> String? { lines.next() }

  /// Everything of the notebook that a peer could change: references, objects, files.
  func state() throws -> String {
    let script = """
      git for-each-ref; git status --porcelain; git cat-file --batch-all-objects --batch-check
      find . -path ./.git -prune -o -type f -print0 | sort -z | xargs -0 sha1sum
      """
    let result = try TestSupport.run(["sh", "-ec", script], in: ada.notes)
    try #require(result.isSuccess, "\(result)")
    return result.text
  }

  /// What was left of what came in.
  func quarantined() throws -> String {
    let incoming = ada.notes + "/.git/notes/incoming"
    return try TestSupport.run(["find", incoming, "-mindepth", "1"]).text
  }

  /// Nobody else suffers: an honest session works right after a hostile one.
  func expectService(after name: String) throws {
    try bob.write("\(name)\n", to: "honest.txt")
    try synchronise()
    #expect(try ada.text("honest.txt") == "\(name)\n")
  }

  func synchronise() throws {
    let result = try Session.run(on: connect(), as: bob.context)
    #expect(result.isInSync)
  }

  private struct Lines: LogHandler {
    let lines: EventLog<String>
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.warning

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { lines.append("\(event.message)") }
  }
}
