internal import Git
internal import Membership

/// The list of members at a hub, and the one here: notes-hub(7), "Members".
struct HubMembers {
  private let membership: MembershipStore?
  /// Whether a hub may be another notebook's.
  private let allowsUnrelated: Bool
  /// The list at the hub; nil if there is none, or none that can be read.
  private var there: MemberList?
  /// Whether there is one of another notebook, which stays.
  private var isOfAnother = false

  init(_ context: SessionContext?, allowsUnrelated: Bool) {
    membership = context?.membership
    self.allowsUnrelated = allowsUnrelated
  }

  /// Reads the list there, which has come or is here, and takes in what it says that is not known.
  ///
  /// - Throws: `HubError.anotherNotebook`, unless that is meant.
  mutating func look(
    at version: ObjectID?, in repository: Repository, arriving quarantine: Quarantine? = nil
  ) throws {
    (there, isOfAnother) = (nil, false)
    guard let membership, let version else { return }
    let found = try Self.read {
      if let quarantine {
        try MemberList(of: version, in: quarantine)
      } else {
        try MemberList(of: version, in: repository)
      }
    }
    guard let (list, notebook) = found else { return }
    if list.root == membership.root {
      there = list
      if areNews {
        _ = try membership.merge(certificates: list.certificates, revocations: list.revocations)
      }
    } else if try !membership.formerIDs().contains(notebook) {
      guard allowsUnrelated else { throw HubError.anotherNotebook }
      isOfAnother = true
    }
  }

  /// A list and the ID of its notebook; nil for what nobody can read as one, which is replaced.
  ///
  /// - Throws: where this machine cannot read it: it may be another notebook's.
  private static func read(
    _ read: () throws -> MemberList?
  ) throws -> (MemberList, notebook: String)? {
    do {
      guard let list = try read() else { return nil }
      return (list, try list.notebookID)
    } catch GitError.missing, GitError.wrongKind, GitError.malformed, GitError.objectTooLarge {
      return nil
    } catch is PackError {
      return nil
    } catch MembershipError.certificateRefused {
      return nil
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

  /// Notes that the list that was to go there has.
  mutating func wereGiven() { if there != nil { there = present } }
}
