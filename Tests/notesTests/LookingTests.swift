import Channel
import Membership
import TestSupport
import Testing
import WorkTree

@testable import Exchange
@testable import notes

/// Nothing over a second says nothing: notes-sync(1), notes-json(5), "looking".
@Suite struct LookingTests {
  @Test func `A search that takes long says whom it is for`() throws {
    let ada = try Shell()
    let bob = try Shell()
    try ada.initialise()
    try bob.join(ada, as: "bob")
    let screen = try ada.screen(notes: ["sync", "--no-discovery", "--wait", "4"])
    try screen.wait(for: "Looking for bob ...")
    #expect(!(try screen.wait(for: "left with 4").contains("Looking for bob")))
    let events = try ada.notes("sync", "--no-discovery", "--wait", "1.5", "--json").lines
    #expect(events.filter { $0.contains("looking") } == [#"{"type":"looking","names":["bob"]}"#])
  }

  @Test func `An address at which nobody answers is named while it is tried`() throws {
    let ada = try Shell()
    let bob = try Shell()
    try ada.initialise()
    try bob.join(ada, as: "bob")
    let silent = try Listener(at: Address(host: "127.0.0.1", port: 0))
    let screen = try ada.screen(notes: ["sync", "--at", "127.0.0.1:\(silent.address.port)"])
    try screen.wait(for: "Looking for 127.0.0.1:\(silent.address.port) ...")
    let joiner = try Shell()
    let joining = try joiner.screen(notes: [
      "join", "42-X7K2-9QMDT4", "--yes", "--at", "127.0.0.1:\(silent.address.port)",
    ])
    try joining.wait(for: "Looking for the device that invites ...")
    withExtendedLifetime(silent) {}
  }

  @Test func `Whoever invites sees how much of the notebook has gone`() throws {
    let ada = try Shell()
    for number in 1...4 {
      let file = ada.folder["notes/f\(number).bin"]
      #expect(try run(["sh", "-c", "head -c 12000000 /dev/urandom >'\(file)'"]).isSuccess)
    }
    try ada.initialise()
    let screen = try ada.screen(
      notes: ["invite", "--no-discovery", "--listen", "127.0.0.1:0"])
    let shown = try screen.wait(for: "Waiting;")
    func word(after start: String) throws -> String {
      let rest = try #require(shown.split(separator: start).last)
      return String(rest.prefix { $0.isNumber || $0.isLetter || $0 == "-" })
    }
    let (code, port) = try (word(after: "notes join "), word(after: "--at 127.0.0.1:"))
    let other = try Shell()
    let joining = try RunningProcess(
      [
        BuiltBinary.notes(), "join", code, "--yes", "--at", "127.0.0.1:\(port)",
        other.folder["notes"],
      ], in: other.folder["home"], environment: other.environment)
    #expect(try screen.wait(for: ": sending ", within: 120).contains(" of 48 MB"))
    try screen.wait(for: "left with 0", within: 120)
    try joining.wait()
  }

  @Test(arguments: [
    ("receiving 12 MB of 60 MB, sending 1.0 MB of 2.0 MB", 60_000_000, 2_000_000),
    ("receiving 900 KB (30%), sending 50%", 0, 0),
  ])
  func `A transfer is told in bytes, with totals where they are known`(
    expected: String, toReceive: Int, toSend: Int
  ) {
    var transfer = TransferProgress(
      peer: PeerIdentity(name: "bob", deviceID: "BOB", role: .writer, address: "a"))
    #expect(text(of: transfer) == "connected to bob")
    (transfer.objectsToReceive, transfer.objectsToSend) = (10, 4)
    (transfer.receivedObjects, transfer.sentObjects, transfer.receivedBytes) = (3, 2, 900_000)
    (transfer.contentToReceive, transfer.contentToSend) = (toReceive, toSend)
    (transfer.receivedContent, transfer.sentContent) = (12_000_000, 1_000_000)
    #expect(text(of: transfer) == "bob: " + expected)
  }

  @Test func `What came is checked, and then written file by file`() {
    var transfer = TransferProgress(
      peer: PeerIdentity(name: "bob", deviceID: "BOB", role: .writer, address: "a"))
    transfer.stage = .joining
    transfer.receivedContent = 60_000_000
    #expect(text(of: transfer) == "bob: checking 60 MB")
    transfer.filesToWrite = 1_200
    (transfer.written.files, transfer.written.bytes) = (300, 12_000_000)
    #expect(text(of: transfer) == "bob: writing 300 of 1,200 files, 12 MB")
  }

  private func text(of transfer: TransferProgress) -> String? {
    EventText(occasion: .exchange).progress(of: .progress(transfer))
  }
}
