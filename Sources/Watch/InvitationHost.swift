public import Discovery
public import Exchange
internal import Logging
public import Membership
public import System

/// Keeps invitations to a notebook open until a device has joined with each and has everything, or until they
/// have ended. The notebook's watcher keeps them open, or this process if there is no watcher.
public struct InvitationHost: Sendable {
  private let context: SessionContext
  private let watcher: ControlClient?
  private let address: Address
  private let discovery: @Sendable () -> (any Discovery)?

  /// - Parameters:
  ///   - watcher: the notebook's watcher. If nil, this process listens at `address`, and announces itself with
  ///     the result of `discovery`.
  public init(
    _ context: SessionContext, watcher: ControlClient?,
    listen address: Address = Address(host: Address.anyHost, port: 0),
    discovery: @escaping @Sendable () -> (any Discovery)?
  ) {
    (self.context, self.watcher) = (context, watcher)
    (self.address, self.discovery) = (address, discovery)
  }

  /// Opens an invitation for each of `people`, for `seconds`. Calls `onEvent` on this thread when the state of
  /// one changes. They end when `token` is cancelled at the latest.
  ///
  /// - Parameter invitee: the device for which a single invitation is meant; nil for anyone who has the code.
  /// - Throws: `MembershipError.notAnAdmin`, `WatchError` of the watcher, `SyncError`.
  public func invite(
    role: Role, people: [InvitedPerson] = [.unnamed], seconds: Double, for invitee: Member? = nil,
    cancellation token: CancellationToken, onEvent: (Event) -> Void
  ) throws {
    if let watcher {
      return try watcher.invite(
        role: role, people: people, seconds: seconds, for: invitee, cancellation: token,
        onEvent: onEvent)
    }
    let finder = discovery()
    defer { finder?.stop() }
    let silent = Logger(label: "notes") { _ in SwiftLogNoOpLogHandler() }
    let service = try Service(
      contexts: [context], discovery: finder, finder: discovery, listen: address, logger: silent)
    let invitations = try people.map { person in
      try service.invite(
        role: role, person: person, seconds: seconds, name: invitee?.name,
        deviceID: invitee?.deviceID)
    }
    try service.run(cancellation: token, until: invitations, onEvent: onEvent)
  }
}
