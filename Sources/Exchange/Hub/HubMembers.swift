internal import Git
internal import Membership
internal import State

/// The list of members at a hub, and the one here: notes-hub(7), "Members".
struct HubMembers {
  private let membership: MembershipStore?
  private let stateFolder: StateFolder?
  /// Whether a hub may be another notebook's.
  private let allowsUnrelated: Bool
  /// The list at the hub; nil if there is none, or none that can be read.
  private var there: MemberList?
  /// The version that has it, or what nobody can read; nil if the hub has none.
  private var version: ObjectID?
  /// The list that is to go there, and its version.
  private var sent: (list: MemberList, version: ObjectID)?
  /// Whether there is one of another notebook, which stays.
  private var isOfAnother = false
  /// Whether there is one of the membership before this one.
  private var isFormer = false
  /// Whether the hub takes none.
  private var isRefused = false

  init(_ context: SessionContext?, allowsUnrelated: Bool) {
    membership = context?.membership
    stateFolder = context.map { StateFolder(ofNotebookIn: $0.folder) }
    self.allowsUnrelated = allowsUnrelated
  }

  /// Reads the list there, which has come or is here, and takes in what it says that is not known.
  ///
  /// - Throws: `HubError.anotherNotebook`, unless that is meant.
  mutating func look(
    at version: ObjectID?, in repository: Repository, arriving quarantine: Quarantine? = nil
  ) throws {
    (there, self.version, isOfAnother, isFormer) = (nil, version, false, false)
    guard let membership, let version else { return }
    let found = try Self.read {
      try MemberList(of: version, in: repository, arriving: quarantine)
    }
    guard let list = found else { return }
    switch try list.relation(to: membership) {
    case .own:
      there = list
      if list != present {
        _ = try membership.merge(certificates: list.certificates, revocations: list.revocations)
      }
    case .former: isFormer = true
    case .startedOver(let name):
      if let stateFolder { try StartedOver(by: name, list).keep(in: stateFolder) }
      throw HubError.startedOver(by: name)
    case .foreign:
      guard allowsUnrelated else { throw HubError.anotherNotebook }
      isOfAnother = true
    }
  }

  /// A list; nil for what nobody can read as one, which is replaced.
  ///
  /// - Throws: where this machine cannot read it: it may be another notebook's.
  private static func read(_ read: () throws -> MemberList?) throws -> MemberList? {
    guard let list = try HubFile.ifReadable(read) else { return nil }
    do {
      _ = try list.notebookID
      return list
    } catch MembershipError.certificateRefused {
      return nil
    }
  }

  /// Whether a list is there that says less than what is known here, or is of the membership before this one.
  /// If there is none yet, one goes there with the next version.
  var areNews: Bool { !isRefused && there.map { $0 != present } ?? isFormer }

  /// Whether the hub has this notebook's list.
  var areOwn: Bool { there != nil }

  private var present: MemberList? { membership.map { MemberList(of: $0) } }

  /// The reference that goes there with a version, stored here, and where it was seen to stand.
  mutating func references(in repository: Repository) throws -> [String: Transfer.Move] {
    sent = nil
    guard !isOfAnother, let present, present != there else { return [:] }
    let id = try present.write(to: repository)
    sent = (present, id)
    return [MemberList.reference: (to: id, from: version)]
  }

  /// Notes what became of the list that was to go there.
  mutating func went(_ fate: Transfer.Beside) {
    if fate == .refused { isRefused = true }
    guard let sent, fate == .given else { return }
    (there, version) = (sent.list, sent.version)
  }

  /// The list that the hub holds, and how much of what is known here is in it; nil if it holds none, or if
  /// a list of that size may lose something.
  func held() throws -> (version: ObjectID, size: Int)? {
    guard let membership, let there, let version,
      let size = try membership.extent(
        certificates: there.certificates, revocations: there.revocations)
    else { return nil }
    return (version, size)
  }
}
