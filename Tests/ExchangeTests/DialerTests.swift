import Channel
import Testing

@testable import Exchange

/// Whom a run of `notes sync` connects to; Tests/WatchTests has the same of a watcher.
@Suite("A run dials each device once, but for news of it")
struct DialerTests {
  private let target = Dialer.Target(notebookID: "n", deviceID: "A")

  private func address(_ port: UInt16) -> Address { Address(host: "127.0.0.1", port: port) }

  @Test("a device that is not where it was is tried where it is announced")
  func announced() {
    var dialer = Dialer(ownDevices: ["n": "B"], staysConnected: false)
    func ports() -> [UInt16?] { dialer.take { _ in false }.map(\.addresses.first?.port) }
    dialer.remember(target, at: address(1), after: 0)
    #expect(ports() == [1])
    let isFailureTriedAgain = dialer.ended(.failed, with: target)
    #expect(!isFailureTriedAgain && dialer.isDone && ports().isEmpty)
    dialer.found(target, at: [address(2)])
    #expect(ports() == [2])
    // Announced elsewhere while it is tried.
    dialer.found(target, at: [address(3)])
    let isTriedAgain = dialer.ended(.failed, with: target)
    #expect(isTriedAgain && ports() == [3])
  }

  @Test("one that is busy is tried six times in all")
  func busy() {
    var dialer = Dialer(ownDevices: ["n": "B"], staysConnected: false)
    dialer.found(target, at: [address(1)])
    var tries = 0
    repeat {
      dialer.wake(target)
      tries += dialer.take { _ in false }.count
    } while dialer.ended(.busy, with: target)
    #expect(tries == 6 && dialer.isDone)
  }

  @Test("one that was met is tried no more where it is announced, but when it is to get news")
  func met() {
    var dialer = Dialer(ownDevices: ["n": "B"], staysConnected: false)
    func ports() -> [UInt16?] { dialer.take { _ in false }.map(\.addresses.first?.port) }
    dialer.settle(target, at: target)
    dialer.found(target, at: [address(1)])
    #expect(dialer.isDone && ports().isEmpty)
    dialer.wake(target)
    #expect(ports() == [1])
    dialer.ended(.exchanged, with: target)
    #expect(dialer.isDone && ports().isEmpty)
  }
}
