import Channel
import Membership
import Notebook
import TestSupport
import Testing

@testable import Git
@testable import Sync

/// What a member's device sends is untrusted all the same: each row is played over real TLS with a
/// valid certificate, and is refused, with nothing kept and the notebook as it was.
@Suite("A hostile peer with a valid certificate")
struct HostilePeerTests {
  /// The notebook that is attacked is Ada's; Bob is certified and hostile.
  let ada: Device
  let bob: Device
  let before: String

  init() throws {
    ada = try Device(founding: "Ada")
    bob = try Device("Bob", certifiedBy: ada)
    try ada.write("a\n", to: "n.txt")
    _ = try sync(bob, ada)
    before = try Self.state(of: ada)
  }

  /// Everything of the notebook that a peer could change: references, objects, files.
  private static func state(of device: Device) throws -> String {
    let script = """
      git for-each-ref; git status --porcelain; git cat-file --batch-all-objects --batch-check
      find . -path ./.git -prune -o -type f -print0 | sort -z | xargs -0 sha1sum
      """
    let result = try TestSupport.run(["sh", "-ec", script], in: device.notes)
    try #require(result.isSuccess, "\(result)")
    return result.text
  }

  /// Plays a row against Ada and checks that it was refused.
  private func play(_ row: HostileRow) throws {
    let context = ada.context
    let results = try withConnections(from: bob, to: ada) { connection in
      try Session.run(on: connection, as: context).receivedVersions
    } call: { connection in
      let script = HostileScript(
        stream: MessageStream(connection: connection, timeouts: .forTests), device: bob,
        tip: try #require(try ada.tip()))
      try row.play(script)
      // Reads on, to its good-bye or the end.
      while true { _ = try connection.receive(deadline: .after(seconds: 10)) }
    }
    switch row.outcome {
    case .refused:
      #expect(throws: (any Error).self) { try results.served.get() }
    case .ignored:
      #expect(throws: Never.self) { try results.served.get() }
    }
    if case .failure(let error) = results.served {
      let line = "\(error)"
      #expect(
        !line.contains("\n") && line.utf8.count < 400
          && !line.unicodeScalars.contains { $0.properties.generalCategory == .control },
        "one line: \(line)")
    }
    #expect(try Self.state(of: ada) == before)
    let incoming = ada.notes + "/.git/notes/incoming"
    #expect(try TestSupport.run(["find", incoming, "-mindepth", "1"]).text.isEmpty)
    // Nobody else suffers: an honest session works right after it.
    try bob.write("\(row.name)\n", to: "honest.txt")
    let (result, _) = try sync(bob, ada)
    #expect(result.isInSync)
  }

  @Test("messages", arguments: HostileRow.messages)
  func messages(row: HostileRow) throws { try play(row) }

  @Test("the rows, counted")
  func count() {
    let rows = HostileRow.messages.count
    print("hostile rows played over TLS: \(rows)")
    #expect(rows >= 20)
  }
}

/// What a hostile device does in one session.
struct HostileRow: Sendable, CustomTestStringConvertible {
  enum Outcome { case refused, ignored }

  let name: String
  var outcome = Outcome.refused
  let play: @Sendable (HostileScript) throws -> Void

  var testDescription: String { name }
}

/// The moves of a hostile device.
struct HostileScript {
  let stream: MessageStream
  let device: Device
  /// The tip of the notebook that is attacked.
  let tip: ObjectID

  /// Says hello with these heads, and exchanges the membership where that is asked for.
  func greet(
    heads: [ObjectID], _ change: (inout HelloMessage) -> Void = { _ in }
  ) throws {
    var hello = HelloMessage(
      versions: [1], notebook: device.context.membership.notebookID, device: device.key.deviceID,
      name: "Bob", mode: .both, takes: true, tip: heads.first, heads: heads, notes: 1,
      membership: "", port: nil)
    change(&hello)
    try stream.send(hello)
    _ = try stream.receive(HelloMessage.self)
    try stream.send(MembershipMessage(certificates: [], revocations: [], more: nil))
    _ = try stream.receive(MembershipMessage.self)
  }

  /// Answers what is wanted with this pack.
  func offer(_ pack: [UInt8], heads: [ObjectID], objects: Int = 1) throws {
    try stream.send(WantMessage(wants: [], haves: []))
    _ = try stream.receive(WantMessage.self)
    try stream.send(PackMessage(objects: objects, versions: 1, heads: heads))
    try send(data: pack)
    try send(data: [])
  }

  func send(data: [UInt8]) throws {
    var rest = data[...]
    repeat {
      let piece = rest.prefix(ProtocolLimits.dataBytes)
      rest = rest.dropFirst(piece.count)
      try stream.send(Frame(type: MessageType.data.rawValue, payload: Array(piece)))
    } while !rest.isEmpty
  }
}
