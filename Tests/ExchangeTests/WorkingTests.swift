import Channel
import GitSupport
import Notebook
import System
import TestSupport
import Testing

@testable import Exchange
@testable import Git

/// notes-protocol(7), "Exchanging versions": "A busy side sends working every 2 s. It does so while it takes
/// its snapshot, […] prepares a pack, merges, signs a version,
/// or receives a pack and has nothing to send".
@Suite("A side that is busy says so", .timeLimit(.minutes(20)))
struct WorkingTests {
  /// What is waited for may take long on a busy machine; `working` comes several times within a test.
  private static let hurried: ProtocolTimeouts = {
    var timeouts = ProtocolTimeouts()
    timeouts.message = 30
    timeouts.working = 0.05
    return timeouts
  }()

  private func hurried(_ device: Device) -> SessionContext {
    SessionContext(
      folder: device.context.folder, key: device.key, membership: device.context.membership,
      timeouts: Self.hurried)
  }

  @Test("while a pack drips in, to whoever has sent all of it")
  func slowPack() throws {
    let ada = try Device(founding: "Ada")
    let bob = try Device("Bob", certifiedBy: ada)
    try ada.write("a\n", to: "n.txt")
    let context = hurried(ada)
    var pack = HandmadePack()
    let head = try pack.addCommit(named: [pack.add(.blob, Array("b\n".utf8))])
    let bytes = pack.bytes()
    let stages = EventLog<TransferProgress.Stage>()
    let (served, called) = try withConnections(from: bob, to: ada) { connection in
      try Session.run(on: connection, as: context) { event in
        if case .progress(let progress) = event { stages.append(progress.stage) }
      }
    } call: { connection in
      let stream = MessageStream(connection: connection, timeouts: Self.hurried)
      let script = HostileScript(stream: stream, device: bob)
      try script.greet(heads: [head])
      _ = try stream.receive(WantMessage.self)
      try stream.send(PackMessage(objects: pack.count, versions: 1, heads: [head]))
      var (heard, sent) = (0, 0)
      while heard < 3, sent < 100 {
        try script.send(data: [bytes[sent]])
        sent += 1
        let answer = try? connection.receive(deadline: .after(seconds: 0.1))
        if answer?.type == MessageType.working.rawValue { heard += 1 }
      }
      #expect(heard == 3)
      try script.send(data: Array(bytes[sent...]))
      try script.send(data: [])
      _ = try stream.receive(AppliedMessage.self)
      try stream.send(
        AppliedMessage(tip: head, heads: [head], heard: 2, received: 0, conflicts: 0, refused: nil))
      stream.close(.done)
    }
    _ = try called.get()
    _ = try? served.get()
    #expect(stages.all.contains(.moving) && stages.all.contains(.joining))
    #expect(try ada.text("a") == "b\n")
  }

