import Discovery
import TestSupport
import Testing

@Suite struct InMemoryDiscoveryTests {
  @Test func keepsTheContract() throws {
    let network = InMemoryNetwork()
    try DiscoveryContract.check { InMemoryDiscovery(deviceID: $0, network: network) }
  }

  @Test func comesBackAfterAnInterruption() throws {
    let network = InMemoryNetwork()
    let alice = InMemoryDiscovery(deviceID: "ALICE", network: network)
    let bob = InMemoryDiscovery(deviceID: "BOB", network: network)
    let seen = EventLog<DiscoveryEvent>()
    try alice.browse(.notebook) { seen.append($0) }
    try bob.publish(.notebook(id: "NOTEBOOK", device: "BOB", port: 1))
    try #require(seen.found("BOB") != nil)
    network.isReachable = false
    #expect(seen.lost("BOB"))
    #expect(seen.next { $0 == .interrupted(.daemonNotRunning) } != nil)
    #expect(throws: DiscoveryError.daemonNotRunning) {
      try bob.publish(.invitation(locator: "07", notebook: "NOTEBOOK", device: "BOB", port: 1))
    }
    network.isReachable = true
    #expect(seen.next { $0 == .resumed } != nil)
    #expect(seen.found("BOB") != nil)
    let later = EventLog<DiscoveryEvent>()
    try alice.browse(.invitation) { later.append($0) }
    #expect(later.found("BOB")?.locator == "07")
  }
}
