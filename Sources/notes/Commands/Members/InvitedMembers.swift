internal import Membership

/// Whom an admin's device invited or made an admin, directly or through those: listed where that device
/// goes or is made less than an admin. The device that the command runs on is not among them.
struct InvitedMembers {
  private let members: [InvitedMember]
  /// Of all devices, by their IDs.
  private let allNames: [String: String]

  init(by change: MembershipChange) {
    members = change.membership.invited(by: change.member.deviceID).filter {
      $0.member.deviceID != change.key.deviceID
    }
    allNames = Dictionary(
      change.membership.members().map { ($0.deviceID, $0.name) },
      uniquingKeysWith: { first, _ in first })
  }

  var isEmpty: Bool { members.isEmpty }

  /// Their IDs.
  var devices: [String] { members.map(\.member.deviceID) }

  /// Their names, fit to be shown.
  var names: [String] { members.map { Visible.name($0.member.name) } }

  /// Asks on a terminal whether they go, too; elsewhere they stay.
  func confirmRemoval() -> Bool {
    guard !isEmpty, Console.canAsk else { return false }
    return Console.confirm(
      "It invited, or made an admin, itself or through others:\n\(lines)"
        + "Remove \(members.count == 1 ? "this one" : "these"), too?", byDefault: false)
  }

  /// What the report says of those who stay, empty where there are none.
  var staying: String {
    isEmpty
      ? ""
      : "\nStill members, whom it invited or made an admin, itself or through others:\n"
        + String(lines.dropLast())
  }

  func json(removed: Bool) -> JSON {
    ["with": removed ? members.map(json) : [], "stay": removed ? [] : members.map(json)]
  }

  /// A line each.
  private var lines: String {
    Table(
      flexible: 0,
      rows: members.map { one in
        let issuer =
          allNames[one.issuedBy].map { Visible.name($0) } ?? String(one.issuedBy.prefix(8))
        return [
          Styled("  " + Visible.name(one.member.name)), Styled(one.member.role.rawValue),
          Styled(String(one.member.deviceID.prefix(8))),
          Styled(
            (one.wasMadeAdmin ? "made an admin by " : "invited by ") + issuer + " "
              + TimeText.relative(one.issuedAt, now: TimeText.now)),
        ]
      }
    ).text(on: Console.errors)
  }

  private func json(_ one: InvitedMember) -> JSON {
    [
      "name": one.member.name, "device": one.member.deviceID, "role": one.member.role.rawValue,
      "issued_by": one.issuedBy, "issued_by_name": allNames[one.issuedBy],
      "since": TimeText.rfc3339(one.issuedAt), "made_admin": one.wasMadeAdmin,
    ]
  }
}
