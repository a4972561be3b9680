import Glibc
import TestSupport
import Testing

@testable import Discovery

/// Two hosts with a real Avahi daemon each. libdbus reads the address of the system bus once a
/// process, so that this process is on the first host alone; other programs act on the second.
@Suite(.serialized) struct AvahiDiscoveryTests {
  static let lab = Result {
    let lab = try Lab(hosts: 2)
    setenv("DBUS_SYSTEM_BUS_ADDRESS", lab.hosts[0].busAddress, 1)
    return lab
  }

  let lab: Lab
  let here: LabHost
  let there: LabHost
  static let bob = ServiceRecord.notebook(id: "NOTEBOOK", device: "BOB", port: 4001)

  init() throws {
    lab = try Self.lab.get()
    (here, there) = (lab.hosts[0], lab.hosts[1])
  }

  @Test func keepsTheContract() throws {
    try DiscoveryContract.check { AvahiDiscovery(deviceID: $0) }
  }

  @Test func comesBackWithTheDaemon() throws {
    let (alice, bob) = (AvahiDiscovery(deviceID: "ALICE"), AvahiDiscovery(deviceID: "BOB"))
    let seen = EventLog<DiscoveryEvent>()
    try alice.browse(.notebook) { seen.append($0) }
    try bob.publish(Self.bob)
    try #require(seen.found("BOB") != nil)
    try here.stop(.avahi)
    #expect(seen.lost("BOB"))
    #expect(seen.next { $0 == .interrupted(.daemonNotRunning) } != nil)
    #expect(throws: DiscoveryError.daemonNotRunning) {
      try bob.publish(.invitation(locator: "07", notebook: "NOTEBOOK", device: "BOB", port: 1))
    }
    try here.start(.avahi)
    #expect(seen.next { $0 == .resumed } != nil)
    #expect(seen.found("BOB") != nil)
    let invitations = EventLog<DiscoveryEvent>()
    try alice.browse(.invitation) { invitations.append($0) }
    #expect(invitations.found("BOB")?.locator == "07")
    for one in [alice, bob] { one.stop() }
  }

  @Test func aDaemonThatComesLateIsFound() throws {
    try here.stop(.avahi)
    let (alice, bob) = (AvahiDiscovery(deviceID: "ALICE"), AvahiDiscovery(deviceID: "BOB"))
    let seen = EventLog<DiscoveryEvent>()
    #expect(throws: DiscoveryError.daemonNotRunning) {
      try alice.browse(.notebook) { seen.append($0) }
    }
    #expect(throws: DiscoveryError.daemonNotRunning) { try bob.publish(Self.bob) }
    try here.start(.avahi)
    #expect(seen.found("BOB") != nil)
    for one in [alice, bob] { one.stop() }
  }

  @Test func comesBackWithTheBus() throws {
    try here.stop(.avahi)
    try here.stop(.bus)
    let (alice, bob) = (AvahiDiscovery(deviceID: "ALICE"), AvahiDiscovery(deviceID: "BOB"))
    let seen = EventLog<DiscoveryEvent>()
    let error = #expect(throws: DiscoveryError.self) {
      try alice.browse(.notebook) { seen.append($0) }
    }
    guard case .noSystemBus = error else {
      Issue.record("\(String(describing: error)) is not noSystemBus")
      return
    }
    #expect(throws: DiscoveryError.self) { try bob.publish(Self.bob) }
    try here.start(.bus)
    try here.start(.avahi)
    #expect(seen.found("BOB") != nil)
    for one in [alice, bob] { one.stop() }
  }

  @Test func aDaemonThatDoesNotAnswerHoldsNobodyUp() throws {
    let alice = AvahiDiscovery(deviceID: "ALICE", patience: 0.2)
    try here.pause(.avahi)
    defer { try? here.resume(.avahi) }
    let start = Moment.now
    #expect(throws: DiscoveryError.daemonSilent) { try alice.publish(Self.bob) }
    alice.stop()
    #expect(Moment.now - start < 5)
  }

  @Test func aMissingLibraryIsAnError() {
    let alice = AvahiDiscovery(deviceID: "ALICE") { () throws(DiscoveryError) in
      try AvahiLibrary.load(client: "libavahi-absent.so.3")
    }
    let error = #expect(throws: DiscoveryError.self) { try alice.publish(Self.bob) }
    #expect(
      error?.description
        == "cannot look for devices: the Avahi client library is missing (libavahi-absent.so.3: "
        + "cannot open shared object file: No such file or directory)")
  }

  @Test("What another host announces is found on IPv4 and on the link's IPv6, with its scope")
  func findsAnotherHost() throws {
    let alice = AvahiDiscovery(deviceID: "ALICE")
    let seen = EventLog<DiscoveryEvent>()
    try alice.browse(.notebook) { seen.append($0) }
    let other = try there.start([
      "avahi-publish", "-s", "anything", "_notes-sync._tcp", "4001",
      "v=1", "nb=NOTEBOOK", "dev=CAROL",
    ])
    let peer = seen.next {
      $0.foundPeer?.deviceID == "CAROL" && $0.foundPeer?.addresses.count == 2
    }?.foundPeer
    let addresses = try #require(peer).addresses
    #expect(addresses[0].description == "\(there.address):4001")
    #expect(addresses[1].host.hasPrefix("fe80::"))
    #expect(addresses[1].host.contains("%"))
    other.send(SIGKILL)
    #expect(seen.lost("CAROL"))
    alice.stop()
  }

  @Test("What this host announces is read by another implementation, and names nobody")
  func isFoundByAnotherHost() throws {
    let alice = AvahiDiscovery(deviceID: "ALICE")
    try alice.publish(.invitation(locator: "07", notebook: "NOTEBOOK", device: "ALICE", port: 4001))
    let browser = try there.start(["avahi-browse", "--resolve", "--parsable", "_notes-pair._tcp"])
    let line = try browser.line { $0.hasPrefix("=;eth0;IPv4") }
    let fields = line.split(separator: ";")
    #expect(fields[3] == "NOTEBOOK-ALICE-07")
    #expect(fields[7] == "\(here.address)")
    #expect(fields[8] == "4001")
    #expect(fields[9] == #""v=1" "nb=NOTEBOOK" "dev=ALICE" "loc=07""#)
    alice.withdraw(.invitation(locator: "07", notebook: "NOTEBOOK", device: "ALICE", port: 4001))
    _ = try browser.line { $0.hasPrefix("-;eth0;IPv4") }
    alice.stop()
  }

  @Test("Anyone can announce anything: what is not ours is passed over")
  func passesOverNonsense() throws {
    let alice = AvahiDiscovery(deviceID: "ALICE")
    let seen = EventLog<DiscoveryEvent>()
    try alice.browse(.notebook) { seen.append($0) }
    let nonsense = [
      ["one", "v=1", "nb=\u{1b}[2J", "dev=EVIL"], ["two"], ["three", "v=1", "nb=N"],
      ["four\u{1b}]0;x", "v=x", "nb=N", "dev=EVIL"],
    ]
    let others = try nonsense.map { strings in
      try there.start(
        ["avahi-publish", "-s", strings[0], "_notes-sync._tcp", "9"] + strings.dropFirst())
    }
    let bob = AvahiDiscovery(deviceID: "BOB")
    for other in others { _ = try other.errorLine { $0.contains("Established") } }
    try bob.publish(Self.bob)
    #expect(seen.found("BOB") != nil)
    #expect(seen.all.compactMap(\.peer?.deviceID).allSatisfy { $0 != "EVIL" })
    for one in [alice, bob] { one.stop() }
  }
}
