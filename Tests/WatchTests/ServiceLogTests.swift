import Git
import Logging
import Membership
import Notebook
import TestSupport
import Testing

@testable import Exchange
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

  // notes-serve(1): "If strangers are more than 20 at once, … it logs only their number".
  @Test("strangers without end do not fill the log")
  func strangers() throws {
    let ada = try Host()
    let port = try ada.start()
    let script = """
      import socket
      for number in range(60):
        with socket.create_connection(("127.0.0.1", \(port))) as s:
          s.sendall(b"GET / HTTP/1.0\\r\\n\\r\\n")
          try:
            while s.recv(100): pass
          except OSError: pass
      """
    let start = Instant.now
    #expect(try run(["python3", "-c", script]).isSuccess)
    // As many as came in the time that it took, besides.
    let later = Int((Instant.now.seconds - start.seconds) * 0.2) + 1
    let told = ada.events.all.count {
      if case .failed(let failure) = $0 { failure.peer == nil } else { false }
    }
    #expect((20...20 + later).contains(told), "\(told)")
    ada.stop()

    let quota = RefusalQuota(burst: 2, perSecond: 0.5)
    #expect((0..<5).map { _ in quota.take(start) } == [0, 0, nil, nil, nil])
    #expect(quota.take(start + 1) == nil)
    #expect(quota.take(start + 2.5) == 4)
    #expect(quota.take(start + 1000) == 0 && quota.take(start + 1000) == 0)
    #expect(quota.take(start + 1000) == nil)
  }
}
