import Channel
import GitSupport
import Membership
import Merge
import Notebook
import State
import TestSupport
import Testing

@testable import Exchange
@testable import Git

/// notes-protocol(7), LIMITS: each row of the page is a constant of the code, and each limit is met
/// here or by the test that is named, with its error.
@Suite("Limits of the protocol")
struct LimitsTests {
  /// A row of the page, and the test that goes over that limit.
  static let rows: [(row: String, shownBy: String)] = [
    ("bytes of a JSON message Ta \(ProtocolLimits.messageBytes >> 20) MiB", "FrameTests.limits"),
    ("bytes of a data frame Ta \(ProtocolLimits.dataBytes >> 10) KiB", "FrameTests.limits"),
    (
      "certificates and revocation lists in a message Ta \(ProtocolLimits.certificatesPerMessage)",
      "LimitsTests.messages"
    ),
    (
      "certificates in all Ta \(grouped(ProtocolLimits.certificates))",
      "HostilePeerTests.messages"
    ),
    (
      "revocation lists in all Ta \(ProtocolLimits.revocationLists)",
      "HostilePeerTests.membershipWithoutEnd"
    ),
    (
      "bytes of certificates and revocation lists in all Ta "
        + "\(ProtocolLimits.allMembershipBytes >> 20) MiB",
      "HostilePeerTests.membershipWithoutEnd"
    ),
    ("heads of a side Ta \(ProtocolLimits.heads)", "LimitsTests.messages"),
    (
      "heads of a side, counting those below derived merges Ta \(grouped(DerivedMerge.mostHeads))",
      "MergeBoundsTests.manyHeads"
    ),
    ("commits in Li haves Ta \(ProtocolLimits.haves)", "LimitsTests.messages"),
    ("bytes of a name Ta \(ProtocolLimits.nameBytes)", "LimitsTests.messages"),
    ("former IDs in an offer Ta \(ProtocolLimits.formerIDs)", "LimitsTests.messages"),
    ("hubs in Li hello Ta \(ProtocolLimits.hubs)", "LimitsTests.messages"),
    ("devices in Li met Ta \(ProtocolLimits.meetings)", "LimitsTests.messages"),
    ("withdrawn invitations in Li hello Ta \(ProtocolLimits.withdrawals)", "LimitsTests.messages"),
    ("claims in Li certificate Ta \(ProtocolLimits.claims)", "LimitsTests.messages"),
    ("notes that a side says it edits Ta \(ProtocolLimits.editedNotes)", "LimitsTests.messages"),
    ("invitations that are kept Ta \(ReceivedInvitations.maximum)", "LimitsTests.invitations"),
    (
      "invitations that are kept of a device Ta \(ReceivedInvitations.maximumPerDevice)",
      "LimitsTests.invitations"
    ),
    (
      "packs that a side accepts if one side sent Li once Ta \(ProtocolLimits.packsTaken)",
      "LimitsTests.packsTaken"
    ),
    ("bytes of a pack Ta \(PackLimits.standard.packBytes >> 30) GiB", "QuarantineTests.refuses"),
    (
      "objects of a pack Ta \(grouped(PackLimits.standard.objects))", "QuarantineTests.refuses"
    ),
    (
      "bytes of an object, unpacked Ta \(PackLimits.standard.objectBytes >> 20) MiB",
      "QuarantineTests.refuses"
    ),
    ("bytes of a commit Ta \(PackLimits.standard.commitBytes >> 20) MiB", "LimitsTests.packs"),
    ("bytes of a tree Ta \(PackLimits.standard.treeBytes >> 20) MiB", "LimitsTests.packs"),
    (
      "bytes that any pack may unpack to Ta \(PackLimits.standard.unpackedBytesOfAny >> 30) GiB",
      "LimitsTests.deltas"
    ),
    (
      "instead of \(PackLimits.standard.unpackedBytesOfAny >> 30) GiB, with a new forgetting Ta "
        + "\(PackLimits.standard.unpackedBytesOfForgetting >> 30) GiB", "ReceivedPackTests.grants"
    ),
    (
      "versions that may show such a forgetting Ta \(UnpackingGrant.mostCandidates)",
      "ReceivedPackTests.grants"
    ),
    (
      "instead of \(PackLimits.standard.unpackedBytesOfAny >> 30) GiB, if large is allowed Ta "
        + "\(PackLimits.large.unpackedBytesOfAny >> 30) GiB", "LimitsTests.large"
    ),
    (
      "more for each of the pack's bytes Ta \(PackLimits.standard.unpackedBytesPerByte)",
      "LimitsTests.deltas"
    ),
    (
      "instead of \(PackLimits.standard.unpackedBytesPerByte), if large is allowed Ta "
        + "\(PackLimits.large.unpackedBytesPerByte >> 10) KiB", "LimitsTests.large"
    ),
    (
      "bytes that a pack unpacks to, in all cases Ta \(PackLimits.standard.unpackedBytes >> 30) GiB",
      "LimitsTests.deltas"
    ),
    (
      "deltas that lead to one object Ta \(PackLimits.standard.chain)", "LimitsTests.deltas"
    ),
    ("parents of a commit Ta \(PackLimits.standard.parents)", "LimitsTests.packs"),
    (
      "parents of all commits of a pack Ta \(grouped(PackLimits.standard.allParents))",
      "LimitsTests.deltas"
    ),
    (
      "instead of \(grouped(PackLimits.standard.allParents)), if large is allowed Ta "
        + "\(grouped(PackLimits.large.allParents))", "LimitsTests.large"
    ),
    (
      "more for each commit of the pack Ta \(PackLimits.standard.parentsPerCommit)",
      "LimitsTests.deltas"
    ),
    ("folders inside one another Ta \(PackLimits.standard.depth)", "QuarantineTests.refuses"),
    ("bytes of a path Ta \(grouped(PackLimits.standard.pathBytes))", "LimitsTests.packs"),
    (
      "files and folders in a version Ta \(grouped(PackLimits.standard.files))",
      "QuarantineTests.refuses"
    ),
    ("handshakes at once Ta \(ProtocolLimits.handshakes)", "FloodTests.flood"),
    (
      "handshakes at once from one address Ta \(ProtocolLimits.handshakesPerAddress)",
      "HandshakeAdmissionTests.room"
    ),
    (
      "handshakes computed at once Ta \(ProtocolLimits.handshakesComputed)",
      "HandshakeAdmissionTests.turns"
    ),
    ("sessions at once Ta \(ProtocolLimits.sessions)", "HandshakeAdmissionTests.busy"),
    (
      "sessions at once with one address Ta \(ProtocolLimits.sessionsPerAddress)",
      "ServiceTests.crowd"
    ),
    (
      "sessions at once with one device about one notebook Ta "
        + "\(ProtocolLimits.sessionsPerDevice)",
      "LiveAttacksTests.places"
    ),
  ]

