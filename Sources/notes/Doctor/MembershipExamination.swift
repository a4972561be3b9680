internal import History
internal import Membership
internal import Notebook
internal import Sync

extension Examination {
  /// This device is a member, and the notebook does not hang on a single admin.
  static let membership = Examination(
    name: "membership", title: "members", remedy: "ask an admin for an invitation and join again"
  ) { patient in
    let store = try patient.membership()
    let own = patient.notebook.identity.device.deviceID
    if store.notebookID != patient.notebook.identity.id {
      return .problem(
        "the certificates are another notebook's",
        remedy: "restore .git/notes/membership from a backup, or join again in a new folder")
    }
    let present = store.members().filter { !$0.isRemoved }
    guard let role = store.role(ofDevice: own) else {
      let wasMember = store.members().contains { $0.deviceID == own }
      return .problem(
        wasMember
          ? "this device has been removed from the notebook" : "this device is not a member",
        remedy: "the notes here stay; ask an admin for an invitation to exchange them again")
    }
    let admins = present.filter { $0.role == .admin }
    if admins.count < 2, present.count > 1 {
      let name = admins.first.map { Visible.name($0.name) }
      return .advice(
        name.map { "only \($0) is an admin: if it is lost, nobody can invite or remove" }
          ?? "no admin is left: nobody can invite or remove",
        remedy: name.map { "on \($0): 'notes members role NAME admin'" }
          ?? "make a new notebook of this folder and invite the others")
    }
    if let lost = founderUnseen(among: present, by: patient) { return [lost] }
    return .good("\(Phrase.count(present.count, "device")); this one is \(role.withArticle)")
  }

  /// How many days the founder's device may be away before it is worth a word.
  private static let longAway: Int64 = 90

  /// The founder's device has not been met for long: it may be lost.
  private static func founderUnseen(among members: [Member], by patient: Patient) -> Finding? {
    let own = patient.notebook.identity.device.deviceID
    guard let founder = members.first(where: \.isFounder), founder.deviceID != own else {
      return nil
    }
    let seen = PeerSightings(stateFolder: patient.notebook.stateFolder).last(of: founder.deviceID)
    let last = max(seen ?? 0, founder.issuedAt)
    guard patient.now - last > longAway * 86_400 else { return nil }
    return .advice(
      "\(Visible.name(founder.name)), the founder's device, was last met "
        + TimeText.relative(last, now: patient.now),
      remedy: "if it is lost, the other admins carry on; if it was stolen, "
        + "'notes members reset' begins the membership anew")
  }
}