  // "One that leaves a fetch to another session sends ping as often."
  @Test("while another session fetches what it lacks")
  func leftToAnother() throws {
    let ada = try Device(founding: "Ada")
    let bob = try Device("Bob", certifiedBy: ada)
    let cleo = try Device("Cleo", certifiedBy: ada)
    try ada.write("a\n", to: "n.txt")
    var timeouts = Self.hurried
    timeouts.message = 2
    let context = SessionContext(
      folder: ada.context.folder, key: ada.key, membership: ada.context.membership,
      timeouts: timeouts)
    let keeper = DirectKeeper(context)
    let serve: @Sendable (Connection) throws -> SessionResult = { connection in
      var options = SessionOptions()
      options.keeper = keeper
      return try Session.run(on: connection, as: context, options: options)
    }
    var pack = HandmadePack()
    let head = try pack.addCommit(named: [pack.add(.blob, Array("b\n".utf8))])
    let bytes = pack.bytes()
    /// Takes what Ada shows as its own, which ends the session.
    func agree(_ script: HostileScript) throws {
      while true {
        let (frame, type) = try script.stream.receive()
        guard type == .applied || type == .heads else { continue }
        let shown =
          type == .heads
          ? try frame.decode(HeadsMessage.self).heads : try frame.decode(AppliedMessage.self).heads
        guard shown.contains(head) else { continue }
        return try script.stream.send(
          AppliedMessage(tip: head, heads: shown, heard: 9, received: 0, conflicts: 0))
      }
    }
    let results = try withConnections(from: bob, to: ada, serve: serve) { first in
      let bobs = HostileScript(
        stream: MessageStream(connection: first, timeouts: Self.hurried), device: bob)
      try bobs.greet(heads: [head])
      while try bobs.stream.receive().type != .want {}
      return try withConnections(from: cleo, to: ada, serve: serve) { second in
        let cleos = HostileScript(
          stream: MessageStream(connection: second, timeouts: Self.hurried), device: cleo)
        try cleos.greet(heads: [head])
        // Longer than a side may say nothing.
        let end = Instant.now + 3
        var pings = 0
        while Instant.now < end || pings < 3 {
          let frame = try second.receive(deadline: .after(seconds: 40))
          #expect(frame.type == MessageType.ping.rawValue)
          pings += 1
          try cleos.stream.send(PongMessage())
          try bobs.stream.send(WorkingMessage())
        }
        try bobs.stream.send(PackMessage(objects: pack.count, versions: 1, heads: [head]))
        try bobs.send(data: bytes)
        try bobs.send(data: [])
        try agree(bobs)
        try agree(cleos)
        while (try? cleos.stream.receive()) != nil {}
      }
    }
    #expect(try results.called.get().served.get().receivedVersions == 0)
    #expect(try results.served.get().receivedVersions == 1)
  }

  @Test("while another program holds the notebook's lock, and a version needs a signature")
  func waitsForLock() throws {
    let ada = try Device(founding: "Ada")
    let bob = try Device("Bob", certifiedBy: ada)
    try ada.write("a\n", to: "n.txt")
    let context = hurried(ada)
    let (served, called) = try withConnections(from: bob, to: ada) { connection in
      try Session.run(on: connection, as: context)
    } call: { connection in
      let stream = MessageStream(connection: connection, timeouts: Self.hurried)
      try HostileScript(stream: stream, device: bob).greet(heads: [])
      let program = try ada.notebook()
      try ada.write("b\n", to: "n.txt")
      _ = try program.save()
      var heard = 0
      try program.withWriterLock { _ in
        try stream.send(PingMessage())
        while heard < 3 {
          let frame = try connection.receive(deadline: .after(seconds: 80))
          if frame.type == MessageType.working.rawValue { heard += 1 }
        }
      }
      stream.close(.done)
      return heard
    }
    #expect(try called.get() == 3)
    _ = try? served.get()
  }

  @Test("while it does long work, and the other side's patience starts anew")
  func longWork() throws {
    let ada = try Device(founding: "Ada")
    let bob = try Device("Bob", certifiedBy: ada)
    let heard = EventLog<Bool>()
    let (served, called) = try withConnections(from: bob, to: ada) { connection in
      let stream = MessageStream(connection: connection, timeouts: Self.hurried)
      // As long as the other side takes to hear it three times.
      try stream.working { _ = heard.wait(within: 80) { $0.count >= 3 } }
      try stream.send(AppliedMessage(tip: nil, heads: [], received: 0, conflicts: 0, refused: nil))
      _ = try? stream.receive(AppliedMessage.self)
    } call: { connection in
      let stream = MessageStream(connection: connection, timeouts: Self.hurried)
      for _ in 0..<3 {
        let frame = try connection.receive(deadline: .after(seconds: 120))
        heard.append(frame.type == MessageType.working.rawValue)
      }
      _ = try stream.receive(AppliedMessage.self)
      // Who just goes away breaks the connection off, which the other side may see while it sends.
      stream.close(.done)
    }
    _ = try served.get()
    _ = try called.get()
    #expect(heard.all == [true, true, true])
  }
}
