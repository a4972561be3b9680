import Discovery
import TestSupport
import Testing

/// What every implementation of `Discovery` promises, checked on two devices of one network.
struct DiscoveryContract {
  /// Makes the discovery of the device of this ID.
  let device: (String) -> any Discovery

  static let alice = String(repeating: "A", count: 52)
  static let bob = String(repeating: "B", count: 52)
  static let notebook = String(repeating: "N", count: 52)

  static func check(_ device: @escaping (String) -> any Discovery) throws {
    let contract = DiscoveryContract(device: device)
    try contract.findsWhatIsThereAndWhatComes()
    try contract.losesWhatIsWithdrawn()
    try contract.losesWhatStops()
    try contract.neverReportsItself()
    try contract.keepsInvitationsApart()
    try contract.mergesServicesOfOneDevice()
    try contract.refusesWhatNobodyWouldBelieve()
    try contract.endsWithStop()
  }

  private func findsWhatIsThereAndWhatComes() throws {
    let (alice, bob, carol) = (device(Self.alice), device(Self.bob), device("CAROL"))
    let before = ServiceRecord.notebook(id: Self.notebook, device: Self.bob, port: 4001)
    try bob.publish(before)
    let seen = EventLog<DiscoveryEvent>()
    try alice.browse(.notebook) { seen.append($0) }
    let found = try #require(seen.found(Self.bob))
    #expect(found.kind == .notebook)
    #expect(found.notebookID == Self.notebook)
    #expect(found.protocolVersion == ServiceRecord.currentProtocolVersion)
    #expect(found.locator == nil)
    #expect(found.endpoints.allSatisfy { $0.port == 4001 && !$0.host.isEmpty })
    #expect(seen.next { $0 == .settled } != nil)

    try carol.publish(.notebook(id: "other", device: "CAROL", port: 4002))
    #expect(seen.found("CAROL")?.notebookID == "other")
    for one in [alice, bob, carol] { one.stop() }
  }

  private func losesWhatIsWithdrawn() throws {
    let (alice, bob) = (device(Self.alice), device(Self.bob))
    let seen = EventLog<DiscoveryEvent>()
    try alice.browse(.notebook) { seen.append($0) }
    let service = ServiceRecord.notebook(id: Self.notebook, device: Self.bob, port: 4001)
    try bob.publish(service)
    try #require(seen.found(Self.bob) != nil)
    bob.withdraw(service)
    #expect(seen.lost(Self.bob))
    try bob.publish(service)
    #expect(seen.found(Self.bob) != nil)
    for one in [alice, bob] { one.stop() }
  }

  private func losesWhatStops() throws {
    let (alice, bob) = (device(Self.alice), device(Self.bob))
    let seen = EventLog<DiscoveryEvent>()
    try alice.browse(.notebook) { seen.append($0) }
    try bob.publish(.notebook(id: Self.notebook, device: Self.bob, port: 4001))
    try #require(seen.found(Self.bob) != nil)
    bob.stop()
    #expect(seen.lost(Self.bob))
    alice.stop()
  }

  private func neverReportsItself() throws {
    let (alice, again, bob) = (device(Self.alice), device(Self.alice), device(Self.bob))
    let seen = EventLog<DiscoveryEvent>()
    try alice.browse(.notebook) { seen.append($0) }
    try alice.publish(.notebook(id: Self.notebook, device: Self.alice, port: 4001))
    // Another process of the same device, say a watcher.
    try again.publish(.notebook(id: Self.notebook, device: Self.alice, port: 4003))
    try bob.publish(.notebook(id: Self.notebook, device: Self.bob, port: 4002))
    try #require(seen.found(Self.bob) != nil)
    #expect(seen.all.allSatisfy { $0.peer?.deviceID != Self.alice })
    for one in [alice, again, bob] { one.stop() }
  }

  private func keepsInvitationsApart() throws {
    let (alice, bob) = (device(Self.alice), device(Self.bob))
    let seen = EventLog<DiscoveryEvent>()
    try alice.browse(.invitation) { seen.append($0) }
    try bob.publish(.notebook(id: Self.notebook, device: Self.bob, port: 4001))
    let services = ["07", "08"].map {
      ServiceRecord.invitation(
        locator: $0, notebook: Self.notebook, device: Self.bob, port: 4001)
    }
    for service in services { try bob.publish(service) }
    #expect(
      seen.wait { events in
        Set(events.compactMap(\.peer?.locator)) == ["07", "08"]
      })
    bob.withdraw(services[0])
    #expect(seen.lost(Self.bob))
    #expect(seen.all.allSatisfy { $0.peer?.kind != .notebook })
    #expect(seen.all.compactMap { $0.lostPeer?.locator } == ["07"])
    for one in [alice, bob] { one.stop() }
  }

  private func mergesServicesOfOneDevice() throws {
    let (alice, bob, again) = (device(Self.alice), device(Self.bob), device(Self.bob))
    let seen = EventLog<DiscoveryEvent>()
    try alice.browse(.notebook) { seen.append($0) }
    try bob.publish(.notebook(id: Self.notebook, device: Self.bob, port: 4001))
    try again.publish(.notebook(id: Self.notebook, device: Self.bob, port: 4002))
    // The two have the same name at first: the second gets another.
    let both = seen.next { $0.foundPeer.map { Set($0.endpoints.map(\.port)) } == [4001, 4002] }
    #expect(both != nil)
    again.stop()
    #expect(seen.next { $0.foundPeer.map { Set($0.endpoints.map(\.port)) } == [4001] } != nil)
    #expect(seen.all.allSatisfy { $0.lostPeer == nil })
    for one in [alice, bob] { one.stop() }
  }

  private func refusesWhatNobodyWouldBelieve() throws {
    let alice = device(Self.alice)
    for (id, port) in [("two words", 4001), ("", 4001), ("NOTEBOOK", 0)] {
      let service = ServiceRecord.notebook(id: id, device: Self.alice, port: UInt16(port))
      #expect(throws: DiscoveryError.self) { try alice.publish(service) }
    }
    alice.stop()
  }

  private func endsWithStop() throws {
    let (alice, bob) = (device(Self.alice), device(Self.bob))
    let seen = EventLog<DiscoveryEvent>()
    try alice.browse(.notebook) { seen.append($0) }
    alice.stop()
    let count = seen.all.count
    try bob.publish(.notebook(id: Self.notebook, device: Self.bob, port: 4001))
    let witness = device("WITNESS")
    let witnessed = EventLog<DiscoveryEvent>()
    try witness.browse(.notebook) { witnessed.append($0) }
    try #require(witnessed.found(Self.bob) != nil)
    #expect(seen.all.count == count)
    #expect(throws: DiscoveryError.stopped) { try alice.browse(.notebook) { _ in } }
    for one in [bob, witness] { one.stop() }
  }
}

extension DiscoveryEvent {
  var foundPeer: DiscoveredPeer? { if case .found(let peer) = self { peer } else { nil } }
  var lostPeer: DiscoveredPeer? { if case .lost(let peer) = self { peer } else { nil } }
  var peer: DiscoveredPeer? { foundPeer ?? lostPeer }
}

extension EventLog<DiscoveryEvent> {
  func found(_ device: String) -> DiscoveredPeer? {
    next { $0.foundPeer?.deviceID == device }?.foundPeer
  }

  func lost(_ device: String) -> Bool { next { $0.lostPeer?.deviceID == device } != nil }
}
