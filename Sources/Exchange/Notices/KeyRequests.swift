public import Membership
public import State
internal import System

/// The requests of members to certify another key: `.git/notes/requests/DEVICE-ID`, a PKCS #10
/// request in each file, one for each member. See notes-security(7), "A key of its own".
public struct KeyRequests: Sendable {
  private let folder: String

  /// The requests in this state folder.
  public init(stateFolder: StateFolder) { folder = stateFolder[.requests] }

  /// The request of a member; nil if there is no readable one, the member was removed, or the key was certified.
  public func request(of member: Member, in membership: MembershipStore) -> CertificateRequest? {
    guard !member.isRemoved else { return nil }
    do {
      let path = path(member)
      guard let der = try Disk.readIfThere(path, limit: CertificateRequest.maximumSize)
      else { return nil }
      let request = try CertificateRequest(der: der)
      let isKnown = membership.members().contains { $0.deviceID == request.deviceID }
      return isKnown ? nil : request
    } catch {
      // An unreadable request is not shown; the member sends it again in each session.
      return nil
    }
  }

  /// Stores a member's request, replacing its last one.
  ///
  /// - Returns: whether it is new.
  /// - Throws: `MembershipError.requestRefused`.
  func keep(_ der: [UInt8], of member: Member, in membership: MembershipStore) throws -> Bool {
    let request = try CertificateRequest(der: der)
    if self.request(of: member, in: membership)?.deviceID == request.deviceID
      || membership.members().contains(where: { $0.deviceID == request.deviceID })
    {
      return false
    }
    try Disk.makeFolder(folder, mode: 0o700)
    try Disk.replace(path(member), with: der, isShared: true, waits: false)
    return true
  }

  /// Removes a member's request.
  public func remove(_ member: Member) throws {
    if try Disk.readIfThere(path(member), limit: CertificateRequest.maximumSize) != nil {
      try Disk.remove(path(member))
    }
  }

  private func path(_ member: Member) -> String { "\(folder)/\(member.deviceID)" }
}
