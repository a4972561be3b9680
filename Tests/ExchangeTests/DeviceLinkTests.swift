import Channel
import Git
import Membership
import System
import TestSupport
import Testing
import WorkTree

@testable import Exchange

/// Wire/DeviceLink.swift: what one side says, the other hears as the same; and no notebook is asked.
@Suite("A link to a device", .timeLimit(.minutes(1)))
struct DeviceLinkTests {
  let ada: Device
  let bob: Device

  init() throws {
    ada = try Device(founding: "Ada")
    bob = try Device("Bob", certifiedBy: ada)
  }

  private struct NoPlace: Error {}

  private static func link(_ connection: Connection, to device: Device) throws -> DeviceLink {
    let peer = PeerIdentity(
      name: device.name, deviceID: device.context.key.deviceID, role: .writer, address: "")
    return try DeviceLink(
      MessageStream(connection: connection, timeouts: .forTests), to: peer, ends: true,
      quarantine: { throw NoPlace() }, report: { _ in })
  }

  /// What Bob hears of what Ada says, until it closes.
  private func heard(_ say: (DeviceLink) throws -> Void) throws -> [LinkEvent] {
    nonisolated(unsafe) let (ada, bob) = (ada, bob)
    let results = try withConnections(from: ada, to: bob) { connection in
      let link = try Self.link(connection, to: ada)
      nonisolated(unsafe) var events: [LinkEvent] = []
      do {
        while true {
          if let event = try link.next(until: .now + 20, isPatient: false) { events.append(event) }
        }
      } catch SyncError.peerEnded(.done, _) {
        link.close(after: nil)
      }
      return Box(events: events)
    } call: { connection in
      let link = try Self.link(connection, to: bob)
      try say(link)
      link.close(after: nil)
    }
    try results.called.get()
    return try results.served.get().events
  }

  private struct Box: @unchecked Sendable { let events: [LinkEvent] }

  private let ids = ["1", "2", "3"].compactMap { ObjectID(hex: String(repeating: $0, count: 40)) }

  @Test("carries what is shown, answered, asked for and told")
  func carries() throws {
    let shown = Shown(tip: ids[0], heads: [ids[0]])
    let events = try heard {
      try $0.send(.shows(shown))
      try $0.send(.answer(shown, heard: 3, received: 1, conflicts: 0, refusal: .massDeletion))
      try $0.send(.notice(Remark(message: EditingMessage(["a.txt"]))))
      // The list that was not sent yet is out of date.
      try $0.send(.notice(Remark(message: EditingMessage(["b.txt"]))))
      try $0.send(.want([ids[1]], known: [ids[2]]))
    }
    try #require(events.count == 4)
    guard case .shows(shown) = events[0],
      case .answered(shown, heard: 3, refusal: .massDeletion) = events[1],
      case .notice(let remark) = events[2], case .asked([ids[1]], known: [ids[2]]) = events[3]
    else {
      Issue.record("\(events)")
      return
    }
    #expect((remark.message as? EditingMessage)?.notes == ["b.txt"])
  }

  // notes-protocol(7), "Exchanging versions": "If it has already asked for other
  // heads, it first waits for their pack."
  @Test("who asks again before it has what it asked for breaks the protocol")
  func asksTwice() throws {
    #expect {
      _ = try heard {
        try $0.send(.want([ids[1]], known: []))
        try $0.send(.want([ids[2]], known: []))
      }
    } throws: {
      if case SyncError.protocolBroken = $0 { true } else { false }
    }
  }
}
