import Channel
import History
import Membership
import Notebook
import State
import TestSupport
import Testing

@testable import Exchange

/// notes-security(7), "Removal", as devices learn of it: over real TLS, from each other.
@Suite("Changes of the membership travel with sessions")
struct MembershipTravelTests {
  let ada: Device
  let bob: Device
  let eve: Device

  init() throws {
    ada = try Device(founding: "Ada")
    bob = try Device("Bob", certifiedBy: ada)
    eve = try Device("Eve", certifiedBy: ada)
    try ada.write("a\n", to: "ada.txt")
    for device in [bob, eve] { _ = try sync(device, ada) }
  }

  private func state(of device: Device, on other: Device) throws -> String {
    try other.context.membership.refresh()
    guard
      let member = other.context.membership.members().first(where: {
        $0.deviceID == device.key.deviceID
      })
    else { return "unknown" }
    return member.isRemoved ? "removed" : "\(member.name) \(member.role.rawValue)"
  }

  @Test("a role and a name reach a device through a third one")
  func throughThirdParties() throws {
    let membership = ada.context.membership
    try membership.reissue(device: eve.key.deviceID, name: "Eva", role: .reader, by: ada.key)
    _ = try sync(bob, ada)
    #expect(try state(of: eve, on: bob) == "Eva reader")
    // Eve still presents her old certificate, and gets in to receive the new one.
    #expect(try state(of: eve, on: eve) == "Eve writer")
    try eve.write("e\n", to: "eve.txt")
    _ = try sync(eve, bob)
    #expect(try state(of: eve, on: eve) == "Eva reader")
    #expect(try eve.notebook().identity.device.name == "Eva")
    // "A reader's device offers nothing and nobody takes anything from it", in the same session.
    #expect(!bob.exists("eve.txt"))
    #expect(eve.exists("eve.txt"))
  }

  // notes-security(7), "The notebook's name".
  @Test("the notebook's name reaches a device through a third one")
  func nameThroughThirdParties() throws {
    try ada.context.membership.rename(notebook: "Our home", by: ada.key)
    _ = try sync(bob, ada)
    _ = try sync(eve, bob)
    for device in [bob, eve] {
      #expect(device.context.membership.notebookName == "Our home")
      #expect(try device.notebook().identity.name == "Our home")
    }
  }

  @Test("a device removed while away is told at its next contact, and keeps its notes")
  func removedWhileAway() throws {
    try ada.context.membership.remove(devices: [eve.key.deviceID], by: ada.key)
    _ = try sync(bob, ada)
    try eve.write("e\n", to: "eve.txt")
    try bob.write("b\n", to: "bob.txt")
    let results = try withConnections(from: eve, to: bob) { [context = bob.context] connection in
      try Session.run(on: connection, as: context).receivedVersions
    } call: { connection in
      try Session.run(on: connection, as: eve.context).receivedVersions
    }
    #expect { try results.served.get() } throws: { error in
      if case ChannelError.certificateRefused(.removed) = error { true } else { false }
    }
    #expect { try results.called.get() } throws: { error in
      if case ChannelError.refusedByPeer(.removed) = error { true } else { false }
    }
    #expect(try eve.text("eve.txt") == "e\n" && eve.text("ada.txt") == "a\n")
    #expect(!eve.exists("bob.txt") && !bob.exists("eve.txt"))
    #expect(try TestSupport.run(["git", "-C", eve.notes, "fsck", "--strict"]).isSuccess)
  }

  @Test("a removal by one admin reaches another through a member")
  func removalThroughAMember() throws {
    // Carol removes Eve while Ada is away.
    let carol = try Device("Carol", certifiedBy: ada, as: .admin)
    for device in [bob, eve] { _ = try sync(device, ada) }
    try carol.context.membership.remove(devices: [eve.key.deviceID], by: carol.key)
    _ = try sync(carol, bob)
    try eve.write("e\n", to: "eve.txt")
    let tip = try ada.tip()
    // Ada hears of it from Bob, not from Carol.
    _ = try sync(ada, bob)
    #expect(throws: (any Error).self) { try sync(eve, ada) }
    #expect(try ada.tip() == tip && !ada.exists("eve.txt"))
    #expect(try state(of: eve, on: ada) == "removed")
  }

  @Test("removal wins over a change made elsewhere at the same time, whoever is met first")
  func removalWins() throws {
    let carol = try Device("Carol", certifiedBy: ada, as: .admin)
    _ = try sync(bob, carol)
    try carol.context.membership.remove(devices: [eve.key.deviceID], by: carol.key)
    try ada.context.membership.reissue(device: eve.key.deviceID, role: .admin, by: ada.key)
    let dan = try Device("Dan", certifiedBy: ada)
    _ = try sync(bob, carol)
    _ = try sync(bob, ada)
    _ = try sync(dan, bob)
    for device in [ada, bob, dan] { #expect(try state(of: eve, on: device) == "removed") }
    #expect(throws: (any Error).self) { try sync(eve, dan) }
  }

  @Test("two admins who remove each other are both out, alike everywhere")
  func mutualRemoval() throws {
    let first = try Device("First", certifiedBy: ada, as: .admin)
    let second = try Device("Second", certifiedBy: ada, as: .admin)
    _ = try sync(first, second)
    _ = try sync(bob, second)
    _ = try sync(eve, second)
    try first.context.membership.remove(devices: [second.key.deviceID], by: first.key)
    try second.context.membership.remove(devices: [first.key.deviceID], by: second.key)
    // Each meets somebody who knows nothing yet; those two meet then.
    _ = try sync(bob, first)
    _ = try sync(eve, second)
    _ = try sync(bob, eve)
    _ = try sync(ada, eve)
    for device in [ada, bob, eve] {
      #expect(try state(of: first, on: device) == "removed")
      #expect(try state(of: second, on: device) == "removed")
      for admin in [first, second] { #expect(throws: (any Error).self) { try sync(admin, device) } }
    }
  }

  @Test("a disk error here does not make a stranger of a member")
  func brokenStore() throws {
    let store = bob.notes + "/.git/notes/membership"
    let context = bob.context
    // Bob's process has the membership open when its folder goes away.
    let results = try withConnections(from: eve, to: bob) { connection in
      try Session.run(on: connection, as: context).receivedVersions
    } call: { connection in
      try Session.run(on: connection, as: eve.context).receivedVersions
    } before: {
      _ = try TestSupport.run(["mv", store, store + ".away"])
    }
    #expect { try results.served.get() } throws: { error in
      if case ChannelError.verificationFailed = error { true } else { false }
    }
    #expect { try results.called.get() } throws: { error in
      if case ChannelError.peerFailed = error { true } else { false }
    }
  }

  @Test("who was met is remembered with the time")
  func sightings() throws {
    let seen = PeerSightings(stateFolder: StateFolder(ofNotebookIn: ada.notes))
    let last = try #require(seen.last(of: bob.key.deviceID))
    #expect(abs(last - WallClock.now()) < 60)
    #expect(seen.last(of: ada.key.deviceID) == nil)
    #expect(seen.last(of: "../notebook") == nil)
  }
}
