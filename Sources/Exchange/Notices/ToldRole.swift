public import Membership
public import State
internal import System

/// The role of this device that its user was last told: `.git/notes/told-role`. An admin can change it at any time from
/// another device.
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

  /// Records the device's present role.
  ///
  /// - Returns: how it differs from the recorded one; nil if it does not, if none was recorded, or if the device is no
  ///   member.
  @discardableResult
  public func record(_ status: MemberStatus) -> Change? {
    guard let role = status.role else { return nil }
    let founder = "founder"
    let known = Disk.memory(at: path) { lines in
      lines["role"].map { (role: $0, isFounder: lines[founder] != nil) }
    }
    if let known, known == (role.rawValue, status.isFounder) { return nil }
    let lines = StateLines(["role": role.rawValue, founder: status.isFounder ? "yes" : nil])
    Disk.keep(lines.bytes, at: path)
    guard let known else { return nil }
    return known.isFounder && !status.isFounder ? .formerFounder : .present
  }
}

extension SessionContext {
  /// Records this device's role, which its user knows: from the invitation, or as the result of a command here.
  public func recordKnownRole() {
    let status = membership.status(ofDevice: key.deviceID)
    ToldRole(in: StateFolder(ofNotebookIn: folder)).record(status)
  }
}
