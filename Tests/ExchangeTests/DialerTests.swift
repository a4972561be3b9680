import Channel
import Testing

@testable import Exchange

/// Whom a run of `notes sync` connects to; Tests/WatchTests has the same of a watcher.
@Suite("A run dials each device once, but for news of it")
struct DialerTests {
  private let target = Dialer.Target(notebookID: "n", deviceID: "A")

  private func dialer(staysConnected: Bool = false) -> Dialer {
    var dialer = Dialer(ownDevices: ["n": "B"], staysConnected: staysConnected)
    dialer.setMembers(["A"], of: "n")
    return dialer
  }

  private func address(_ port: UInt16) -> Address { Address(host: "127.0.0.1", port: port) }

  private func isDone(_ dialer: Dialer, waitsForStrangers: Bool = true) -> Bool {
    dialer.isDone(waitsForStrangers: waitsForStrangers) { _ in false }
  }

  @Test("a device that is not where it was is tried where it is announced")
  func announced() {
    var dialer = dialer()
    func ports() -> [UInt16?] { dialer.take { _ in false }.map(\.addresses.first?.port) }
    dialer.remember(target, at: address(1), after: 0)
    #expect(ports() == [1])
    let isFailureTriedAgain = dialer.ended(.failed, with: target)
    #expect(!isFailureTriedAgain && isDone(dialer) && ports().isEmpty)
    dialer.found(target, at: [address(2)])
    #expect(ports() == [2])
    // Announced elsewhere while it is tried.
    dialer.found(target, at: [address(3)])
    let isTriedAgain = dialer.ended(.failed, with: target)
    #expect(isTriedAgain && ports() == [3])
  }

  @Test("of two that remember each other that of the larger ID lets the other one connect first")
  func courtesy() {
    for (own, waits) in [("0", false), ("B", true)] {
      for staysConnected in [true, false] {
        var dialer = Dialer(ownDevices: ["n": own], staysConnected: staysConnected)
        dialer.setMembers(["A"], of: "n")
        dialer.remember(target, at: address(1), after: 0)
        #expect(dialer.take { _ in false }.isEmpty == (waits && staysConnected))
        #expect(dialer.next == nil || dialer.next! <= .now + 0.8)
      }
    }
  }

  @Test("this device itself is dialed only where another machine announces it")
  func ownKey() {
    let own = Dialer.Target(notebookID: "n", deviceID: "B")
    for (hosts, isDialed) in [(["192.0.2.7"], false), (["192.0.2.8"], true)] {
      var dialer = Dialer(ownDevices: ["n": "B"], staysConnected: true) { hosts }
      dialer.found(
        own,
        at: ["fe80::1", "127.0.0.1", "192.0.2.7"].map { Address(host: $0, port: 1) })
      #expect(dialer.knows(own) == isDialed)
    }
  }

  @Test("one that is busy is tried six times in all")
  func busy() {
    var dialer = dialer()
    dialer.found(target, at: [address(1)])
    var tries = 0
    repeat {
      dialer.wake(target)
      tries += dialer.take { _ in false }.count
    } while dialer.ended(.busy, with: target)
    #expect(tries == 6 && isDone(dialer))
  }

  @Test("one that was met is tried no more where it is announced, but when it is to get news")
  func met() {
    var dialer = dialer()
    func ports() -> [UInt16?] { dialer.take { _ in false }.map(\.addresses.first?.port) }
    dialer.settle(target, at: target)
    dialer.found(target, at: [address(1)])
    #expect(isDone(dialer) && ports().isEmpty)
    dialer.wake(target)
    #expect(ports() == [1])
    dialer.ended(.exchanged, with: target)
    #expect(isDone(dialer) && ports().isEmpty)
  }

  // notes-protocol(7), DISCOVERY: "connects to 8 at once", "at most 2 of these places to strangers",
  // "takes members first".
  @Test("of 1,500 that are announced two strangers are tried at once, and members before them")
  func strangers() {
    for staysConnected in [true, false] {
      var dialer = dialer(staysConnected: staysConnected)
      dialer.setMembers(Set((0..<10).map { "M\($0)" }), of: "n")
      for number in 0..<1500 {
        dialer.found(Dialer.Target(notebookID: "n", deviceID: "S\(number)"), at: [address(1)])
      }
      let strangers = dialer.take { _ in false }
      #expect(strangers.count == 2 && dialer.next == nil)
      for number in 0..<10 {
        dialer.found(Dialer.Target(notebookID: "n", deviceID: "M\(number)"), at: [address(1)])
      }
      let members = dialer.take { _ in false }
      #expect(members.count == 6 && members.allSatisfy { $0.target.deviceID.hasPrefix("M") })
      #expect(dialer.take { _ in false }.isEmpty && dialer.next == nil)
      // A place that is free again is for a member, as long as one waits.
      dialer.ended(.failed, with: strangers[0].target)
      #expect(dialer.take { _ in false }.map(\.target.deviceID.first) == ["M"])
      // Who has come to a session needs no place in a watcher.
      let next = dialer.take { $0 == members[0].target }
      #expect(next.map(\.target.deviceID.first) == (staysConnected ? ["M"] : []))
      #expect(!isDone(dialer) && !dialer.isTrying { $0.deviceID.hasPrefix("M") })
    }
  }

  @Test("a run does not wait for strangers, and those that are gone are forgotten")
  func forgotten() {
    var dialer = dialer()
    let stranger = Dialer.Target(notebookID: "n", deviceID: "S")
    dialer.found(stranger, at: [address(1)])
    #expect(!isDone(dialer) && isDone(dialer, waitsForStrangers: false))
    dialer.lost(stranger)
    #expect(isDone(dialer) && !dialer.knows(stranger))
    // One that is being tried goes when that is over.
    dialer.found(stranger, at: [address(1)])
    #expect(dialer.take { _ in false }.count == 1)
    dialer.lost(stranger)
    dialer.ended(.failed, with: stranger)
    #expect(!dialer.knows(stranger))
    // A member, and whoever had a session, is kept.
    dialer.found(target, at: [address(1)])
    dialer.lost(target)
    #expect(dialer.knows(target))
  }
}
