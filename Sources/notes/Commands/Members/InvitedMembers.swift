internal import Exchange
internal import Membership
internal import Notebook

/// The members whom an admin's devices invited, let in or made admins, directly or through others: listed when
/// these devices are removed or lose the admin role. The device that runs the command is not included.
struct InvitedMembers {
  private let members: [InvitedMember]
  /// The names of all devices, by ID.
  private let allNames: [String: String]

  init(by change: MembershipChange) throws {
    let inviters = try KnownOffers(change.notebook.stateFolder).inviters(in: change.membership)
    var seen = Set(change.members.map(\.deviceID) + [change.key.deviceID])
    members = change.members.flatMap {
      change.membership.invited(by: $0.deviceID, inviters: inviters)
    }.filter { seen.insert($0.member.deviceID).inserted }
    allNames = Dictionary(
      change.membership.members().map { ($0.deviceID, $0.name) },
      uniquingKeysWith: { first, _ in first })
  }

  var isEmpty: Bool { members.isEmpty }

  /// The members' device IDs.
  var devices: [String] { members.map(\.member.deviceID) }

  /// The most names that are listed: such a member may have invited very many.
  private static let mostNames = 20

  /// The first names, made visible.
  var names: [String] {
    let first = members.prefix(Self.mostNames).map { Visible.name($0.member.name) }
    return rest > 0 ? first + ["\(Phrase.number(rest)) more"] : first
  }

  private var rest: Int { members.count - Self.mostNames }

  /// Asks on a terminal whether to remove these devices as well. Without a terminal they stay.
  ///
  /// - Parameter expected: the default; nil if the user must decide, as when a device is removed. A stolen device may
  ///   have invited only itself under other names; a founder that leaves, the whole family.
  func confirmRemoval(byDefault expected: Bool?) throws(Failure) -> Bool {
    guard !isEmpty, Console.canAsk else { return false }
    return try Console.confirm(
      "Devices that it invited, let in or made admins, directly or through others:\n\(lines)Remove "
        + "\(members.count == 1 ? "this one" : "these") as well?", byDefault: expected)
  }

  /// The sentence about the members who stay; empty if there are none.
  var staying: String {
    isEmpty
      ? ""
      : "\nDevices that it invited, let in or made admins, directly or through others, are still members:\n"
        + String(lines.dropLast())
  }

  func json(removed: Bool) -> JSON {
    ["with": removed ? members.map(json) : [], "stay": removed ? [] : members.map(json)]
  }

  /// A line for each of the first members.
  private var lines: String {
    table + (rest > 0 ? "  and \(Phrase.number(rest)) more\n" : "")
  }

  private var table: String {
    Table(
      flexible: 0,
      rows: members.prefix(Self.mostNames).map { one in
        let deed = one.deed { allNames[$0].map { Visible.name($0) } ?? String($0.prefix(8)) }
        return [
          Styled("  " + Visible.name(one.member.name)), Styled(one.member.role.rawValue),
          Styled(String(one.member.deviceID.prefix(8))),
          Styled(deed + " " + TimeText.relative(one.issuedAt, now: TimeText.now)),
        ]
      }
    ).text(on: Console.errors)
  }

  private func json(_ one: InvitedMember) -> JSON {
    [
      "name": one.member.name, "device": one.member.deviceID, "role": one.member.role.rawValue,
      "issued_by": one.issuedBy, "issued_by_name": allNames[one.issuedBy],
      "invited_by": one.invitedBy, "invited_by_name": one.invitedBy.flatMap { allNames[$0] },
      "since": TimeText.rfc3339(one.issuedAt), "made_admin": one.wasMadeAdmin,
    ]
  }
}
