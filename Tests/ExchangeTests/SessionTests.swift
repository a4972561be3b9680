import Channel
import FoundationEssentials
import Git
import History
import Membership
import Notebook
import TestSupport
import Testing

@testable import Exchange

/// notes-protocol(7), SESSION, over real TLS on loopback.
@Suite("A session between two members")
struct SessionTests {
  let ada: Device
  let bob: Device

  init() throws {
    ada = try Device(founding: "Ada")
    bob = try Device("Bob", certifiedBy: ada)
  }

  func git(_ device: Device, _ arguments: String...) throws -> ProcessResult {
    try TestSupport.run(["git", "-C", device.notes] + arguments)
  }

  @Test("a newcomer gets everything, and both end on one tip")
  func newcomer() throws {
    for number in 0..<40 { try ada.write("note \(number)\n", to: "f\(number % 3)/\(number).txt") }
    let (called, served) = try sync(bob, ada)
    #expect(called.receivedVersions == 1 && served.sentVersions == 1)
    #expect(called.isInSync && served.isInSync)
    #expect(try bob.tip() == ada.tip())
    #expect(try bob.text("f1/1.txt") == "note 1\n")
    #expect(try git(bob, "fsck", "--strict").isSuccess)
    #expect(try git(bob, "status", "--porcelain").text.isEmpty)
    // "A session without news costs one round trip": nothing but greetings and good-byes.
    let (again, _) = try sync(bob, ada)
    #expect(again.receivedVersions == 0 && again.sentVersions == 0)
    #expect(again.sentBytes < 1_000)
  }

  // notes-join(1): "unless a member has no versions either and does not wait for any".
  @Test("a device that waits for the first versions does not end the wait of another")
  func twoWait() throws {
    for device in [ada, bob] {
      try device.write("kept\n", to: "diary.txt")
      try writeFile(device.notes + "/.git/notes/awaiting", [])
    }
    _ = try sync(bob, ada)
    #expect(try ada.notebook().awaitsVersions && bob.notebook().awaitsVersions)
    #expect(try ada.tip() == nil && bob.tip() == nil)
    // Of a member that does not wait, it is known that it has none.
    removeTree(ada.notes + "/.git/notes/awaiting")
    removeTree(ada.notes + "/diary.txt")
    _ = try sync(bob, ada)
    #expect(try !bob.notebook().awaitsVersions)
  }

  // notes-sync(1): "Those count that somebody made and that the other side did not have"
  @Test("versions that somebody made are counted, and not the merges that all compute")
  func counts() throws {
    let hub = try FolderHub()
    for name in ["A", "B"] { try ada.write("one\n", to: "\(name).txt") }
    _ = try sync(bob, ada)
    try ada.meet(hub)
    try bob.meet(hub)
    for round in 1...3 {
      try ada.write("by ada \(round)\n", to: "A.txt")
      try bob.write("by bob \(round)\n", to: "B.txt")
      let (called, served) = try sync(bob, ada)
      #expect(called.sentVersions == 1 && called.receivedVersions == 1)
      #expect(served.sentVersions == 1 && served.receivedVersions == 1)
    }
    // The derived merges, and what leads the branch to them, are nobody's.
    try #require(try ada.notebook().history.isDerived(ada.notebook().repository.commit(ada.tip()!)))
    let (given, taken) = (try ada.meet(hub), try bob.meet(hub))
    #expect(given.sentVersions == 6 && given.receivedVersions == 0)
    #expect(taken.sentVersions == 0 && taken.receivedVersions == 0)
    let cleo = try Device("Cleo", certifiedBy: ada)
    let (newcomer, host) = try sync(cleo, ada)
    #expect(newcomer.receivedVersions == 7 && host.sentVersions == 7)
  }

