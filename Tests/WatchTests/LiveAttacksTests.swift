import Channel
import Discovery
import Git
import History
import Membership
import Notebook
import TestSupport
import Testing

@testable import Exchange
@testable import Watch

/// What a member may not do in a session that goes on: notes-protocol(7), "Exchanging versions".
struct LiveAttack: Sendable, CustomTestStringConvertible {
  let name: String
  let reason: ByeReason
  let play: @Sendable (MessageStream) throws -> Void

  var testDescription: String { name }

  private static func ids(_ count: Int) -> [ObjectID] {
    (0..<count).compactMap { number in
      ObjectID(hex: String(repeating: "0", count: 32) + String(10_000_000 + number))
    }
  }

  private static func raw(_ type: MessageType, _ text: String) -> Frame {
    Frame(type: type.rawValue, payload: Array(text.utf8))
  }

  private static func invitation(code: String, expires: Int64) -> String {
    """
    {"invitation":{"code":"\(code)","notebook":"abc","notebook_name":"N","role":"writer",\
    "expires":\(expires),"port":1}}
    """
  }

  static let all: [LiveAttack] = [
    LiveAttack(name: "a piece of no pack", reason: .protocolBroken) {
      try $0.send(raw(.data, "PACK"))
    },
    LiveAttack(name: "a pack that nobody asked for", reason: .protocolBroken) {
      try $0.send(PackMessage(objects: 1, versions: 1, heads: [.emptyBlob]))
    },
    LiveAttack(name: "another greeting", reason: .protocolBroken) {
      try $0.send(raw(.hello, "{}"))
    },
    LiveAttack(name: "a certificate", reason: .protocolBroken) {
      try $0.send(raw(.certificate, "{}"))
    },
    LiveAttack(name: "a wish for what was not offered", reason: .protocolBroken) {
      try $0.send(WantMessage(wants: ids(1), haves: []))
    },
    LiveAttack(name: "a wish for nothing", reason: .protocolBroken) {
      try $0.send(WantMessage(wants: [], haves: []))
    },
    LiveAttack(name: "more heads than a side may have", reason: .overLimit) {
      try $0.send(HeadsMessage(tip: .emptyBlob, heads: ids(ProtocolLimits.heads + 1)))
    },
    LiveAttack(name: "a tip without heads", reason: .protocolBroken) {
      try $0.send(HeadsMessage(tip: .emptyBlob, heads: []))
    },
    LiveAttack(name: "more edited notes than a side may tell", reason: .overLimit) {
      let paths = [Base64](repeating: Base64([0x61]), count: ProtocolLimits.editedNotes + 1)
      try $0.send(EditingMessage(paths: paths))
    },
    LiveAttack(name: "an edited note of a path too long", reason: .overLimit) {
      let path = Base64([UInt8](repeating: 0x61, count: ProtocolLimits.pathBytes + 1))
      try $0.send(EditingMessage(paths: [path]))
    },
    LiveAttack(name: "an invitation without end", reason: .protocolBroken) {
      try $0.send(raw(.invitation, invitation(code: "42-AAAA-AAAAAA", expires: .max)))
    },
    LiveAttack(name: "an invitation without a code", reason: .protocolBroken) {
      try $0.send(raw(.invitation, invitation(code: "42", expires: 1)))
    },
    LiveAttack(name: "JSON that is none", reason: .protocolBroken) {
      try $0.send(raw(.heads, "{\"tip\":"))
    },
    LiveAttack(name: "a pack of garbage for heads it made up", reason: .refusedPack) {
      try $0.send(HeadsMessage(tip: .emptyBlob, heads: [.emptyBlob]))
      _ = try $0.receive(WantMessage.self)
      try $0.send(PackMessage(objects: 1, versions: 1, heads: [.emptyBlob]))
      try $0.send(raw(.data, "not a pack at all"))
    },
    LiveAttack(name: "a pack without what was asked for", reason: .protocolBroken) {
      try $0.send(HeadsMessage(tip: .emptyBlob, heads: [.emptyBlob]))
      _ = try $0.receive(WantMessage.self)
      try $0.send(PackMessage(objects: 1, versions: 1, heads: [.emptyTree]))
    },
  ]
}

@Suite("A hostile member on a session that stands", .serialized, .timeLimit(.minutes(20)))
final class LiveAttacksTests {
  private let ada: Watcher
  private let bob: Watcher

  init() throws {
    ada = try Watcher(founding: "Ada", on: InMemoryNetwork())
    bob = try Watcher("Bob", certifiedBy: ada)
    try ada.write("1\n", to: "n.txt")
    try ada.start()
    #expect(ada.wait { (try? ada.tip()) != nil })
  }

  /// A connection of Bob's with a session that goes on.
  private func hold() throws -> MessageStream { try hold(as: bob) }

  private func connect(as device: Watcher) throws -> Connection {
    let ports = ada.events.all.compactMap {
      if case .listening(_, let port) = $0 { port } else { nil }
    }
    let port = try #require(ports.first)
    return try Connection.connect(
      to: [Address(host: "127.0.0.1", port: port)], as: device.context.credentials(),
      deadline: .after(seconds: 40))
  }

  private func hold(as device: Watcher) throws -> MessageStream {
    let stream = MessageStream(connection: try connect(as: device), timeouts: .brief)
    try stream.send(
      HelloMessage(
        versions: [1], notebook: device.context.membership.notebookID, device: device.key.deviceID,
        name: "Bob", mode: .both, takes: true, tip: nil, heads: [], notes: 0, membership: "",
        port: nil))
    _ = try stream.receive(HelloMessage.self)
    try stream.send(MembershipMessage(certificates: [], revocations: [], more: nil))
    _ = try stream.receive(MembershipMessage.self)
    return stream
  }

