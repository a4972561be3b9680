internal import ArgumentParser
internal import Exchange
internal import Membership
internal import Notebook

/// The people whom one command invites, a code or link for each.
struct InvitedPeople {
  /// The people, in the order of the command line.
  let all: [InvitedPerson]

  /// Throws if the options exclude each other.
  init(count: Int?, names: [String], mine: Bool) throws(ValidationError) {
    if count != nil, !names.isEmpty {
      throw ValidationError("--count and --name exclude each other: each --name is an invitation.")
    }
    if mine, !names.isEmpty {
      throw ValidationError("--name and --mine exclude each other: --mine invites no other person.")
    }
    let most = Invitation.mostAtOnce
    guard (1...most).contains(count ?? 1), names.count <= most else {
      throw ValidationError("From 1 to \(most) people can be invited at once.")
    }
    for name in names {
      do {
        try DisplayName.check(name)
      } catch {
        throw ValidationError("--name: \(error)")
      }
    }
    if Set(names.map { $0.lowercased() }).count < names.count {
      throw ValidationError("two --name options have the same name.")
    }
    all =
      names.isEmpty
      ? Array(repeating: mine ? .own : .unnamed, count: count ?? 1)
      : names.map { .new(name: $0) }
  }

  /// Whether the command invites one person, without a name.
  var isPlain: Bool { all.count == 1 && all[0].name == nil }

  /// Whether all are devices of the inviter's own person.
  private var areOwn: Bool { all.allSatisfy { $0 == .own } }

  /// The role in which the people are invited: a writer's, or for devices of a member that is not an admin, the
  /// member's own. Throws if this device may not invite them in that role.
  func role(_ wanted: Role?, by context: SessionContext) throws(Failure) -> Role {
    let (membership, device) = (context.membership, context.key.deviceID)
    guard let own = membership.role(ofDevice: device) else {
      let former = membership.members().first { $0.deviceID == device }
      throw Failure(
        describing: former.map { MembershipError.removed(device: device, name: $0.name) }
          ?? .notAMember(device: device))
    }
    guard own < .admin, areOwn else {
      try membership.demandAdmin(device)
      return wanted ?? .writer
    }
    if let wanted, wanted > own {
      throw .usage(
        "this device is \(own.withArticle): it cannot ask for \(wanted.withArticle)",
        hint: "add --role \(own.rawValue), or ask an admin")
    }
    return wanted ?? own
  }

  /// All people. Throws if a member has one of their names, or is already invited by it.
  func checked(by context: SessionContext) throws -> [InvitedPerson] {
    let membership = context.membership
    let members = membership.members().filter { !$0.isRemoved }
    let names = all.compactMap(\.name)
    for name in names {
      guard let taken = members.first(where: { $0.isCalled(name) }) else { continue }
      let owner = taken.person.isCalled(name) ? "person" : "device"
      throw Failure(
        .failed, "name_taken", "another \(owner) is already called \(Visible.name(name))",
        hint:
          "choose another name; 'notes members' lists those in use. If it is the same person, run "
          + "'notes invite --mine' on their device")
    }
    if names.isEmpty { return all }
    let open = try KnownOffers(context.notebook().stateFolder).all(in: membership)
      .filter { $0.status == .open }.map(\.offer)
    for name in names {
      let former = open.first { $0.person.name?.lowercased() == name.lowercased() }
      guard let id = former?.id.short else { continue }
      throw Failure(
        .failed, "name_taken", "invitation \(id) for \(Visible.name(name)) is still open",
        hint: "'notes invitations cancel \(id)' cancels it; or choose another name")
    }
    return all
  }
}
