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

  // notes-serve(1): "one every five seconds in the long run".
  @Test("strangers without end do not fill the log, and members' failures are still told")
  func strangers() {
    let lines = EventLog<String>()
    let log = ServiceLog(logger: Logger(label: "notes") { _ in LineLog(lines: lines) })
    func refuse(_ peer: PeerIdentity?) {
      log.write(.failed(peer: peer, address: "192.0.2.1:9", SyncError.wrongNotebook))
    }
    for _ in 0..<10_000 { refuse(nil) }
    #expect((50...70).contains(lines.all.count))
    let told = lines.all.count
    refuse(
      PeerIdentity(name: "Bob", deviceID: "BOBDEVICE", role: .writer, address: "192.0.2.1:9"))
    #expect(lines.all.count == told + 1)

    let quota = RefusalQuota(burst: 2, perSecond: 0.5)
    let start = Sync.Moment.now
    #expect((0..<5).map { _ in quota.take(start) } == [0, 0, nil, nil, nil])
    #expect(quota.take(start + 1) == nil)
    #expect(quota.take(start + 2.5) == 4)
    #expect(quota.take(start + 1000) == 0 && quota.take(start + 1000) == 0)
    #expect(quota.take(start + 1000) == nil)
  }
}