  @Test("is told why and leaves nothing behind", arguments: LiveAttack.all)
  func refused(attack: LiveAttack) throws {
    let tip = try ada.tip()
    let stream = try hold()
    try attack.play(stream)
    do {
      while true { _ = try stream.receive() }
    } catch SyncError.peerEnded(let reason, _) {
      #expect(reason == attack.reason)
    }
    #expect(try ada.tip() == tip)
    #expect(ada.wait { ada.sessions?.lasting.isEmpty == true })
    let left = try run(["find", ada.folder["notes/.git/notes/incoming"], "-type", "f"]).lines
    #expect(left.isEmpty, "\(left)")
    // The next session is served.
    try hold().close(.done)
  }

  /// notes-protocol(7), LIMITS: "If a device has too many sessions, its oldest session is closed".
  @Test("holds four sessions at most, and keeps nobody out by more")
  func places() throws {
    let carol = try Watcher("Carol", certifiedBy: ada)
    let silent = try (0..<24).map { _ in try connect(as: bob) }
    try hold(as: carol).close(.done)
    var closed = 0
    for connection in silent.dropLast(ProtocolLimits.sessionsPerDevice) {
      while true {
        do {
          _ = try connection.receive(deadline: .after(seconds: 80))
        } catch ChannelError.timedOut {
          break
        } catch {
          closed += 1
          break
        }
      }
    }
    #expect(closed == 24 - ProtocolLimits.sessionsPerDevice)
  }

  /// notes-protocol(7), "Exchanging versions": "or 60 s have passed. Then it also asks another source, however
  /// much has arrived".
  @Test("keeps nothing from others by sending it slowly")
  func drips() throws {
    let carol = try Watcher("Carol", certifiedBy: ada)
    try carol.write("2\n", to: "carol.txt")
    let notebook = try Notebook.open(at: carol.folder["notes"])
    _ = try notebook.save()
    let head = try #require(try notebook.state().tip)
    let stream = try hold()
    try stream.send(HeadsMessage(tip: head, heads: [head]))
    _ = try stream.receive(WantMessage.self)
    try stream.send(PackMessage(objects: 100_000, versions: 1, heads: [head]))
    let header = Array("PACK".utf8) + [0, 0, 0, 2] + [0, 1, 0x86, 0xA0]
    try stream.send(Frame(type: MessageType.data.rawValue, payload: header))
    try carol.start()
    var pieces = 0
    #expect(
      ada.wait {
        try? stream.send(Frame(type: MessageType.data.rawValue, payload: Self.blob(pieces)))
        pieces += 1
        return (try? ada.text("carol.txt")) == "2\n"
      }, "\(pieces) pieces of 60,000 bytes had come")
    stream.close(.done)
  }

  /// A blob as it stands in a pack, not compressed.
  private static func blob(_ number: Int) -> [UInt8] {
    let size = 60_000
    let content = withUnsafeBytes(of: number) { Array($0) } + [UInt8](repeating: 0, count: size - 8)
    var (first, second) = (UInt32(1), UInt32(0))
    for byte in content {
      first = (first + UInt32(byte)) % 65521
      second = (second + first) % 65521
    }
    let header: [UInt8] = [
      0x30 | UInt8(size & 15) | 0x80, UInt8(size >> 4 & 0x7F) | 0x80, UInt8(size >> 11),
    ]
    let lengths = [UInt16(size), ~UInt16(size)].flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    return header + [0x78, 0x01, 0x01] + lengths + content
      + withUnsafeBytes(of: (second << 16 | first).bigEndian) { Array($0) }
  }

  /// notes-protocol(7), "Exchanging versions": "If another session is already fetching a head, a side does not
  /// ask for it. It waits until that session has ended or has the head, or until 60 s have passed"; it closes
  /// the connection "if neither a piece of a pack that it asked for nor working arrives for 60 s".
  @Test("keeps nothing from whoever has it from another", arguments: [false, true])
  func withheld(saysWorking: Bool) throws {
    let carol = try Watcher("Carol", certifiedBy: ada)
    try carol.write("2\n", to: "carol.txt")
    let notebook = try carol.context.notebook()
    _ = try notebook.save()
    let head = try #require(try notebook.state().tip)
    let stream = try hold()
    try stream.send(HeadsMessage(tip: head, heads: [head]))
    _ = try stream.receive(WantMessage.self)
    try carol.start()
    #expect(
      ada.wait {
        if saysWorking { try? stream.send(WorkingMessage()) }
        return (try? ada.text("carol.txt")) == "2\n"
      })
    // Who says that it works is waited for, beside the others.
    let stands = ada.sessions?.lasting.contains { $0.peer.deviceID == bob.key.deviceID }
    #expect(stands == saysWorking)
  }

  /// notes-protocol(7), "Exchanging versions": it accepts 300 "at once, and 20 a second in the long run".
  @Test("is not heard more often than a log bears")
  func endlessTidings() throws {
    let stream = try hold()
    #expect(ada.wait { ada.sessions?.lasting.isEmpty == false })
    let path = Base64(Array("n.txt".utf8))
    let (start, before) = (TestSupport.Moment.now, ada.events.all.count)
    for number in 0..<1000 {
      try stream.send(EditingMessage(paths: number % 2 == 0 ? [path] : []))
    }
    #expect(ada.wait { ada.events.all.count >= before + 300 })
    let most = 320 + 20 * (TestSupport.Moment.now - start)
    #expect(Double(ada.events.all.count - before) <= most)
    stream.close(.done)
  }
}
