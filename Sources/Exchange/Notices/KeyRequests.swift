public import Membership
public import State
internal import System

/// The keys that members ask to have certified beside theirs: `.git/notes/requests/DEVICE-ID`, a
/// PKCS #10 request a file, one of each member. See notes-security(7), "A key of its own".
public struct KeyRequests: Sendable {
  private let folder: String

  /// Those of the notebook with this state folder.
  public init(stateFolder: StateFolder) { folder = stateFolder[.requests] }

  /// The request of a member; nil for none, or if it has been certified.
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
      // A request that cannot be read is not shown; the member sends it again at each meeting.
      return nil
    }
  }

  /// Keeps what a member asks for, in place of what it asked for before.
  ///
  /// - Returns: whether that is news.
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

  /// Forgets what a member asked for.
  public func remove(_ member: Member) throws {
    if try Disk.readIfThere(path(member), limit: CertificateRequest.maximumSize) != nil {
      try Disk.remove(path(member))
    }
  }

  private func path(_ member: Member) -> String { "\(folder)/\(member.deviceID)" }
}
