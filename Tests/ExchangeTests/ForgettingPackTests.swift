import Git
import Membership
import System
import TestSupport
import Testing

@testable import Exchange
@testable import History
@testable import Notebook

/// notes-protocol(7), LIMITS: "A forgetting rewrites the whole history, so a pack with a new forgetting may unpack to
/// 6 GiB".
@Suite("Packs that unpack to much, with and without a forgetting", .timeLimit(.minutes(20)))
struct ForgettingPackTests {
  private static let secret = "hunter2-pass-9f"
  let ada: Device
  let bob: Device

  /// 100 notes in one folder and 60 versions on top of one with the secret.
  init() throws {
    ada = try Device(founding: "Ada")
    bob = try Device("Bob", certifiedBy: ada)
    for number in 100..<200 { try ada.write("note \(number)\n", to: "Note \(number).txt") }
    try ada.write("key \(Self.secret)\nmore\n", to: "Wifi.txt")
    try edit(60, on: ada)
    _ = try sync(bob, ada)
  }

  private func edit(_ count: Int, on device: Device) throws {
    let notebook = try device.notebook()
    for number in 0..<count {
      try device.write("of \(device.name) \(number)\n", to: "\(device.name).txt")
      _ = try notebook.save()
    }
  }

  /// 60 such folders are 220 kB.
  private func limits(forForgetting bytes: Int = 1 << 20) -> PackLimits {
    var limits = PackLimits.standard
    (limits.unpackedBytesOfAny, limits.unpackedBytesPerByte) = (100_000, 0)
    (limits.unpackedBytesOfForgetting, limits.unpackedBytesPerOwn) = (bytes, 0)
    return limits
  }

  /// A session in which both devices have these limits.
  private func meet(_ caller: Device, _ server: Device, _ limits: PackLimits) throws {
    var options = SessionOptions()
    options.usualPackLimits = limits
    let results = try withConnections(from: caller, to: server) {
      [context = server.context, options] in
      try Session.run(on: $0, as: context, options: options)
    } call: {
      try Session.run(on: $0, as: caller.context, options: options)
    }
    _ = (try results.called.get(), try results.served.get())
  }

  private func isTooMuch(_ body: () throws -> Void) throws -> Bool {
    do {
      try body()
      return false
    } catch SyncError.packRefused(.costly) {
      return true
    } catch SyncError.peerEnded(.refusedPack, _) {
      return true
    }
  }

  /// Bob has moved over, with what only he had.
  private func expectMoved() throws {
    #expect(try Leftovers(in: bob.notes).places(of: Self.secret) == [])
    #expect(try bob.text("Wifi.txt") == "key [forgotten]\nmore\n")
    #expect(try bob.text("Bob.txt") == "of Bob 1\n")
    #expect(try bob.notebook().history.obeyed() == ada.notebook().history.obeyed())
  }

  private func forget() throws {
    try edit(2, on: bob)
    _ = try ada.notebook().save()
    _ = try ada.context.notebook().forget(.text(Array(Self.secret.utf8)))
  }

  @Test("a device moves over to a large history", arguments: [true, false])
  func movesOver(isCalling: Bool) throws {
    try forget()
    let (caller, server) = isCalling ? (bob, ada) : (ada, bob)
    // The figure counts: without it this history is too much.
    #expect(try isTooMuch { try meet(caller, server, limits(forForgetting: 0)) })
    #expect(try bob.text("Wifi.txt").contains(Self.secret))
    try meet(caller, server, limits())
    try expectMoved()
    #expect(try bob.tip() == ada.tip())
  }

  @Test("so it does at a hub, whose git makes the pack", arguments: [true, false])
  func atHub(isPacked: Bool) throws {
    let hub = try FolderHub(acceptsUnsigned: true)
    try hub.lets(true)
    for device in [ada, bob] {
      try device.notebook().add(hub.hub)
      try device.meet(hub)
    }
    try forget()
    // Somebody writes on top of the forgetting.
    try edit(3, on: ada)
    try ada.meet(hub)
    if isPacked { try hub.git(["-C", hub.path, "gc", "--quiet"]) }
    func visit(_ limits: PackLimits) throws {
      let outcome = try bob.visit(hub.hub) { $0.options.usualPackLimits = limits }.outcome
      if let failure = outcome.failures.first { throw failure.error }
    }
    #expect(try isTooMuch { try visit(limits(forForgetting: 0)) })
    try visit(limits())
    try expectMoved()
  }

