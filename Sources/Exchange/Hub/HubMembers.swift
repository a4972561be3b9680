internal import Git
internal import Membership

/// The list of members at a hub, and the one here: notes-hub(7), "Members".
struct HubMembers {
  private let membership: MembershipStore?
  /// What lies there; nil where there is none, or none that can be read.
  private var there: MemberList?
  /// Whether there is one of another notebook, which stays.
  private var isOfAnother = false

  init(_ context: SessionContext?) { membership = context?.membership }

  /// Reads the list there, which has come or is here, and takes in what it says that is not known.
  ///
  /// - Throws: `HubError.anotherNotebook`, unless that is meant.
  mutating func look(
    at version: ObjectID?, in repository: Repository, arriving quarantine: Quarantine? = nil,
    _ options: HubOptions
  ) throws {
    (there, isOfAnother) = (nil, false)
    guard let membership, let version else { return }
    // One that nobody can read is replaced.
    let list =
      if let quarantine {
        try? MemberList(of: version, in: quarantine)
      } else {
        try? MemberList(of: version, in: repository)
      }
    guard let list, let notebook = try? list.notebookID else { return }
    if list.root == membership.root {
      there = list
      if areNews {
        _ = try membership.merge(certificates: list.certificates, revocations: list.revocations)
      }
    } else if try !membership.formerIDs().contains(notebook) {
      guard options.allowsUnrelated else { throw HubError.anotherNotebook }
      isOfAnother = true
    }
  }

  /// Whether a list is there that says less than what is known here. Where there is none yet, one goes
  /// there with the next version.
  var areNews: Bool { there.map { $0 != present } ?? false }

  private var present: MemberList? { membership.map { MemberList(of: $0) } }

  /// The reference that goes there with a version, stored here.
  func references(in repository: Repository) throws -> [String: ObjectID] {
    guard !isOfAnother, let present, present != there else { return [:] }
    return [MemberList.reference: try present.write(to: repository)]
  }

  /// What was to go there has.
  mutating func wereGiven() { if there != nil { there = present } }
}
