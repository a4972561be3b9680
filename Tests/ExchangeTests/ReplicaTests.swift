import Git
import History
import Membership
import Notebook
import TestSupport
import Testing

@testable import Exchange

/// The laws of the one who knows what both sides show: Replica.swift.
@Suite("The replica")
struct ReplicaTests {
  let ada: Device
  let bob: Device

  init() throws {
    ada = try Device(founding: "Ada")
    bob = try Device("Bob", certifiedBy: ada)
    try ada.write("one\n", to: "A.txt")
    _ = try ada.context.notebook().save()
  }

  private func replica(
    of device: Device, with peer: Device, report: @escaping (Event) -> Void = { _ in }
  ) throws -> Replica {
    let notebook = try device.context.notebook()
    let replica = Replica(
      notebook, DirectKeeper(device.context),
      with: PeerIdentity(name: peer.name, deviceID: peer.key.deviceID, role: .writer, address: ""),
      judge: VersionJudge(device.context.membership, notebook, .answered), report: report)
    try replica.begin(receives: true)
    replica.gives = true
    return replica
  }

  /// What `from` has of these heads, apart from the repository of `to`.
  private func pack(
    _ heads: [ObjectID], from device: Device, to replica: Replica
  ) throws -> Quarantine {
    let writer = try device.notebook().repository.pack(wants: heads, haves: [])
    let quarantine = try replica.notebook.repository.quarantine()
    while let piece = try writer.next() { try quarantine.append(piece) }
    return quarantine
  }

  /// Another process, or a person with git, moves the branch.
  @Test("shows what the branch stands on at that moment, whoever moved it")
  func shown() throws {
    let replica = try replica(of: ada, with: bob)
    let first = try replica.shown
    #expect(try first.tip == ada.tip())
    try ada.write("two\n", to: "A.txt")
    _ = try ada.context.notebook().save()
    let second = try replica.shown
    #expect(try second.tip == ada.tip() && second != first)
    #expect(try ada.git("reset", "--quiet", "--hard", first.tip!.hex).isSuccess)
    #expect(try replica.shown == first)
  }

  // notes-protocol(7): "When the objects of a version that it saved are on its disk, it may send heads,
  // and requested packs, before its own branch has moved."
  @Test("shows a version whose branch is about to move, until that has moved or not")
  func early() throws {
    let replica = try replica(of: ada, with: bob)
    let before = try replica.shown
    let table = replica.keeper.sessions
    let version = try #require(ObjectID(hex: String(repeating: "1", count: 40)))
    table.show(early: version)
    #expect(try replica.shown == Shown(tip: version, heads: [version]))
    table.look()
    #expect(try replica.shown == before)
  }

  // notes-merge(7), "The stale editor": "Every command that makes such a save reports it"
  @Test("tells of the saves that its keeper found, where they began and where they met a merge")
  func tellsSaves() throws {
    func bring(_ text: String, report: @escaping (Event) -> Void) throws {
      try ada.write(text, to: "A.txt")
      _ = try ada.context.notebook().save()
      let replica = try replica(of: bob, with: ada, report: report)
      let theirs = try Shown(ada.notebook().state())
      replica.received(theirs)
      _ = try replica.accept(pack(theirs.heads, from: ada, to: replica), theirs.heads)
    }
    var told: [SaveNews] = []
    let note: (Event) -> Void = { if case .saveNews(_, let news) = $0 { told.append(news) } }
    let held = "one\ntwo\nthree\nfour\n"
    try bring(held, report: note)
    try bring(held + "by Ada\n", report: note)
    #expect(told.isEmpty)
    // An editor there that has not read what came saves before the next exchange.
    try bob.write(held.replacing("two", with: "TWO by Bob"), to: "A.txt")
    _ = try replica(of: bob, with: ada, report: note)
    #expect(told.map(\.kind) == [.merged] && told.map(\.devices) == [["Ada"]])
    #expect(try bob.text("A.txt") == held.replacing("two", with: "TWO by Bob") + "by Ada\n")
  }

  @Test("takes what is shown and lacking, once; then both sides are alike")
  func takes() throws {
    let replica = try replica(of: bob, with: ada)
    let theirs = try Shown(ada.notebook().state())
    replica.received(theirs)
    #expect(try replica.lacking() == theirs.heads && !replica.isAlike)
    let quarantine = try pack(theirs.heads, from: ada, to: replica)
    guard case .merged(let heads, let outcome?) = try replica.accept(quarantine, theirs.heads)
    else {
      Issue.record("not merged")
      return
    }
    #expect(heads == theirs.heads && outcome.tip == theirs.tip && replica.received == 1)
    #expect(try replica.lacking() == [] && replica.isAlike && bob.text("A.txt") == "one\n")
    #expect(replica.unmerged.isEmpty)
    // Taken again it is no news.
    guard case .merged(_, nil) = try replica.accept(nil, theirs.heads) else {
      Issue.record("news again")
      return
    }
    #expect(try replica.result(Traffic()).isInSync)
    let known = try replica.notebook.repository.reference(
      "refs/remotes/\(ada.key.deviceID)/main")
    #expect(known == theirs.tip)
  }

