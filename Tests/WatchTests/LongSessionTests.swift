import ExchangeSupport
import Glibc
import Membership
import State
import System
import TestSupport
import Testing

@testable import Exchange
@testable import Watch

/// notes-protocol(7), meetings: what each hour of a session that goes on does.
@Suite(.timeLimit(.minutes(20))) struct LongSessionTests {
  private let ada: Watcher
  private let ben: Watcher

  init() throws {
    var timeouts = ProtocolTimeouts.brief
    timeouts.reminder = 0.2
    ada = try Watcher(founding: "Ada", on: InMemoryNetwork(), timeouts: timeouts)
    ben = try Watcher("Ben", certifiedBy: ada, as: .admin)
  }

  private func daysLeft() throws -> Int? {
    guard case .open(let days)? = try ada.context.membership.claims().first?.state else {
      return nil
    }
    return days
  }

  /// Has the last day that counted be the one before.
  private func nextDay() throws {
    let path = ada.context.membership.folder + "/claims"
    let text = String(decoding: try readFile(path), as: UTF8.self)
    let lines = text.split(separator: "\n").map { line in
      var words = line.split(separator: " ").map(String.init)
      if words.count == 5, let day = Int(words[4]) { words[4] = "\(day - 1)" }
      return words.joined(separator: " ")
    }
    try writeFile(path + ".new", Array((lines.joined(separator: "\n") + "\n").utf8))
    #expect(rename(path + ".new", path) == 0)
  }

  // notes-security(7), "A lost founder": "or has in a session learned that the member still knows the same list"
  @Test func `Each day of a session counts for a claim, and as a meeting`() throws {
    try ben.context.membership.claim(by: ben.key)
    for watcher in [ada, ben] { try watcher.start() }
    #expect(try ada.wait { try daysLeft() == 14 && ada.sessions?.has(ben.key.deviceID) == true })
    let connected = ada.events.all.count { if case .connected = $0 { true } else { false } }
    for left in [13, 12, 11] {
      try nextDay()
      #expect(try ada.wait { try daysLeft() == left })
    }
    let seen = PeerSightings(stateFolder: StateFolder(ofNotebookIn: ada.folder["notes"]))
    let past = timespec(tv_sec: 1_700_000_000, tv_nsec: 0)
    let file = StateFolder(ofNotebookIn: ada.folder["notes"])[.seen] + "/" + ben.key.deviceID
    #expect(utimensat(AT_FDCWD, file, [past, past], 0) == 0)
    #expect(ada.wait { (seen.last(of: ben.key.deviceID) ?? 0) > 1_700_000_000 })
    #expect(seen.report(of: ben.key.deviceID)?.met == [:])
    // All of it was one session.
    #expect(
      ada.events.all.count { if case .connected = $0 { true } else { false } } == connected)
    for watcher in [ada, ben] { watcher.stop() }
  }
}
