internal import Membership

/// The notice that a key handed the notebook over twice: notes-members(1), `handover`.
struct HandedOverTwice {
  /// The device ID of the former founder.
  let former: String
  /// The device ID of the heir whose handover does not count here.
  let otherHeir: String
  /// For people; lower case, no full stop.
  let message: String

  static let remedy =
    "'notes members' shows the founder on each device; 'notes members reset' starts the membership over"

  /// The notices of a notebook.
  static func all(in membership: MembershipStore) throws -> [HandedOverTwice] {
    let names = Dictionary(membership.members().map { ($0.deviceID, $0.name) }) { first, _ in first
    }
    func name(_ device: String) -> String {
      "\(names[device].map { Visible.name($0) } ?? "a device") (\(device.prefix(8)))"
    }
    return try membership.secondHandovers().map { second in
      HandedOverTwice(
        former: second.former.deviceID, otherHeir: second.otherHeir,
        message:
          "\(Visible.name(second.former.name)) handed over twice, so its key is on two machines or stolen: "
          + "here \(name(second.heir)) got the notebook, on other devices \(name(second.otherHeir))"
      )
    }
  }
}
