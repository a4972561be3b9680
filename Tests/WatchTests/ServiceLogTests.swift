import Git
import Logging
import Membership
import Notebook
import TestSupport
import Testing

@testable import Sync
@testable import Watch

/// notes-protocol(7): a side "writes one line to its log".
@Suite struct ServiceLogTests {
  @Test("a difference of tips is one line")
  func tipDifference() {
    let lines = EventLog<String>()
    let log = ServiceLog(logger: Logger(label: "notes") { _ in LineLog(lines: lines) })
    let peer = PeerIdentity(
      name: "Bob\nfake line", deviceID: "BOBDEVICE", role: .writer, address: "192.0.2.1:9")
    let difference = TipDifference(
      device: "BOBDEVICE", tip: .emptyTree, rules: 1, peerTip: .emptyBlob, peerRules: 2)
    log.write(.differs(peer, difference))
    #expect(lines.all.count == 1)
    let first = "warning: the same versions merge differently at Bob"
    #expect(lines.all.first?.hasPrefix(first) == true)
    #expect(lines.all.first?.contains("by rules 2, here 4b825dc642 by rules 1") == true)
    #expect(lines.all.allSatisfy { !$0.contains("\n") })
  }
}
