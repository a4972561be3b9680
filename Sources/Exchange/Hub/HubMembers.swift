internal import Git
internal import Membership
internal import State

/// The list of members at a hub, compared with the one here: notes-hub(7), "Members".
struct HubMembers {
  private let membership: MembershipStore?
  private let stateFolder: StateFolder?
  /// Whether a hub may belong to another notebook.
  private let allowsUnrelated: Bool
  /// The list at the hub; nil if there is none, or if it is not readable.
  private var there: MemberList?
  /// The commit with the hub's list, or with unreadable content; nil if the hub has none.
  private var version: ObjectID?
  /// The list that this visit pushes, and the list's commit.
  private var sent: (list: MemberList, version: ObjectID)?
  /// Whether the hub has another notebook's list, which stays.
  private var isOfAnother = false
  /// Whether the hub's list is that of the former membership.
  private var isFormer = false
  /// Whether the hub refuses the list.
  private var isRefused = false
  /// Whether the list was read at this visit, or the hub has none.
  private var isRead = false

  init(_ context: SessionContext?, allowsUnrelated: Bool) {
    membership = context?.membership
    stateFolder = context.map { StateFolder(ofNotebookIn: $0.folder) }
    self.allowsUnrelated = allowsUnrelated
  }

  /// Reads the hub's list, which was fetched or is here, and merges new facts from it.
  ///
  /// - Throws: `HubError.anotherNotebook`, unless another notebook is allowed.
  mutating func look(
    at version: ObjectID?, in repository: Repository, arriving quarantine: Quarantine? = nil
  ) throws {
    (there, self.version, isOfAnother, isFormer, isRead) = (nil, version, false, false, false)
    guard let membership, let version else {
      isRead = true
      return
    }
    let found = try Self.read {
      try MemberList(of: version, in: repository, arriving: quarantine)
    }
    guard let list = found else {
      isRead = true
      return
    }
    switch try list.relation(to: membership) {
    case .own:
      there = list
      if list != present {
        _ = try membership.merge(certificates: list.certificates, revocations: list.revocations)
      }
      try membership.heardMembership()
    case .former: isFormer = true
    case .startedOver(let name):
      if let stateFolder { try StartedOver(by: name, list).keep(in: stateFolder) }
      throw HubError.startedOver(by: name)
    case .foreign:
      guard allowsUnrelated else { throw HubError.anotherNotebook }
      isOfAnother = true
    }
    isRead = true
  }

  /// The list; nil if the content is not a valid list, which is then replaced.
  ///
  /// - Throws: an error if this machine cannot read the list: an unreadable list may be another notebook's.
  private static func read(_ read: () throws -> MemberList?) throws -> MemberList? {
    guard let list = try HubFile.ifReadable(read) else { return nil }
    do {
      _ = try list.notebookID
      return list
    } catch MembershipError.certificateRefused {
      return nil
    }
  }

  /// Whether the hub's list lacks entries of this device's, or is of the former membership. If the hub has no
  /// list yet, the next version brings one.
  var areNews: Bool { !isRefused && there.map { $0 != present } ?? isFormer }

  /// Whether the hub's list was read, and can be replaced.
  var mayReplace: Bool { isRead && !isRefused && !isOfAnother }

  /// Whether the hub has this notebook's list.
  var areOwn: Bool { there != nil }

  private var present: MemberList? { membership.map { MemberList(of: $0) } }

  /// Writes the list of members to the repository. Returns the reference to push with a version: its new commit, and
  /// its last known one at the hub. Empty if there is nothing to push.
  mutating func references(in repository: Repository) throws -> [String: Transfer.Move] {
    sent = nil
    guard !isOfAnother, let present, present != there else { return [:] }
    let id = try present.write(to: repository)
    sent = (present, id)
    return [MemberList.reference: (to: id, from: version)]
  }

  /// Records whether the list was pushed.
  mutating func went(_ fate: Transfer.Beside) {
    if fate == .refused { isRefused = true }
    guard let sent, fate == .given else { return }
    (there, version) = (sent.list, sent.version)
  }

  /// Whether the hub's list has fewer entries that are also here than `size`.
  func areFewer(than size: Int) throws -> Bool {
    try version == nil || held().map { $0.size < size } ?? false
  }

  /// The commit of the hub's list, and how many of its entries are also here. Nil if the hub has no list, or if the
  /// list is so large that entries may have been dropped.
  func held() throws -> (version: ObjectID, size: Int)? {
    guard let membership, let there, let version,
      let size = try membership.extent(
        certificates: there.certificates, revocations: there.revocations)
    else { return nil }
    return (version, size)
  }
}