  private static func grouped(_ number: Int) -> String {
    let digits = Array(String(number).reversed())
    let groups = stride(from: 0, to: digits.count, by: 3).map {
      String(digits[$0..<min($0 + 3, digits.count)].reversed())
    }
    return groups.reversed().joined(separator: ",")
  }

  @Test("The page has the code's figures, every one of them, and each is met by a test")
  func page() throws {
    let source = BuiltBinary.sourceFolder
    let page = String(decoding: try readFile("\(source)/man/notes-protocol.7"), as: UTF8.self)
    let start = try #require(page.firstRange(of: "\n.Sh LIMITS\n")).upperBound
    let section = page[start...].prefix(
      upTo: try #require(page[start...].firstRange(of: "\n.El\n")).lowerBound)
    let items = section.split(separator: "\n").filter {
      $0.hasPrefix(".It ") && !$0.hasPrefix(".It Em ")
    }
    #expect(items.map { String($0.dropFirst(4)) } == Self.rows.map(\.row))
    for (row, test) in Self.rows {
      let parts = test.split(separator: ".")
      let found = try run([
        "sh", "-c", "grep -rEl \"func \\`?$1\\`?\\(\" \"$2\"/Tests --include=\"$3*.swift\"", "sh",
        String(parts[1]), source, String(parts[0]),
      ])
      #expect(!found.lines.isEmpty, "\(row): \(test)")
    }
    let standard = ProtocolTimeouts.standard
    let waits = [
      "a connection Ta \(Int(standard.connect)) s", "the handshake Ta \(Int(standard.handshake)) s",
      "the next message, or progress of a pack Ta \(Int(standard.message)) s",
      "the same, with Li working No in between Ta \(Int(standard.patience) / 60) min",
      "any message, on a session that goes on; then Li ping No is sent Ta \(Int(standard.ping)) s",
      "the answer to Li ping Ta \(Int(standard.message)) s",
      "the answer to an offer Ta \(Int(standard.answer) / 60) min",
    ]
    for row in waits { #expect(page.contains("\n.It \(row)\n"), "\(row)") }
  }

  /// The limit that reading this message went over; nil when it was read.
  private func broken<M: Message>(_ message: M) throws -> String? {
    do {
      _ = try Frame(message).decode(M.self)
      return nil
    } catch SyncError.overLimit(let what) {
      return what
    } catch SyncError.protocolBroken(let what) {
      return what
    }
  }

  private func ids(_ count: Int) -> [ObjectID] {
    (0..<count).map { HandmadePack.id(.blob, Array("\($0)".utf8)) }
  }

  @Test("A message with as much as is allowed is read, and one with one more is not")
  func messages() throws {
    let (heads, haves) = (ProtocolLimits.heads, ProtocolLimits.haves)
    func certificates(_ count: Int) -> MembershipMessage {
      MembershipMessage(
        certificates: .init(repeating: Base64([1]), count: count), revocations: [], more: nil)
    }
    #expect(try broken(certificates(ProtocolLimits.certificatesPerMessage)) == nil)
    #expect(
      try broken(certificates(ProtocolLimits.certificatesPerMessage + 1))
        == "certificates in a message")
    #expect(try broken(WantMessage(wants: ids(heads), haves: ids(haves))) == nil)
    #expect(try broken(WantMessage(wants: ids(heads + 1), haves: [])) == "heads of a side")
    #expect(try broken(WantMessage(wants: [], haves: ids(haves + 1))) == "commits it has")
    #expect(try broken(HeadsMessage(tip: .emptyBlob, heads: ids(heads))) == nil)
    #expect(
      try broken(HeadsMessage(tip: .emptyBlob, heads: ids(heads + 1))) == "heads of a side")
    let edited = ProtocolLimits.editedNotes
    let path = Base64([UInt8](repeating: 0x61, count: ProtocolLimits.pathBytes))
    #expect(try broken(EditingMessage(paths: .init(repeating: path, count: edited))) == nil)
    #expect(
      try broken(EditingMessage(paths: .init(repeating: path, count: edited + 1)))
        == "notes that are edited")
    #expect(
      try broken(EditingMessage(paths: [Base64(path.bytes + [0x61])])) == "bytes of a path")
    func hello(hubs: Int = 0, met: Int = 0, days: Int64 = 1, withdrawn: Int = 0) -> HelloMessage {
      let sighting = CarriedSighting(hub: .emptyBlob, tip: .emptyTree, since: 2, last: 1)
      return HelloMessage(
        versions: [1], notebook: "nb", device: "DEV", name: "Ada", mode: .both, takes: true,
        heads: [], notes: 0, membership: "", hubs: .init(repeating: sighting, count: hubs),
        met: .init(repeating: CarriedMeeting(device: "B", days: days), count: met),
        withdrawn: .init(repeating: Base64([1]), count: withdrawn))
    }
    #expect(try broken(hello(hubs: ProtocolLimits.hubs)) == nil)
    #expect(try broken(hello(hubs: ProtocolLimits.hubs + 1)) == "hubs")
    #expect(try broken(hello(met: ProtocolLimits.meetings)) == nil)
    #expect(try broken(hello(met: ProtocolLimits.meetings + 1)) == "devices it met")
    for days in [-1, CarriedMeeting.mostDays + 1] {
      #expect(throws: SyncError.self) { try hello(met: 1, days: days).validate() }
    }
    #expect(try broken(hello(withdrawn: ProtocolLimits.withdrawals)) == nil)
    #expect(
      try broken(hello(withdrawn: ProtocolLimits.withdrawals + 1)) == "withdrawn invitations")
    func issued(claims: Int) -> CertificateMessage {
      CertificateMessage(
        certificate: Base64([1]), root: Base64([1]), certificates: [], revocations: [],
        claims: .init(repeating: Base64([1]), count: claims))
    }
    #expect(try broken(issued(claims: ProtocolLimits.claims)) == nil)
    #expect(try broken(issued(claims: ProtocolLimits.claims + 1)) == "claims")
    func offer(_ name: String, _ former: Int, until time: Int64 = 1) -> PairingOffer {
      PairingOffer(
        versions: [1], notebookID: "nb", notebookName: name, notes: 1, bytes: 1, files: 1,
        fileBytes: 1, inviter: "Ada", device: "DEV", role: .writer, expires: time,
        formerly: .init(repeating: "former", count: former))
    }
    let name = String(repeating: "n", count: ProtocolLimits.nameBytes)
    #expect(try broken(offer(name, ProtocolLimits.formerIDs)) == nil)
    #expect(try broken(offer(name, ProtocolLimits.formerIDs + 1)) == "former IDs")
    #expect(try broken(offer(name + "n", 0))?.contains("too long") == true)
    for time in [Int64.min, -1, 253_402_300_800, .max] {
      let late = offer("n", 0, until: time)
      #expect(try broken(late) == "a time before 1970 or after the year 9999")
    }
    let bye = ByeMessage(reason: .done, message: String(repeating: "x", count: 10_000))
    #expect(bye.message?.printable.count == ProtocolLimits.byeCharacters)
  }

  // "one for each device and notebook, 4 of a device and 64 in all", "at most for 10 minutes,
  // whatever expires says".
  @Test("No more invitations are kept than that, each for no longer than it may live")
  func invitations() throws {
    let folder = try TemporaryFolder()
    let list = ReceivedInvitations(stateFolder: StateFolder(folder.path))
    let code = try InvitationCode.random()
    func received(_ number: Int, by device: String = "DEVICE") -> ReceivedInvitation {
      ReceivedInvitation(
        invitation: CarriedInvitation(
          code: code, notebookID: "notebook\(number)", notebookName: "N", role: .writer,
          expires: WallClock.now() + 100 + Int64(number), port: 1, guest: "GUEST"),
        inviter: "Ada", inviterID: device, address: Address(host: "127.0.0.1", port: 1))
    }
    // Who sends many pushes out its own, and nobody else's.
    try list.keep(received(0, by: "ANOTHER"))
    for number in 0..<ReceivedInvitations.maximum { try list.keep(received(number)) }
    #expect(list.all().map(\.inviterID).filter { $0 == "ANOTHER" }.count == 1)
    #expect(list.all().count == ReceivedInvitations.maximumPerDevice + 1)
    for number in 0..<ReceivedInvitations.maximum + 9 {
      try list.keep(received(1000 + number, by: "DEVICE\(number)"))
    }
    #expect(list.all().count == ReceivedInvitations.maximum)

    let (ada, bob) = try Self.pair()
    let now = WallClock.now()
    let results = try withConnections(from: bob, to: ada) { [context = ada.context] connection in
      _ = try? Session.run(on: connection, as: context)
    } call: { connection in
      let script = HostileScript(
        stream: MessageStream(connection: connection, timeouts: .forTests), device: bob)
      try script.greet(heads: []) {
        $0.invitation = CarriedInvitation(
          code: code, notebookID: "abc", notebookName: "N", role: .writer,
          expires: 253_402_300_799, port: 1)
      }
      _ = try? script.stream.receive()
    }
    try results.called.get()
    let kept = try #require(
      ReceivedInvitations(stateFolder: StateFolder(ofNotebookIn: ada.notes)).all().first)
    #expect((now + 600...now + 660).contains(kept.invitation.expires))
  }

  private static func pair() throws -> (Device, Device) {
    let ada = try Device(founding: "Ada")
    return (ada, try Device("Bob", certifiedBy: ada))
  }

  // "After 4 packs a side accepts no more in this session; heads that the peer tells after that count as settled".
  @Test("A peer that writes again after each pack is left after the fourth")
  func packsTaken() throws {
    let (ada, bob) = try Self.pair()
    try ada.write("a\n", to: "ada.txt")
    var pack = HandmadePack()
    let tree = try pack.addTree([])
    var commits = [try pack.addCommit(tree)]
    let bodies = try (1...6).map { number in
      var pack = HandmadePack()
      commits.append(
        try pack.addCommit(
          tree, parents: [commits[number - 1]],
          author: "author A <a@example.org> \(1_700_000_000 + number) +0000"))
      return pack.bytes()
    }
    let packs = [pack.bytes()] + bodies
    let results = try withConnections(from: bob, to: ada) { [context = ada.context] connection in
      try Session.run(on: connection, as: context).receivedVersions
    } call: { [commits] connection in
      let script = HostileScript(
        stream: MessageStream(connection: connection, timeouts: .forTests), device: bob)
      try script.greet(heads: [commits[0]])
      var taken = 0
      do {
        for number in 0..<6 {
          try script.offer(packs[number], heads: [commits[number]])
          var type: MessageType?
          repeat { type = try script.stream.receive().type } while type != .applied
          taken += 1
          try script.stream.send(
            AppliedMessage(
              tip: commits[number + 1], heads: [commits[number + 1]], heard: number + 2,
              received: 0, conflicts: 0))
        }
      } catch SyncError.peerEnded(let reason, _) {
        return (taken, reason)
      }
      return (taken, ByeReason.failed)
    }
    let (count, reason) = try results.called.get()
    #expect(count == ProtocolLimits.packsTaken && reason == .done)
    #expect(try results.served.get() == ProtocolLimits.packsTaken)
  }
}
