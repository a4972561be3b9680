public import Membership
public import State
internal import System

/// The roles, of this device and of the others, about which its user was told last: `.git/notes/told-role`. An admin
/// can change roles at any time from another device.
public struct ToldRole {
  private let path: String

  /// The record in this state folder.
  public init(in stateFolder: StateFolder) { path = stateFolder[.toldRole] }

  /// A difference from the recorded role.
  public enum Change: Hashable, Sendable {
    /// The device has another role, or became the founder's.
    case present
    /// The device was the founder's.
    case formerFounder
  }

  /// The differences from the record.
  public struct News: Hashable, Sendable {
    /// How this device's role differs; nil if it does not.
    public var own: Change?
    /// The other devices that are no longer members, or have another role than they were recorded with.
    public var others: [MemberStatus.Other] = []
    /// The device that became the founder's, if it is not this one.
    public var founder: MemberStatus.Other?
  }

  private static let (founder, holder) = ("founder", "holder")
  private static let (members, member) = ("members", "member")

  /// Records this device's present role. The others' stay as they are recorded: their changes are not told yet.
  func recordOwn(_ status: MemberStatus) {
    guard let known = Disk.memory(at: path, { $0 }), known[Self.members] != nil else {
      record(status)
      return
    }
    let knowsFounder = status.isFounder || known[Self.founder] != nil
    let lines = Self.lines(
      of: status, known.values(of: Self.member),
      founder: knowsFounder ? status.founder : known[Self.holder])
    if let lines {
      Disk.keep(lines.bytes, at: path)
    }
  }

  /// The record of this device's role and of others' roles; nil if the device is no member.
  private static func lines(
    of status: MemberStatus, _ others: [String], founder device: String?
  ) -> StateLines? {
    guard let role = status.role else { return nil }
    var lines = StateLines([
      "role": role.rawValue, founder: status.isFounder ? "yes" : nil, holder: device,
      members: others.count,
    ])
    for other in others { lines.append(member, other) }
    return lines
  }

  /// Records the present roles.
  ///
  /// - Returns: how they differ from the recorded roles; no difference if the device is not a member.
  @discardableResult
  public func record(_ status: MemberStatus) -> News {
    let others = status.others.compactMap { other in
      other.role.map { "\(other.device) \($0.rawValue)" }
    }
    guard let role = status.role,
      let lines = Self.lines(of: status, others, founder: status.founder)
    else { return News() }
    let known = Disk.memory(at: path) { $0 }
    if known?.bytes == lines.bytes { return News() }
    Disk.keep(lines.bytes, at: path)
    guard let known, let knownRole = known["role"] else { return News() }
    var news = News()
    let wasFounder = known[Self.founder] != nil
    if knownRole != role.rawValue || wasFounder != status.isFounder {
      news.own = wasFounder && !status.isFounder ? .formerFounder : .present
    }
    // A record by an older program has no founder.
    if let former = known[Self.holder], former != status.founder {
      news.founder = status.others.first { $0.device == status.founder }
    }
    var roles: [String: String] = [:]
    for line in known.lines where line.key == Self.member && line.words.count == 3 {
      roles[line.words[1]] = line.words[2]
    }
    news.others = status.others.filter { other in
      roles[other.device].map { $0 != other.role?.rawValue } ?? false
    }
    return news
  }
}

extension SessionContext {
  /// Records this device's role, which its user knows: from the invitation, or as the result of a command here.
  public func recordKnownRole() {
    let status = membership.status(ofDevice: key.deviceID)
    ToldRole(in: StateFolder(ofNotebookIn: folder)).recordOwn(status)
  }
}
