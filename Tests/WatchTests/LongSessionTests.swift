import ExchangeSupport
import Glibc
import Membership
import State
import System
import TestSupport
import Testing

@testable import Exchange
@testable import Watch

/// notes-protocol(7), "Sessions that go on": "It does the same with each session after 20 h".
@Suite(.timeLimit(.minutes(20))) struct LongSessionTests {
  private let ada: Watcher
  private let ben: Watcher

  init() throws {
    var timeouts = ProtocolTimeouts.brief
    timeouts.renewal = 0.3
    ada = try Watcher(founding: "Ada", on: InMemoryNetwork(), timeouts: timeouts)
    ben = try Watcher("Ben", certifiedBy: ada, as: .admin)
  }

  private func daysLeft() throws -> Int? {
    guard case .open(let days)? = try ada.context.membership.claims().first?.state else {
      return nil
    }
    return days
  }

  /// Has all days that counted be the ones before.
  private func nextDay() throws {
    let path = ada.context.membership.folder + "/claims"
    let text = String(decoding: try readFile(path), as: UTF8.self)
    let lines = text.split(separator: "\n").map { line in
      var words = line.split(separator: " ").map(String.init)
      for index in words.indices.dropFirst(3) {
        if let day = Int(words[index]) { words[index] = "\(day - 1)" }
      }
      return words.joined(separator: " ")
    }
    try writeFile(path + ".new", Array((lines.joined(separator: "\n") + "\n").utf8))
    #expect(rename(path + ".new", path) == 0)
  }

  // notes-security(7), "A lost founder"
  @Test func `Each day of devices that stay connected counts for a claim, and as a meeting`() throws
  {
    try ben.context.membership.claim(by: ben.key)
    for watcher in [ada, ben] { try watcher.start() }
    #expect(try ada.wait { try daysLeft() == 14 && ada.sessions?.has(ben.key.deviceID) == true })
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
    #expect(ada.events.all.allSatisfy { if case .failed = $0 { false } else { true } })
    for watcher in [ada, ben] { watcher.stop() }
  }

  @Test func `A claim is news in another state, and not under other names`() {
    func key(_ name: String, _ state: ClaimNews.State, _ days: Int?, _ stoppers: [String] = [])
      -> [String]
    {
      ClaimNews(
        name: name, device: "BEN", founderName: nil, founder: "ADA", state: state, days: days,
        stoppers: stoppers, isOwn: false
      ).key
    }
    #expect(key("Ben", .open, 14) == key("Benjamin", .open, 13))
    #expect(key("Ben", .stopped, nil, ["Cleo"]) == key("Ben", .stopped, nil, ["Cleopatra"]))
    #expect(key("Ben", .open, 1) != key("Ben", .accepted, nil))
  }
}
