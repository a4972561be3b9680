internal import Exchange
internal import Membership
internal import Notebook

/// The notice that a hub showed a member another history than this device: notes-hub(7), "A hub
/// that shows two histories".
struct HubDifferenceNotice {
  private let difference: HubSightings.Difference
  /// The member's name.
  private let name: String

  /// The known differences, without those of removed members.
  static func all(in notebook: Notebook) throws -> [HubDifferenceNotice] {
    let differences = try HubSightings(of: notebook).differences(in: notebook)
    if differences.isEmpty { return [] }
    let members = try notebook.membership().members()
    return differences.compactMap { difference in
      guard let member = members.first(where: { $0.deviceID == difference.device }),
        !member.isRemoved
      else { return nil }
      return HubDifferenceNotice(difference: difference, name: member.name)
    }
  }

  var json: JSON {
    [
      "hub": difference.hub, "name": name, "device": difference.device,
      "what": difference.kind.rawValue, "tip": difference.tip, "peer_tip": difference.peerTip,
    ]
  }

  /// The message in lower case, without a full stop.
  var message: String {
    let (hub, other) = (Visible.name(difference.hub), Visible.name(name))
    return switch difference.kind {
    case .split: "the hub \(hub) showed \(other) and this device different histories"
    case .olderThere: "the hub \(hub) showed \(other) an older version than it already had"
    case .olderHere:
      "the hub \(hub) showed this device an older version than it had already shown \(other)"
    case .membersOlderThere:
      "the hub \(hub) showed \(other) an older list of members than it already had"
    case .membersOlderHere:
      "the hub \(hub) showed this device an older list of members than it had already shown "
        + "\(other)"
    }
  }

  static let remedy =
    "unless you set the hub back, ask its owner; 'notes sync' on both devices merges all versions"
}
