public import Membership
public import State
internal import System

/// The role of this device that its user was last told: `.git/notes/told-role`. An admin can change it at any time from
/// another device.
public struct ToldRole {
  private let path: String

  /// The record in this state folder.
  public init(in stateFolder: StateFolder) { path = stateFolder[.toldRole] }

  /// Records the device's present role.
  ///
  /// - Returns: whether it differs from the recorded one; false if none was recorded, or if the device is no member.
  public func record(_ status: MemberStatus) -> Bool {
    guard let role = status.role else { return false }
    let founder = "founder"
    let known = Disk.memory(at: path) { lines in
      lines["role"].map { (role: $0, isFounder: lines[founder] != nil) }
    }
    if let known, known == (role.rawValue, status.isFounder) { return false }
    let lines = StateLines(["role": role.rawValue, founder: status.isFounder ? "yes" : nil])
    Disk.keep(lines.bytes, at: path)
    return known != nil
  }
}

extension SessionContext {
  /// Records the role with which this device joined: its user has seen it in the invitation.
  func recordJoinedRole() {
    let status = membership.status(ofDevice: key.deviceID)
    _ = ToldRole(in: StateFolder(ofNotebookIn: folder)).record(status)
  }
}
