public import Git
internal import Membership
public import Notebook

/// Sends the list of members to hubs without a visit, so that devices that only share these learn of a change
/// before they accept something. notes-hub(7), "Members".
public struct MemberNotice: Sendable {
  private let context: SessionContext
  /// The git program for access to the hubs.
  public var program = GitProgram()

  private static let mostAttempts = 5

  /// Prepares the notice of this device.
  public init(by context: SessionContext) { self.context = context }

  /// Sends the list to each hub.
  ///
  /// - Returns: the hubs that were not reached or refused it; this device's next visit tries again.
  public func send(to hubs: [Hub]) -> [Hub] {
    hubs.filter { hub in
      do { return try !isKnown(at: hub) } catch { return true }
    }
  }

  /// Whether the hub has the present list then. A hub without any list gets one with the first version.
  private func isKnown(at hub: Hub) throws -> Bool {
    let repository = try context.notebook().repository
    let transfer = try Transfer(repository, by: program)
    for _ in 0..<Self.mostAttempts {
      let fate = try HubVisit.talking { () throws -> Transfer.Beside in
        _ = try transfer.fetch(nil, from: hub.url, known: [], beside: [MemberList.folder])
        var members = HubMembers(context, allowsUnrelated: false)
        try members.look(
          at: transfer.reference(named: MemberList.reference), in: repository,
          arriving: transfer.received()?.quarantine)
        if !members.areNews { return .given }
        return try transfer.push(beside: members.references(in: repository), at: hub.url)
      }
      if fate != .moved { return fate == .given }
    }
    return false
  }
}
