internal import Exchange
internal import History
internal import Membership
internal import Notebook

/// A member's role and removal: the actions of notes-members(1), each after a page that explains
/// it.
extension RequestContext {
  func address(of member: Member, _ more: String = "") -> String {
    "\(root)/devices/member/\(member.deviceID)\(more)"
  }

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
    let member = try changeableMember(in: site.sessionContext(of: notebook))
    return layout(member.name, name: notebook.identity.name) {
      """
      \(reachedHeading(member.name))
      <p>\(member.role.rawValue), device <code>\(member.deviceID)</code></p>
      <form method="get" action="\(address(of: member, "/role"))" class="edit">
      <fieldset><legend class="label">Role</legend>
      \(roleChoices(named: "to", chosen: member.role))
      </fieldset>
      <p><button class="btn main">Change the role …</button></p>
      </form>
      <p><a class="btn bad" href="\(address(of: member, "/remove"))">Remove \(member.name) from the notebook …</a></p>
      <p><a class="btn plain" href="\(root)/devices">All devices</a></p>
      """
    }
  }

  /// Explains the change of a role, and asks.
  func rolePage(in notebook: Notebook) throws -> HTML {
    let context = try site.sessionContext(of: notebook)
    let member = try changeableMember(in: context)
    guard let role = request.query["to"].flatMap(Role.init(rawValue:)) else {
      throw Refusal.brokenForm
    }
    let (now, then) = (member.role.withArticle, role.withArticle)
    if role == member.role { throw Refusal.sameRole(then) }
    let meaning =
      switch role {
      case .reader: "It receives the notes; what is written there from then on stays there."
      case .writer: "It receives the notes, and sends what is written there."
      case .admin: "It also invites and removes devices, and changes roles, this device's included."
      }
    let invited = member.role == .admin ? invitedChoice(by: member, context) : nil
    return layout("Role of \(member.name)", name: notebook.identity.name) {
      """
      \(reachedHeading("\(member.name) as \(then)"))
      <p><b>\(member.name)</b>, which is \(now), will be \(then). \(meaning) \
      Other devices learn it at their next sync.</p>
      <form method="post" action="\(address(of: member, "/role"))" class="edit">
      <input type="hidden" name="role" value="\(role.rawValue)">
      \(invited)
      <p class="acts"><button class="btn main">Make it \(then)</button> <a class="btn" data-leave href="\(address(of: member))">Cancel</a></p>
      </form>
      """
    }
  }

  /// Explains a removal, and asks.
  func removalPage(in notebook: Notebook) throws -> HTML {
    let context = try site.sessionContext(of: notebook)
    let member = try changeableMember(in: context)
    return layout("Remove \(member.name)", name: notebook.identity.name) {
      """
      \(reachedHeading("Remove \(member.name)"))
      <p><b>\(member.name)</b> (\(member.role.rawValue), device \(String(member.deviceID.prefix(8)))) \
      stops exchanging notes as soon as the devices it meets learn of the removal. It keeps the notes it \
      already has: those cannot be taken back.</p>
      <form method="post" action="\(address(of: member, "/remove"))" class="edit">
      \(invitedChoice(by: member, context))
      <p class="acts"><button class="btn bad">Remove \(member.name)</button> \
      <a class="btn" data-leave href="\(address(of: member))">Cancel</a></p>
      </form>
      """
    }
  }

  /// The members whom the device invited or made admins, directly or through others: they stay unless this
  /// box is ticked.
  private func invitedChoice(by member: Member, _ context: SessionContext) -> HTML? {
    let invited = invited(by: member, context)
    if invited.isEmpty { return nil }
    let names = context.membership.members()
    let rows = invited.map { one -> HTML in
      let issuer =
        names.first { $0.deviceID == one.issuedBy }?.name ?? String(one.issuedBy.prefix(8))
      return """
        <li><b>\(one.member.name)</b>, \(one.member.role.rawValue), \(String(one.member.deviceID.prefix(8))), \
        \(one.wasMadeAdmin ? "made an admin" : "invited") by \(issuer), \(time(one.issuedAt))</li>

        """
    }
    return """
      <p>It invited, or made an admin, itself or through others:</p>
      <ul>
      \(rows)</ul>
      <label class="also"><input type="checkbox" name="invited" value="remove"> \
      \(invited.count == 1 ? "Remove this one, too" : "Remove these, too")</label>
      """
  }

  private func invited(by member: Member, _ context: SessionContext) -> [InvitedMember] {
    context.membership.invited(by: member.deviceID).filter {
      $0.member.deviceID != context.key.deviceID
    }
  }

  /// The devices that the form also removes.
  private func alsoRemoved(with member: Member, _ context: SessionContext) -> [String] {
    guard request.form["invited"] == "remove" else { return [] }
    return invited(by: member, context).map(\.member.deviceID)
  }

  func changeRole(in notebook: Notebook) throws -> Response {
    let context = try site.sessionContext(of: notebook)
    let member = try changeableMember(in: context)
    guard let role = request.form["role"].flatMap(Role.init(rawValue:)) else {
      throw Refusal.brokenForm
    }
    guard role != member.role else { return .see("\(root)/devices?done=same") }
    let others = member.role == .admin ? alsoRemoved(with: member, context) : []
    try context.membership.reissue(
      device: member.deviceID, role: role, removing: others, by: context.key)
    return .see("\(root)/devices?done=role")
  }

  func removeMember(in notebook: Notebook) throws -> Response {
    let context = try site.sessionContext(of: notebook)
    let member = try changeableMember(in: context)
    let others = alsoRemoved(with: member, context)
    try context.membership.remove(devices: [member.deviceID] + others, by: context.key)
    return .see("\(root)/devices?done=removed")
  }
}