  /// "bytes of a data frame: 256 KiB"
  @Test("a file that does not fit into a frame of the protocol arrives")
  func largeFile() throws {
    var random = SplitMix64(seed: 7)
    for name in ["photo.jpg", "sub/film.mp4"] {
      let bytes = (0..<300_000).flatMap { _ in
        let word = random.next()
        return (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
      }
      try ada.folder.write(bytes, to: "notes/" + name)
    }
    try ada.write("a note\n", to: "note.txt")
    let (called, _) = try sync(bob, ada)
    #expect(called.isInSync)
    for name in ["photo.jpg", "sub/film.mp4", "note.txt"] {
      #expect(try bob.folder.read("notes/" + name) == ada.folder.read("notes/" + name))
    }
  }

  @Test("edits of both sides merge; the same line stands in the same markers on both")
  func merge() throws {
    try ada.write("1\n2\n3\n4\n5\n", to: "list.txt")
    try ada.write("line\n", to: "same.txt")
    _ = try sync(bob, ada)
    try ada.write("one\n2\n3\n4\n5\n", to: "list.txt")
    try bob.write("1\n2\n3\n4\nfive\n", to: "list.txt")
    try ada.write("by Ada\n", to: "same.txt")
    try bob.write("by Bob\n", to: "same.txt")
    let (called, _) = try sync(bob, ada)
    #expect(called.isInSync)
    #expect(try ada.tip() == bob.tip())
    #expect(try ada.text("list.txt") == "one\n2\n3\n4\nfive\n")
    #expect(try ada.text("same.txt") == bob.text("same.txt"))
    let text = try ada.text("same.txt")
    #expect(text.hasPrefix("<<<<<<< ") && text.contains("by Ada") && text.contains("by Bob"))
    for device in [ada, bob] {
      #expect(try device.notebook().history.conflicts().map(\.path) == ["same.txt"])
    }
    try bob.write("by both\n", to: "same.txt")
    _ = try sync(ada, bob)
    #expect(try ada.text("same.txt") == "by both\n")
    #expect(try ada.tip() == bob.tip())
    for device in [ada, bob] { #expect(try device.notebook().history.conflicts().isEmpty) }
  }

  @Test("three devices that meet in any order end on one tip")
  func three() throws {
    let eve = try Device("Eve", certifiedBy: ada)
    try ada.write("a\n", to: "n.txt")
    _ = try sync(bob, ada)
    _ = try sync(eve, bob)
    for device in [ada, bob, eve] { try device.write("\(device.name)\n", to: "n.txt") }
    _ = try sync(ada, bob)
    _ = try sync(bob, eve)
    _ = try sync(eve, ada)
    #expect(try ada.tip() == eve.tip())
    _ = try sync(ada, bob)
    #expect(try ada.tip() == bob.tip())
    #expect(try ada.text("n.txt") == eve.text("n.txt"))
    for name in ["Ada", "Bob", "Eve"] { #expect(try ada.text("n.txt").contains("\n\(name)\n")) }
  }

  @Test("a member that was certified elsewhere is learned of in the session")
  func membershipTravels() throws {
    let eve = try Device("Eve", certifiedBy: ada)
    // Bob has never heard of Eve, but her chain says who she is.
    _ = try sync(eve, bob)
    #expect(bob.context.membership.role(ofDevice: eve.key.deviceID) == .writer)
  }

  @Test("pull only receives, push only sends")
  func modes() throws {
    try ada.write("a\n", to: "ada.txt")
    try bob.write("b\n", to: "bob.txt")
    _ = try sync(bob, ada, mode: .pull)
    #expect(bob.exists("ada.txt") && !ada.exists("bob.txt"))
    try ada.write("a\n", to: "ada2.txt")
    _ = try sync(bob, ada, mode: .push)
    #expect(!bob.exists("ada2.txt") && ada.exists("bob.txt"))
    // "a push is never refused for being behind": the receiver merged.
    #expect(ada.exists("ada2.txt"))
  }

  @Test("nobody takes anything from a reader")
  func reader() throws {
    let reader = try Device("Rita", certifiedBy: ada, as: .reader)
    try ada.write("a\n", to: "ada.txt")
    try reader.write("r\n", to: "rita.txt")
    _ = try sync(reader, ada)
    #expect(reader.exists("ada.txt") && !ada.exists("rita.txt"))
    try ada.write("b\n", to: "ada.txt")
    _ = try sync(ada, reader)
    #expect(try reader.text("ada.txt") == "b\n")
    #expect(!ada.exists("rita.txt"))
  }

  /// notes-protocol(7): "a device with more than 256 heads names the parents of its tip".
  @Test("three hundred heads are merged, told, taken, and edited on")
  func manyHeads() throws {
    try ada.write("a\n", to: "n.txt")
    _ = try sync(bob, ada)
    let notebook = try ada.notebook()
    let repository = notebook.repository
    let root = try #require(try ada.tip())
    let tree = try repository.commit(root).tree
    let heads = try repository.withBatchedWrites {
      try (0..<300).map { number in
        let path = TreePath("h\(number).txt")
        let blob = try repository.write(blob: Array("\(number)\n".utf8))
        let file = TreeEntry(name: path, mode: .regular, id: blob)
        let author = Signature(
          name: "Eve", email: "e@notes.invalid", time: 1_900_000_000 + Int64(number), offset: 0)
        return try repository.write(
          commit: repository.write(tree: tree, replacing: [path: file]), parents: [root],
          author: author, committer: author, message: "m\n")
      }
    }
    _ = try notebook.merge(heads)
    #expect(try notebook.state().heads.count == 2)
    _ = try sync(bob, ada)
    #expect(try bob.tip() == ada.tip() && bob.text("h299.txt") == "299\n")
    try bob.write("b\n", to: "n.txt")
    _ = try sync(ada, bob)
    #expect(try ada.text("n.txt") == "b\n")
    #expect(try bob.tip() == ada.tip())
  }

  @Test("a sync that would delete more than half of ten notes stops before it changes a file")
  func massDeletion() throws {
    for number in 0..<12 { try ada.write("\(number)\n", to: "\(number).txt") }
    _ = try sync(bob, ada)
    for number in 0..<8 { try ada.remove("\(number).txt") }
    // Nobody has said that it is meant.
    #expect {
      try sync(bob, ada)
    } throws: {
      "\($0)".hasSuffix(": its user must first allow the deletion of 8 of 12 notes there")
    }
    // Ada means it; Bob has not been asked.
    _ = try ada.notebook().save(allowsMassDeletion: true)
    #expect(throws: SyncError.self) { try sync(bob, ada) }
    #expect(bob.exists("0.txt"))
    _ = try sync(bob, ada, allowsMassDeletion: true)
    #expect(!bob.exists("0.txt"))
    #expect(try ada.tip() == bob.tip())
  }

  // "A side refuses a received version as above, with large_version, if the files [...] have more than 1 GiB"
  @Test("what a device does not merge it refuses by its reason, and both say so")
  func largeVersion() throws {
    try ada.write("a\n", to: "n.txt")
    let context = ada.context
    let results = try withConnections(from: bob, to: ada) {
      try Session.run(on: $0, as: context)
    } call: {
      var options = SessionOptions()
      options.unaskedBytes = 1
      return try Session.run(on: $0, as: bob.context, options: options)
    }
    #expect { try results.called.get() } throws: {
      if case SyncError.notMerged(.largeVersion, let words) = $0 {
        words.hasPrefix("this would write 2 bytes into the folder")
      } else {
        false
      }
    }
    #expect { try results.served.get() } throws: {
      if case SyncError.notMergedAtPeer(.largeVersion) = $0 { true } else { false }
    }
    #expect(!bob.exists("n.txt"))
    _ = try sync(bob, ada)
    #expect(try bob.text("n.txt") == "a\n")
  }