  // notes-security(7), VERSIONS
  @Test("refuses what nobody answers for, says so, and forgets that when it is shown no more")
  func refuses() throws {
    try ada.write("by nobody\n", to: "A.txt")
    _ = try ada.git("-c", "user.name=X", "-c", "user.email=x@x", "commit", "-qam", "x")
    let replica = try replica(of: bob, with: ada)
    let theirs = try Shown(ada.notebook().state())
    replica.received(theirs)
    let quarantine = try pack(theirs.heads, from: ada, to: replica)
    guard case .refused(_, .unsigned, _) = try replica.accept(quarantine, theirs.heads) else {
      Issue.record("not refused")
      return
    }
    #expect(try bob.tip() == nil && !replica.notebook.repository.contains(theirs.tip!))
    #expect(replica.peerState(Traffic()).refusal == PeerState.Refusal(.unsigned, isThere: false))
    #expect(try replica.held.all(in: replica.notebook).map(\.heads) == [theirs.heads])
    replica.received(Shown(tip: nil, heads: []))
    #expect(replica.peerState(Traffic()).refusal == nil)
  }

  @Test("what the peer refuses is kept until it merges")
  func peerRefuses() throws {
    let replica = try replica(of: ada, with: bob)
    let heads = try replica.shown.heads
    replica.peerSettled(heads, .massDeletion)
    #expect(replica.peerState(Traffic()).refusal == PeerState.Refusal(.massDeletion, isThere: true))
    #expect(try replica.held.all(in: replica.notebook).map(\.heads) == [heads])
    replica.peerSettled(heads, nil)
    #expect(replica.peerState(Traffic()).refusal == nil)
    #expect(try replica.held.all(in: replica.notebook).isEmpty)
  }

  @Test("answers for what others would not take, once, where versions go from here")
  func answers() throws {
    try ada.write("by hand\n", to: "A.txt")
    _ = try ada.git("-c", "user.name=X", "-c", "user.email=x@x", "commit", "-qam", "x")
    let replica = try replica(of: ada, with: bob)
    let tip = try replica.shown.tip
    replica.gives = false
    #expect(try !replica.endorseOwn() && replica.shown.tip == tip)
    replica.gives = true
    #expect(try replica.endorseOwn() && replica.shown.tip != tip)
    #expect(try !replica.endorseOwn())
  }

  private func commitByHand(_ text: String, on device: Device) throws {
    try device.write(text, to: "A.txt")
    let commit = ["-c", "user.name=X", "-c", "user.email=x@x", "commit", "-qam", "x"]
    try #require(try TestSupport.run(["git", "-C", device.notes] + commit).isSuccess)
  }

  /// How many versions were made only to answer for others.
  private func answers(on device: Device) throws -> Int {
    try device.git("log", "--format=%s").text.split(separator: "\n")
      .count { $0.hasPrefix("Answer for versions") }
  }

  // notes-security(7): "One such version covers all versions that a hub or a bundle gets at a time"
  @Test("for what was made with git a version on top is made only where it is needed")
  func fewAnswers() throws {
    _ = try sync(bob, ada)
    // A device takes what names no member from the one that answers for it in the session.
    try commitByHand("by hand 1\n", on: ada)
    let tip = try ada.tip()
    _ = try sync(bob, ada)
    #expect(try bob.tip() == tip && ada.tip() == tip)
    // What it has not saved yet answers as well.
    let hub = try FolderHub()
    try ada.meet(hub)
    let first = try answers(on: ada)
    #expect(first == 1)
    try commitByHand("by hand 2\n", on: ada)
    try ada.write("by hand 2\nand not\n", to: "A.txt")
    try ada.meet(hub)
    #expect(try answers(on: ada) == first)
    // Several have one.
    for number in 3...5 { try commitByHand("by hand \(number)\n", on: ada) }
    for _ in 1...2 { try ada.meet(hub) }
    #expect(try answers(on: ada) == first + 1)
    try bob.meet(hub)
    #expect(try bob.tip() == ada.tip() && bob.text("A.txt") == "by hand 5\n")
    #expect(try answers(on: bob) == first + 1)
  }
}

extension Shown {
  /// What a device shows that nobody else writes to.
  fileprivate init(_ state: NotebookState) {
    self.init(tip: state.tip, heads: state.heads.sorted())
  }
}