  @Test("and with a bundle")
  func withBundle() throws {
    try forget()
    let path = bob.folder["bundle"]
    try ada.writeBundle(path)
    #expect(
      try isTooMuch {
        try bob.apply(path) { $0.options.usualPackLimits = limits(forForgetting: 0) }
      }
    )
    try bob.apply(path) { $0.options.usualPackLimits = limits() }
    try expectMoved()
  }

  // "nobody can at any other time"
  @Test("a member that fills the receiver's packs first is refused all the same")
  func attack() throws {
    // Seven times what one pack may unpack to is accepted little by little.
    for _ in 0..<14 {
      try edit(7, on: bob)
      try meet(bob, ada, limits())
    }
    _ = try ada.notebook().collectGarbage()
    let tip = try ada.tip()
    try edit(60, on: bob)
    #expect(try isTooMuch { try meet(bob, ada, limits()) })
    #expect(try isTooMuch { try meet(ada, bob, limits()) })
    #expect(try ada.tip() == tip)
    #expect(
      try TestSupport.run(["find", ada.notes + "/.git/notes/incoming", "-mindepth", "1"]).text == ""
    )
  }

  @Test("a member's own forgetting allows nothing, nor an admin's that the receiver has followed")
  func notNew() throws {
    _ = try bob.context.notebook().forget(.text(Array(Self.secret.utf8)))
    #expect(try isTooMuch { try meet(bob, ada, limits()) })
    #expect(try ada.notebook().history.obeyed() == nil)
    let cleo = try Device("Cleo", certifiedBy: ada)
    _ = try ada.context.notebook().forget(.text(Array(Self.secret.utf8)))
    _ = try sync(cleo, ada)
    try edit(60, on: cleo)
    #expect(try isTooMuch { try meet(cleo, ada, limits()) })
  }

  // "In the last hour, this process has accepted no such pack from the same device"
  @Test("one such pack is accepted of a device in an hour")
  func hourly() throws {
    try forget()
    let tip = try #require(try ada.tip())
    let pack = try ada.notebook().repository.pack(
      wants: [tip], haves: [], first: ada.notebook().history.obeyed()?.id)
    var bytes: [UInt8] = []
    while let piece = try pack.next() { bytes += piece }
    // It is sent and broken off.
    func receive(from sender: Device) throws {
      let notebook = try bob.notebook()
      let peer = PeerIdentity(
        name: sender.name, deviceID: sender.key.deviceID, role: .writer, address: "")
      let replica = Replica(notebook, DirectKeeper(bob.context), with: peer)
      let quarantine = try notebook.repository.quarantine(
        limits: limits(), replica.unpackingGrant)
      defer { quarantine.discard() }
      do {
        try quarantine.append(bytes)
      } catch let error as PackError {
        throw SyncError.packRefused(error)
      }
    }
    #expect(try !isTooMuch { try receive(from: ada) })
    for _ in 0..<2 { #expect(try isTooMuch { try receive(from: ada) }) }
    #expect(try isTooMuch { try meet(bob, ada, limits()) })
    // Another device's pack is.
    let cleo = try Device("Cleo", certifiedBy: ada)
    _ = try sync(cleo, ada)
    try meet(bob, cleo, limits())
    try expectMoved()
    let packs = RewrittenHistories()
    #expect(packs.accept(from: "a", in: "/1", at: .init(seconds: 10)))
    #expect(!packs.accept(from: "a", in: "/1", at: .init(seconds: 20)))
    #expect(packs.accept(from: "b", in: "/1", at: .init(seconds: 20)))
    #expect(packs.accept(from: "a", in: "/2", at: .init(seconds: 20)))
    #expect(!packs.accept(from: "a", in: "/1", at: .init(seconds: 3_609)))
    #expect(packs.accept(from: "a", in: "/1", at: .init(seconds: 3_610)))
  }
}
