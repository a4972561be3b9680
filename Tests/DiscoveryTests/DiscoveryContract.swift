import Discovery
import TestSupport
import Testing

/// What every implementation of `Discovery` promises, checked on two devices of one network.
struct DiscoveryContract {
  /// Makes the discovery of the device of this ID.
  let device: (String) -> any Discovery
  /// Devices of its own for each rule: the goodbye of the rule before may still be on its way.
  let number: Int

  var aliceID: String { "ALICE\(number)" + String(repeating: "A", count: 46) }
  var bobID: String { "BOB\(number)" + String(repeating: "B", count: 48) }
  var notebookID: String { "NOTEBOOK\(number)" + String(repeating: "N", count: 43) }

  static func check(_ device: @escaping (String) -> any Discovery) throws {
    let rules = [
      findsWhatIsThereAndWhatComes, losesWhatIsWithdrawn, losesWhatStops, neverReportsItself,
      keepsInvitationsApart, mergesServicesOfOneDevice, refusesWhatNobodyWouldBelieve, endsWithStop,
      mayBeStoppedByItsHandler,
    ]
    for (number, rule) in rules.enumerated() {
      try rule(DiscoveryContract(device: device, number: number))()
    }
  }

  private func findsWhatIsThereAndWhatComes() throws {
    let (alice, bob, carol) = (device(aliceID), device(bobID), device("CAROL"))
    let before = ServiceRecord.notebook(id: notebookID, device: bobID, port: 4001)
    try bob.publish(before)
    let seen = EventLog<DiscoveryEvent>()
    try alice.browse(.notebook) { seen.append($0) }
    let found = try #require(seen.found(bobID))
    #expect(found.kind == .notebook)
    #expect(found.notebookID == notebookID)
    #expect(found.protocolVersion == ServiceRecord.currentProtocolVersion)
    #expect(found.locator == nil)
    #expect(found.addresses.allSatisfy { $0.port == 4001 && !$0.host.isEmpty })
    #expect(seen.next { $0 == .settled } != nil)

    try carol.publish(.notebook(id: "other", device: "CAROL", port: 4002))
    #expect(seen.found("CAROL")?.notebookID == "other")
    for one in [alice, bob, carol] { one.stop() }
  }

  private func losesWhatIsWithdrawn() throws {
    let (alice, bob) = (device(aliceID), device(bobID))
    let seen = EventLog<DiscoveryEvent>()
    try alice.browse(.notebook) { seen.append($0) }
    let service = ServiceRecord.notebook(id: notebookID, device: bobID, port: 4001)
    try bob.publish(service)
    try #require(seen.found(bobID) != nil)
    bob.withdraw(service)
    #expect(seen.lost(bobID))
    try bob.publish(service)
    #expect(seen.found(bobID) != nil)
    for one in [alice, bob] { one.stop() }
  }

  private func losesWhatStops() throws {
    let (alice, bob) = (device(aliceID), device(bobID))
    let seen = EventLog<DiscoveryEvent>()
    try alice.browse(.notebook) { seen.append($0) }
    try bob.publish(.notebook(id: notebookID, device: bobID, port: 4001))
    try #require(seen.found(bobID) != nil)
    bob.stop()
    #expect(seen.lost(bobID))
    alice.stop()
  }

  private func neverReportsItself() throws {
    let (alice, again, bob) = (device(aliceID), device(aliceID), device(bobID))
    let seen = EventLog<DiscoveryEvent>()
    try alice.browse(.notebook) { seen.append($0) }
    try alice.publish(.notebook(id: notebookID, device: aliceID, port: 4001))
    // Another process of the same device, say a watcher.
    try again.publish(.notebook(id: notebookID, device: aliceID, port: 4003))
    try bob.publish(.notebook(id: notebookID, device: bobID, port: 4002))
    try #require(seen.found(bobID) != nil)
    #expect(seen.all.allSatisfy { $0.peer?.deviceID != aliceID })
    for one in [alice, again, bob] { one.stop() }
  }

  private func keepsInvitationsApart() throws {
    let (alice, bob) = (device(aliceID), device(bobID))
    let seen = EventLog<DiscoveryEvent>()
    try alice.browse(.invitation) { seen.append($0) }
    try bob.publish(.notebook(id: notebookID, device: bobID, port: 4001))
    let services = ["07", "08"].map {
      ServiceRecord.invitation(
        locator: $0, notebook: notebookID, device: bobID, port: 4001)
    }
    for service in services { try bob.publish(service) }
    #expect(
      seen.wait { events in
        Set(events.compactMap(\.peer).filter { $0.deviceID == bobID }.map(\.locator)) == [
          "07", "08",
        ]
      })
    bob.withdraw(services[0])
    #expect(seen.lost(bobID))
    #expect(seen.all.allSatisfy { $0.peer?.kind != .notebook })
    #expect(
      seen.all.compactMap(\.lostPeer).filter { $0.deviceID == bobID }.map(\.locator) == ["07"])
    for one in [alice, bob] { one.stop() }
  }

  private func mergesServicesOfOneDevice() throws {
    let (alice, bob, again) = (device(aliceID), device(bobID), device(bobID))
    let seen = EventLog<DiscoveryEvent>()
    try alice.browse(.notebook) { seen.append($0) }
    try bob.publish(.notebook(id: notebookID, device: bobID, port: 4001))
    try again.publish(.notebook(id: notebookID, device: bobID, port: 4002))
    // The two have the same name at first: the second gets another.
    let both = seen.next { $0.foundPeer.map { Set($0.addresses.map(\.port)) } == [4001, 4002] }
    #expect(both != nil)
    again.stop()
    #expect(seen.next { $0.foundPeer.map { Set($0.addresses.map(\.port)) } == [4001] } != nil)
    #expect(seen.all.allSatisfy { $0.lostPeer?.deviceID != bobID })
    for one in [alice, bob] { one.stop() }
  }

  private func refusesWhatNobodyWouldBelieve() throws {
    let alice = device(aliceID)
    for (id, port) in [("two words", 4001), ("", 4001), ("NOTEBOOK", 0)] {
      let service = ServiceRecord.notebook(id: id, device: aliceID, port: UInt16(port))
      #expect(throws: DiscoveryError.self) { try alice.publish(service) }
    }
    alice.stop()
  }

  private func endsWithStop() throws {
    let (alice, bob) = (device(aliceID), device(bobID))
    let seen = EventLog<DiscoveryEvent>()
    try alice.browse(.notebook) { seen.append($0) }
    alice.stop()
    let count = seen.all.count
    try bob.publish(.notebook(id: notebookID, device: bobID, port: 4001))
    let witness = device("WITNESS")
    let witnessed = EventLog<DiscoveryEvent>()
    try witness.browse(.notebook) { witnessed.append($0) }
    try #require(witnessed.found(bobID) != nil)
    #expect(seen.all.count == count)
    #expect(throws: DiscoveryError.stopped) { try alice.browse(.notebook) { _ in } }
    for one in [bob, witness] { one.stop() }
  }

  private func mayBeStoppedByItsHandler() throws {
    let (alice, bob) = (device(aliceID), device(bobID))
    let seen = EventLog<DiscoveryEvent>()
    try alice.browse(.notebook) { [id = bobID] event in
      guard event.foundPeer?.deviceID == id else { return }
      alice.stop()
      seen.append(event)
    }
    try bob.publish(.notebook(id: notebookID, device: bobID, port: 4001))
    #expect(seen.found(bobID) != nil)
    bob.stop()
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
