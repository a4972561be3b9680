internal import Membership
internal import Notebook

/// Another device to which a member connected, by the member's report: notes-protocol(7), hello, `met`.
struct CarriedMeeting: Codable, Sendable, Hashable {
  let device: String
  /// How many whole days ago the member was last connected to the device.
  let days: Int64

  /// The largest number of days.
  static let mostDays: Int64 = 9_999

  func validate() throws {
    try MessageRules.check(name: device)
    guard (0...Self.mostDays).contains(days) else {
      throw SyncError.protocolBroken("a meeting of another time")
    }
  }
}

/// Exchanges the reports about other present members: when each side was last connected to them.
struct MeetingNotice: Notice {
  let scene: NoticeScene

  private var sightings: PeerSightings { PeerSightings(stateFolder: scene.notebook.stateFolder) }

  func add(to hello: inout HelloMessage) {
    let two = [scene.context.key.deviceID, scene.peer.deviceID]
    let told = scene.context.membership.members().filter {
      !$0.isRemoved && !$0.isBlocked && !two.contains($0.deviceID)
    }
    hello.met = sightings.said(of: told.map(\.deviceID))
  }

  func received(_ hello: HelloMessage) {
    if let met = hello.met { sightings.record(met, of: scene.peer.deviceID) }
  }
}
