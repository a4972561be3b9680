internal import History
internal import Membership
internal import Notebook

/// The notice of a claim of the founder's place: notes-members(1), `handover`.
struct ClaimNotice {
  let claim: FounderClaim
  /// For people; lower case, no full stop.
  let message: String
  let remedy: String
  /// Whether devices have different founders for good.
  var isContested: Bool { claim.state == .accepted(isContested: true) }
  /// Whether it waits for a stop.
  var isOpen: Bool { if case .open = claim.state { true } else { false } }

  /// The message as a sentence.
  var sentence: String { "\(message.prefix(1).uppercased())\(message.dropFirst())." }

  /// The notices of a notebook, for the device with this ID.
  static func all(in membership: MembershipStore, for own: String) throws -> [ClaimNotice] {
    let names = Dictionary(membership.members().map { ($0.deviceID, $0.name) }) { first, _ in first
    }
    return try membership.claims().compactMap { ClaimNotice($0, names, own) }
  }

  /// The notices of a notebook that has seen claims; none if it has seen none, without reading the list of members.
  static func all(in notebook: Notebook) throws -> [ClaimNotice] {
    guard try MembershipStore.hasClaims(at: notebook.stateFolder) else { return [] }
    return try all(in: notebook.membership(), for: notebook.identity.device.deviceID)
  }

  private init?(_ claim: FounderClaim, _ names: [String: String], _ own: String) {
    self.claim = claim
    let claimer = Visible.name(claim.claimer.name)
    let founder = names[claim.founderID].map { Visible.name($0) } ?? "a device"
    let isOwn = claim.claimer.deviceID == own
    switch claim.state {
    case .open(let days):
      let left = days == 0 ? "at the next one" : "after \(Phrase.count(days, "more day"))"
      message =
        isOwn
        ? "this device claims the founder's place, which \(founder) has: it gets it here "
          + (days == 0 ? "now" : "after \(Phrase.count(days, "more day")) of use")
        : "\(claimer) claims the founder's place, which \(founder) has: this device accepts that \(left) "
          + "on which it reaches another device or a hub"
      remedy =
        isOwn
        ? "to withdraw the claim: 'notes members handover --stop'"
        : "if \(founder) is not lost, stop the claim there or on another admin's device: "
          + "'notes members handover --stop'"
    case .stopped(let stoppers):
      let by = stoppers.map { names[$0].map { Visible.name($0) } ?? String($0.prefix(8)) }
      message =
        "the claim of \(claimer) on the founder's place was stopped"
        + (by.isEmpty ? "" : " by \(Phrase.list(by))")
      remedy = "if \(claimer) should not be an admin: 'notes members role NAME writer'"
    case .accepted(isContested: true):
      message =
        "\(claimer) is the founder here by a claim on the place of \(founder); a stop, a removal of "
        + "\(claimer), or a handover by \(founder), came too late, so other devices have another founder"
      remedy =
        "'notes members' shows the founder on each device; a device with the wrong one joins again: 'notes invite' on "
        + "a device with the right one, 'notes join CODE' there; or 'notes members reset' starts the membership over"
    case .accepted(isContested: false): return nil
    }
  }
}