  // notes-control(7): "With _there added, it is the other device's reason"
  @Test("programs are told who refuses, and why")
  func refusals() throws {
    for reason in MergeRefusal.allCases {
      for isThere in [false, true] {
        var state = PeerState()
        state.refusal = PeerState.Refusal(reason, isThere: isThere)
        let text = String(decoding: try JSONEncoder().encode(state), as: UTF8.self)
        #expect(text.contains("\"\(reason.rawValue)\(isThere ? "_there" : "")\""), "\(text)")
        #expect(try JSONDecoder().decode(PeerState.self, from: Data(text.utf8)) == state)
      }
    }
  }

  @Test("a peer that stops answering ends the session in seconds, and nothing has changed")
  func silence() throws {
    try ada.write("a\n", to: "n.txt")
    _ = try sync(bob, ada)
    let tip = try ada.tip()
    var timeouts = ProtocolTimeouts.forTests
    timeouts.message = 2
    let context = SessionContext(
      folder: ada.context.folder, key: ada.key, membership: ada.context.membership,
      timeouts: timeouts)
    let results = try withConnections(from: bob, to: ada) { connection in
      try Session.run(on: connection, as: context).receivedVersions
    } call: { connection in
      // Greets, and says no more.
      let stream = MessageStream(connection: connection, timeouts: .forTests)
      try stream.send(
        HelloMessage(
          versions: [1], notebook: bob.context.membership.notebookID, device: bob.key.deviceID,
          name: "Bob", mode: .both, takes: true, tip: .emptyBlob, heads: [.emptyBlob], notes: 1,
          membership: "", port: nil))
      while true { _ = try connection.receive(deadline: .after(seconds: 180)) }
    }
    #expect { try results.served.get() } throws: { error in
      if case SyncError.timedOut = error { true } else { false }
    }
    #expect(try ada.tip() == tip)
  }

  /// What a member sends is untrusted all the same: each row is refused, and the notebook unchanged.
  @Test("messages that the protocol does not allow end the session", arguments: 0..<7)
  func hostile(row: Int) throws {
    try ada.write("a\n", to: "n.txt")
    _ = try sync(bob, ada)
    let tip = try ada.tip()
    let context = ada.context
    let results = try withConnections(from: bob, to: ada) { connection in
      try Session.run(on: connection, as: context).receivedVersions
    } call: { connection in
      let stream = MessageStream(connection: connection, timeouts: .forTests)
      var hello = HelloMessage(
        versions: [1], notebook: bob.context.membership.notebookID, device: bob.key.deviceID,
        name: "Bob", mode: .both, takes: true, tip: .emptyBlob, heads: [.emptyBlob], notes: 1,
        membership: "", port: nil)
      switch row {
      case 0: hello.versions = [3]
      case 1: hello.device = "SOMEBODY-ELSE"
      case 2: hello.notebook = "another"
      case 3: try stream.send(WantMessage(wants: [.emptyBlob], haves: []))
      default: break
      }
      try stream.send(hello)
      _ = try stream.receive(HelloMessage.self)
      if row >= 4 {
        try stream.send(MembershipMessage(certificates: [], revocations: [], more: nil))
        _ = try stream.receive(MembershipMessage.self)
        // Asks for a commit that is here but was not offered; sends a pack without what it promised;
        // sends a pack that is none.
        if row == 4 { try stream.send(WantMessage(wants: [.emptyTree], haves: [])) }
        _ = try stream.receive(WantMessage.self)
        try stream.send(
          PackMessage(objects: 1, versions: 1, heads: row == 5 ? [] : [.emptyBlob]))
        try stream.send(Frame(type: MessageType.data.rawValue, payload: Array("PACKnonsense".utf8)))
        try stream.send(Frame(type: MessageType.data.rawValue, payload: []))
      }
      while true { _ = try stream.receive(AppliedMessage.self) }
    }
    #expect(throws: (any Error).self) { try results.served.get() }
    // The peer is told why.
    #expect { try results.called.get() } throws: { error in
      if case SyncError.peerEnded = error { true } else { false }
    }
    #expect(try ada.tip() == tip)
    let incoming = ada.notes + "/.git/notes/incoming"
    #expect(try TestSupport.run(["find", incoming, "-type", "f"]).text.isEmpty)
  }
}
