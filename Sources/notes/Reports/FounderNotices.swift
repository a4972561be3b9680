internal import Exchange
internal import Membership
internal import Notebook
internal import Watch

extension ClaimNotice {
  init?(_ news: ClaimNews) { self.init(news) { Visible.name($0) } }

  /// The notices of a notebook, for the device with this ID.
  static func all(in membership: MembershipStore, for own: String) throws -> [ClaimNotice] {
    try ClaimNews.all(in: membership, for: own).compactMap { ClaimNotice($0) }
  }
}

extension HandedOverTwice {
  /// The notices of a notebook.
  static func all(in membership: MembershipStore) throws -> [HandedOverTwice] {
    try all(in: membership) { Visible.name($0) }
  }

  /// The notices that devices have different founders. None in a notebook that has seen no second handover;
  /// then the list of members is not read.
  static func all(in notebook: Notebook) throws -> [HandedOverTwice] {
    guard try MembershipStore.hasSecondHandovers(at: notebook.stateFolder) else { return [] }
    return try all(in: notebook.membership()).filter { !$0.isRemoved }
  }
}

extension ClaimNews {
  /// The fields for programs.
  var json: JSON {
    [
      "name": name, "device": device, "founder_name": founderName, "founder": founder,
      "state": state.rawValue, "days": days,
    ]
  }
}
