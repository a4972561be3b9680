import Channel
import Git
import Membership
import Notebook
import State
import Synchronization
import TestSupport
import Testing

@testable import Exchange

/// notes-security(7) and notes-protocol(7), "A key on two machines".
@Suite("A key on two machines")
struct KeySharingTests {
  let ada: Device
  let bob: Device
  let clone: Device

  init() throws {
    ada = try Device(founding: "Ada")
    bob = try Device("Bob", certifiedBy: ada)
    clone = try Device(cloneOf: bob)
  }

  private func notice(_ device: Device) throws -> KeySharing.Notice? {
    try KeySharing(stateFolder: device.notebook().stateFolder).notice(of: device.key.deviceID)
  }

  /// Who meets Ada is told what she says; the names of those that the event names.
  private func meet(_ device: Device) throws -> [String?] {
    var told: [String?] = []
    let results = try withConnections(from: device, to: ada) { [context = ada.context] in
      try Session.run(on: $0, as: context)
    } call: { connection in
      try Session.run(on: connection, as: device.context) { event in
        if case .keyShared(_, let witness) = event { told.append(witness) }
      }
    }
    _ = try (results.called.get(), results.served.get())
    return told
  }

  @Test("a member that met both in turns tells both, and each event comes once an hour")
  func witness() throws {
    try bob.write("b\n", to: "bob.txt")
    #expect(try meet(bob).isEmpty)
    #expect(try meet(clone).isEmpty)
    // Now the first one comes back: it is no machine that was started anew.
    #expect(try meet(bob).isEmpty)
    #expect(try meet(clone) == ["Ada"])
    #expect(try meet(bob) == ["Ada"])
    #expect(try meet(bob).isEmpty)
    for device in [bob, clone] { #expect(try notice(device)?.witness == "Ada") }
    #expect(try notice(ada) == nil)
    // Nothing else changes.
    #expect(try clone.text("bob.txt") == "b\n")
  }

  /// notes-protocol(7): "If left of a device that connects for the first time names a former key, the side
  /// forgets the machines of that key."
  @Test("one that got a key of its own ends it, once")
  func left() throws {
    let folder = try TemporaryFolder()
    let sightings = PeerSightings(stateFolder: StateFolder(folder.path))
    for machine in [ObjectID.emptyTree, .emptyBlob, .emptyTree] {
      sightings.record("DEVICE", on: machine, now: 1_000)
    }
    #expect(sightings.sharing(of: "DEVICE", now: 1_000) != nil)
    let met = try #require(sightings.last(of: "DEVICE"))
    sightings.forgetMachines(of: "DEVICE")
    #expect(sightings.sharing(of: "DEVICE", now: 1_000) == nil)
    #expect(sightings.last(of: "DEVICE") == met)
    // The one that stays is no machine that came back.
    sightings.record("DEVICE", on: .emptyBlob, now: 1_001)
    #expect(sightings.sharing(of: "DEVICE", now: 1_001) == nil)
    sightings.forgetMachines(of: "NOBODY")
    #expect(sightings.last(of: "NOBODY") == nil)
    let sharing = KeySharing(stateFolder: StateFolder(folder.path))
    try sharing.leave("FORMER")
    _ = try sharing.record(KeySharing.Notice(time: 10, witness: nil), of: "A", now: 10)
    #expect(sharing.notice(of: "A", now: 10) != nil && sharing.left == "FORMER")
    try sharing.settle()
    #expect(sharing.notice(of: "A", now: 10) == nil && sharing.left == "FORMER")
  }

  @Test("a machine that is started anew is no other one")
  func startedAnew() throws {
    let folder = try TemporaryFolder()
    let sightings = PeerSightings(stateFolder: StateFolder(folder.path))
    let runs: [ObjectID] = [.emptyTree, .emptyBlob, .zero]
    for run in runs + [.zero] {
      sightings.record("DEVICE", on: run, now: 1_000)
      #expect(sightings.sharing(of: "DEVICE", now: 1_000) == nil)
    }
    sightings.record("DEVICE", on: nil, now: 1_000)
    #expect(sightings.last(of: "DEVICE") != nil)
    sightings.record("DEVICE", on: .emptyTree, now: 2_000)
    #expect(sightings.sharing(of: "DEVICE", now: 2_005) == 5)
    #expect(sightings.sharing(of: "DEVICE", now: 2_000 + 24 * 3600) == nil)
  }

  @Test("two machines that meet both learn of it, and exchange nothing")
  func meeting() throws {
    try bob.write("b\n", to: "bob.txt")
    #expect { try sync(bob, clone) } throws: { error in
      if case SyncError.keyShared = error { true } else { false }
    }
    for device in [bob, clone] {
      #expect(try notice(device) != nil)
      #expect(try notice(device)?.witness == nil)
    }
    #expect(!clone.exists("bob.txt"))
    #expect { try sync(bob, bob) } throws: { error in
      if case SyncError.ownAddress = error { true } else { false }
    }
  }

  @Test("it is told once an hour, and forgotten after a day")
  func pace() throws {
    let folder = try TemporaryFolder()
    let sharing = KeySharing(stateFolder: StateFolder(folder.path))
    let notice = KeySharing.Notice(time: 10_000, witness: nil)
    #expect(try sharing.record(notice, of: "A", now: 10_000))
    #expect(try !sharing.record(notice, of: "A", now: 13_000))
    #expect(try sharing.record(notice, of: "A", now: 13_700))
    // By a clock that was set back.
    #expect(try sharing.record(notice, of: "A", now: 12_000))
    #expect(sharing.notice(of: "A", now: 13_000) == notice)
    #expect(sharing.notice(of: "B", now: 13_000) == nil)
    #expect(sharing.notice(of: "A", now: 10_000 + 24 * 3600) == nil)
  }
}
