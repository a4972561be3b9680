public import Discovery
public import Exchange
internal import Logging
public import Membership
public import System

/// Holds an invitation to a notebook open until a device has joined by it and has everything, or it has
/// ended: in the notebook's watcher, or where none is given in this process.
public struct InvitationHost: Sendable {
  private let context: SessionContext
  private let watcher: ControlClient?
  private let address: Address
  private let discovery: @Sendable () -> (any Discovery)?

  /// - Parameters:
  ///   - watcher: the notebook's; nil has this process listen at `address`, and be found by what
  ///     `discovery` makes.
  public init(
    _ context: SessionContext, watcher: ControlClient?,
    listen address: Address = Address(host: Address.anyHost, port: 0),
    discovery: @escaping @Sendable () -> (any Discovery)?
  ) {
    (self.context, self.watcher) = (context, watcher)
    (self.address, self.discovery) = (address, discovery)
  }

  /// Opens it for so many seconds, and calls `onEvent` on this thread for what becomes of it. It ends at the
  /// latest when `token` is cancelled.
  ///
  /// - Parameter invitee: the device that it is meant for; nil for whoever has the code.
  /// - Throws: `MembershipError.notAnAdmin`, `WatchError` of the watcher, `SyncError`.
  public func invite(
    role: Role, seconds: Double, for invitee: Member? = nil, cancellation token: CancellationToken,
    onEvent: (Event) -> Void
  ) throws {
    if let watcher {
      return try watcher.invite(
        role: role, seconds: seconds, for: invitee, cancellation: token, onEvent: onEvent)
    }
    let finder = discovery()
    defer { finder?.stop() }
    let silent = Logger(label: "notes") { _ in SwiftLogNoOpLogHandler() }
    let service = try Service(
      contexts: [context], discovery: finder, listen: address, logger: silent)
    let invitation = try service.invite(
      role: role, seconds: seconds, name: invitee?.name, deviceID: invitee?.deviceID)
    try service.run(cancellation: token, until: invitation, onEvent: onEvent)
  }
}
