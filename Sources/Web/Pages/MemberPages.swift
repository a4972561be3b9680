internal import Exchange
internal import History
internal import Membership
internal import Notebook

/// The pages on which an admin changes a member's role or removes the member, as with notes-members(1).
extension RequestContext {
  func address(of member: Member) -> String { "\(root)/devices/member/\(member.deviceID)" }

  /// The member whose ID is in the path and whom this device may change.
  private func changeableMember(in context: SessionContext) throws -> Member {
    let (own, membership) = (context.key.deviceID, context.membership)
    guard membership.role(ofDevice: own) == .admin else {
      throw MembershipError.notAnAdmin(device: own)
    }
    guard let member = membership.member(ofDevice: request.path[2]) else {
      throw Refusal.noSuchMember
    }
    if member.deviceID == own { throw MembershipError.anotherAdminNeeded }
    if member.isFounder { throw MembershipError.founderIsPermanent }
    return member
  }

  func memberPage(in notebook: Notebook) throws -> HTML {
    let context = try site.sessionContext(of: notebook)
    let member = try changeableMember(in: context)
    let invited = try invitedChoice(by: member, context)
    return personPage(
      member.name, at: address(of: member), in: notebook,
      about: "<p>device <code>\(member.deviceID)</code></p>",
      role: "\(memberRoles(chosen: member.role))\(member.role == .admin ? invited : nil)",
      removal: """
        <p class="soft">It stops exchanging notes as soon as the devices it meets learn of the removal. It keeps \
        the notes it already has: those cannot be taken back.</p>
        \(invited)
        """)
  }

  /// The members whom the device invited, let in or made admins, directly or through others: they stay unless this
  /// box is ticked.
  private func invitedChoice(by member: Member, _ context: SessionContext) throws -> HTML? {
    let invited = try invited(by: member, context)
    if invited.isEmpty { return nil }
    let names = context.membership.members()
    let rows = invited.map { one -> HTML in
      let deed = one.deed { id in
        names.first { $0.deviceID == id }?.name ?? String(id.prefix(8))
      }
      return """
        <li><b>\(one.member.name)</b>, \(one.member.role.rawValue), \(String(one.member.deviceID.prefix(8))), \
        \(deed), \(time(one.issuedAt))</li>

        """
    }
    return """
      <p>Devices that it invited, let in or made admins, directly or through others:</p>
      <ul>
      \(rows)</ul>
      <label class="also"><input type="checkbox" name="invited" value="remove"> \
      \(invited.count == 1 ? "Also remove this device" : "Also remove these devices")</label>
      """
  }

  private func invited(by member: Member, _ context: SessionContext) throws -> [InvitedMember] {
    let inviters = try KnownOffers(context.notebook().stateFolder).inviters(in: context.membership)
    return context.membership.invited(by: member.deviceID, inviters: inviters).filter {
      $0.member.deviceID != context.key.deviceID
    }
  }

  /// The devices that the form also removes.
  private func alsoRemoved(with member: Member, _ context: SessionContext) throws -> [String] {
    guard request.form["invited"] == "remove" else { return [] }
    return try invited(by: member, context).map(\.member.deviceID)
  }

  func changeRole(in notebook: Notebook) throws -> Response {
    let context = try site.sessionContext(of: notebook)
    let member = try changeableMember(in: context)
    guard let role = request.form["role"].flatMap(Role.init(rawValue:)) else {
      throw Refusal.brokenForm
    }
    guard role != member.role else { return .see("\(root)/devices?done=same") }
    let others = member.role == .admin ? try alsoRemoved(with: member, context) : []
    try context.membership.reissue(
      device: member.deviceID, role: role, removing: others, by: context.key)
    return .see("\(root)/devices?done=role")
  }

  func removeMember(in notebook: Notebook) throws -> Response {
    let context = try site.sessionContext(of: notebook)
    let member = try changeableMember(in: context)
    let others = try alsoRemoved(with: member, context)
    try context.membership.remove(devices: [member.deviceID] + others, by: context.key)
    return .see("\(root)/devices?done=removed")
  }
}
