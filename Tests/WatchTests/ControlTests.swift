import FoundationEssentials
import Git
import Glibc
import Membership
import TestSupport
import Testing

@testable import Exchange
@testable import Merge
@testable import Notebook
@testable import Watch
@testable import WorkTree

/// notes-control(7): what goes through a watcher's socket.
@Suite(.timeLimit(.minutes(20))) struct ControlTests {
  private static let peer = PeerIdentity(
    name: "Bob", deviceID: "BOB", role: .writer, address: "192.0.2.1:9")
  private static let difference = TipDifference(
    device: "BOB", tip: .emptyTree, rules: 1, peerTip: .emptyBlob, peerRules: nil)
  private static let join = MergeOutcome(
    former: nil, tip: .emptyTree, heads: [.emptyTree],
    changes: [Change(path: TreePath(bytes: [0xFF]), kind: .renamed, formerPath: "a.txt")],
    waiting: [], conflicts: ["c.txt"],
    reports: [
      MergeReport(path: "m.txt", kind: .merged([.words, .touchingLines])),
      MergeReport(path: "r.txt", kind: .renamed(from: "s.txt")),
    ])

  private static func everyEvent() throws -> [Event] {
    let invitation = try Invitation(role: .reader)
    let claim = ClaimNews(
      name: "Bob", device: "BOB", founderName: nil, founder: "ADA", state: .open, days: 14,
      stoppers: ["Cleo"], isOwn: false)
    let device = PeerIdentity(name: "Cleo", deviceID: "CLEO", role: .reader, address: "a")
    let skipped = [
      SkippedFile(path: "big", reason: .tooLarge(size: 9)),
      SkippedFile(path: "odd", reason: .unreadable(errno: 13)),
      SkippedFile(path: "NUL", reason: .unfitName(why: "reserved")),
    ]
    return [
      .listening(address: "*", port: 1), .discoveryFailed(cause: Cause(SyncError.declined)),
      .peer(peer),
      .received(from: peer, join, notebook: "n"), .received(from: peer, join),
      .replaced(PortableVersion(made: .emptyTree, version: .emptyBlob, excluded: skipped)),
      .finished(SessionResult(peer: peer, shows: PeerState(), tip: .emptyTree)),
      .failed(
        SyncFailure(peer: peer, address: "a", error: SyncError.notMerged(.massDeletion, "3 of 12"))),
      .failed(SyncFailure(address: "a", error: SyncError.declined)),
      .differs(peer, difference), .keyShared(notebook: "n", witness: "Bob"),
      .keyRequested(notebook: "n", by: peer),
      .deviceAsked(peer, device: device, by: "anna", invitation: "5f3a", notebook: "n"),
      .hubOthers(peer, references: ["r"]), .hubMembersWentBack(peer),
      .hubSplit(peer, kept: "main", joined: "master"),
      .linkShared(peer, invitation: "i", devices: ["Bob"], isUsed: true, notebook: "n"),
      .admitted(peer, device: device, notebook: "n"),
      .alteredMerges(from: peer, [.emptyTree], notebook: "n"),
      .completed(from: peer, notebook: "n"),
      .claim(claim, notebook: "n"),
      .invitation(open: OpenInvitation(invitation, port: 7)),
      .offered(locator: "42", address: "a"), .declined(locator: "42", address: "a"),
      .wrongCode(locator: "42", address: "a", attemptsLeft: 2),
      .joined(locator: "42", device: device), .ended(locator: "42", how: .exhausted),
      .version(
        notebook: "n",
        saved: SaveResult(
          version: nil, changes: join.changes, skipped: skipped, remarks: [], news: [])),
      .connected(notebook: "n", peer: peer), .disconnected(notebook: "n", peer: peer),
      .shows(notebook: "n", peer: peer, tip: nil),
      .editing(notebook: "n", peer: peer, paths: ["a.txt"]), .membersChanged(notebook: "n"),
      .addressesChanged(notebook: "n"), .held(notebook: "n", deleted: 1, of: 2),
      .notebookFailed(notebook: "n", cause: Cause(SyncError.declined)),
      .broughtBack(
        notebook: "n", files: [SkippedFile(path: "a.txt", reason: .cut(.zeros))],
        version: .emptyTree),
      .watchLimit(notebook: "n", interval: 20), .folder(notebook: "n", isThere: true),
      .gcDue(notebook: "n", folder: "f"),
    ]
  }

  /// Both ends of a connection.
  private static func lines() throws -> (ControlLines, ControlLines) {
    var ends: [Int32] = [0, 0]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
    return (ControlLines(takingOwnership: ends[0]), ControlLines(takingOwnership: ends[1]))
  }

  // "Errors are their texts, and what a session changed in the folder is left out."
  @Test("Every event arrives as it was sent")
  func events() throws {
    let (watcher, command) = try Self.lines()
    for event in try Self.everyEvent() {
      #expect(watcher.send(ControlReply.event(what: event)))
      let line = try #require(command.next(within: 20))
      let reply = try ReceivedJSON.decode(ControlReply.self, from: line, snakeCase: true)
      guard case .event(let told) = reply else {
        Issue.record("\(event) became \(reply)")
        continue
      }
      #expect(watcher.send(ControlReply.event(what: told)))
      let again = try #require(command.next(within: 20))
      #expect(String(decoding: again, as: UTF8.self) == String(decoding: line, as: UTF8.self))
      // The page says what the fields are called.
      let names = try fieldNames(of: line)
      let page = try String(
        decoding: readFile(BuiltBinary.sourceFolder + "/man/notes-control.7"), as: UTF8.self)
      for name in names { #expect(page.contains(name), "\(name) is not in notes-control(7)") }
      // Only in a merge and in a damage a field has no name.
      let isNameless = names.contains { $0.hasPrefix("_") }
      #expect(!isNameless || names.contains("merged") || names.contains("cut"), "\(names)")
    }
  }

  @Test("What is no request is refused in words, and harms nobody")
  func refused() throws {
    let tooDeep = #"{"version":1,"request":"# + String(repeating: "[", count: 600)
    let rows = [
      ("", "version 1"), ("[]", "version 1"),
      (#"{"version":2,"request":{"peers":{}}}"#, "version 1"),
      (#"{"request":{"peers":{}}}"#, "version 1"), (tooDeep, "version 1"),
      (#"{"version":1}"#, "does not know"), (#"{"version":1,"request":{}}"#, "does not know"),
      (#"{"version":1,"request":{"dance":{}}}"#, "does not know"),
      (#"{"version":1,"request":{"sync":{"seconds":"9"}}}"#, "does not know"),
      (#"{"version":1,"request":{"invite":{"role":"owner","seconds":9}}}"#, "does not know"),
      (#"{"version":1,"request":{"edit":{"paths":["6"]}}}"#, "does not know"),
    ]
    for (line, words) in rows {
      #expect {
        try ControlQuestion.request(in: Array(line.utf8))
      } throws: {
        "\($0)".contains(words)
      }
    }
    let known = #"{"version":1,"more":0,"request":{"edit":{"paths":["6e"],"more":0}}}"#
    guard case .edit(["n"]) = try ControlQuestion.request(in: Array(known.utf8)) else {
      Issue.record("fields that are not known are not passed over")
      return
    }
  }

  @Test("A line longer than the limit is neither sent nor read")
  func limit() throws {
    let (watcher, command) = try Self.lines()
    let long = String(repeating: "x", count: ControlLines.limit)
    #expect(!watcher.send(ControlReply.error(message: long)))
    #expect(watcher.send(ControlReply.done))
    #expect(command.next(within: 20) != nil)
    TestSupport.startThread { _ = watcher.send(Array((long + long).utf8)) }
    #expect(command.next(within: 5) == nil)
  }
}

/// The names of all fields in a JSON text.
private func fieldNames(of line: [UInt8]) throws -> Set<String> {
  let text = String(decoding: line, as: UTF8.self)
  return Set(text.matches(of: #/"([a-z_0-9]+)":/#).map { String($0.1) })
}
