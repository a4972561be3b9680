internal import History
public import Membership
public import Notebook

/// A claim of the founder's place as this device knows it, with the names for people: notes-members(1), `handover`.
public struct ClaimNews: Codable, Hashable, Sendable {
  /// The claim's state on this device.
  public enum State: String, Codable, Sendable {
    case open, stopped
    /// The claimer is the founder on this device.
    case accepted
    /// The claimer is the founder on this device, and other devices have another founder.
    case contested
  }

  /// The claimer's name and device ID.
  public let name: String
  public let device: String
  /// The name of the founder whose place is claimed, nil if it is unknown, and its device ID.
  public let founderName: String?
  public let founder: String
  public let state: State
  /// On how many more days this device must hear others before it accepts an open claim; nil for another one.
  public let days: Int?
  /// The names of the devices that stopped the claim.
  public let stoppers: [String]
  /// Whether this device is the claimer.
  public let isOwn: Bool

  /// Whether the claimer is the founder on this device.
  public var isAccepted: Bool { [.accepted, .contested].contains(state) }

  /// The claim and its state, without names and days, which change.
  package var key: [String] { [founder, device, state.rawValue] }

  /// The claims that a device has seen, as `MembershipStore.claims` sorts them.
  public static func all(in membership: MembershipStore, for own: String) throws -> [ClaimNews] {
    let names = Dictionary(membership.members().map { ($0.deviceID, $0.name) }) { first, _ in first
    }
    return try membership.claims().map { claim in
      let (state, days): (State, Int?) =
        switch claim.state {
        case .open(let days): (.open, days)
        case .stopped: (.stopped, nil)
        case .accepted(let isContested): (isContested ? .contested : .accepted, nil)
        }
      let stoppers = if case .stopped(let by) = claim.state { by } else { [String]() }
      return ClaimNews(
        name: claim.claimer.name, device: claim.claimer.deviceID,
        founderName: names[claim.founderID], founder: claim.founderID, state: state, days: days,
        stoppers: stoppers.map { names[$0] ?? String($0.prefix(8)) },
        isOwn: claim.claimer.deviceID == own)
    }
  }

  /// The claims of a notebook that has seen some; none if it has seen none, without reading the list of members.
  public static func all(in notebook: Notebook) throws -> [ClaimNews] {
    guard try MembershipStore.hasClaims(at: notebook.stateFolder) else { return [] }
    let membership = try MembershipStore.open(
      in: MembershipStore.folder(ofNotebookAt: notebook.stateFolder))
    return try all(in: membership, for: notebook.identity.device.deviceID)
  }
}
