import Channel
import GitSupport
import Membership
import Notebook
import TestSupport
import Testing

@testable import Exchange
@testable import Git

/// What a member's device sends is untrusted all the same: each row is played over real TLS with a
/// valid certificate against a service, which refuses it in one line that names the peer, keeps
/// nothing of it, and goes on.
@Suite("A hostile peer with a valid certificate", .serialized, .timeLimit(.minutes(20)))
struct HostilePeerTests {
  private static let world = Result { try HostileWorld() }

  /// Plays a row against the service and checks that it did no harm.
  private func play(_ row: HostileRow) throws {
    let world = try Self.world.get()
    let before = try world.state()
    let (line, after) = try world.measure(row.name) {
      try world.play(row.play)
      return (try world.refusal(), try world.state())
    }
    #expect(line.hasPrefix("session with Bob (\(world.bob.key.deviceID.prefix(8)))"), "\(line)")
    #expect(
      line.utf8.count < 500
        && !line.unicodeScalars.contains { $0.properties.generalCategory == .control },
      "one line: \(line)")
    #expect(after == before)
    #expect(try world.quarantined().isEmpty)
  }

  @Test("packs", arguments: HostileRow.packs) func packs(row: HostileRow) throws { try play(row) }

  @Test("messages", arguments: HostileRow.messages)
  func messages(row: HostileRow) throws { try play(row) }

  // notes-protocol(7), LIMITS: "bytes of certificates and revocation lists in all".
  @Test("membership messages are taken up to the size of a set, however many are sent")
  func membershipWithoutEnd() throws {
    let world = try Self.world.get()
    let list = Base64([UInt8](repeating: 1, count: 200 << 10))
    let frame = try Frame(MembershipMessage(revocations: [list, list, list], more: true))
    let sent = try world.measure("membership messages without end", takesLong: true) {
      var sent = 0
      try world.play { script in
        try script.stream.send(script.hello(heads: []))
        while sent < 400, (try? script.stream.send(frame)) != nil { sent += 1 }
      }
      return sent
    }
    #expect(try world.refusal().contains("exceeded a limit"))
    // What the kernel holds on the way is counted here, too.
    let taken = ProtocolLimits.allMembershipBytes / (600 << 10)
    #expect(sent <= 2 * taken, "\(sent) messages of \(frame.payload.count) bytes were taken")
  }

  // notes-protocol(7): a head that turns out to be a derived merge counts as its parents.
  @Test("a forged derived merge is recomputed, never believed")
  func forgedMerge() throws {
    let world = try Self.world.get()
    // Both edit, so that the tip is a derived merge; Bob then forges one with other text.
    try world.ada.write("ada\n", to: "ada.txt")
    try world.bob.write("bob\n", to: "bob.txt")
    try world.synchronise(world.bob)
    let merge = try #require(try world.ada.tip())
    let honest = try world.ada.notebook().repository.commit(merge)
    #expect(honest.parents.count >= 2)
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
    try world.play { script in
      try script.greet(heads: [forged])
      try script.offer(pack.bytes(), heads: [forged])
    }
    // What Ada shows is what she computes.
    #expect(try world.ada.tip() == merge)
    #expect(try world.ada.text("n.txt") == "a\n")
    #expect(try world.ada.text("ada.txt") == "ada\n")
    #expect(try world.ada.text("bob.txt") == "bob\n")
    #expect(try world.quarantined().isEmpty)
    _ = try world.serveCarol()
  }

  // The last one of this file, and so of the suite.
  @Test("the rows, counted, and what each cost")
  func table() {
    let rows = HostileRow.packs.count + HostileRow.messages.count
    print(
      "hostile rows played over TLS: \(rows) (\(HostileRow.packs.count) packs, "
        + "\(HostileRow.messages.count) sequences of messages), and what takes longer:\n"
        + HostileTable.text())
    #expect(rows >= 80)
  }
}
