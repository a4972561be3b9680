public import Discovery
internal import Git
public import Membership
internal import Notebook
internal import System

/// A run of `notes sync`, `pull` or `push`. It finds the notebook's devices in reach, announces this one, and
/// has sessions until all of them are in sync.
///
/// A device that had an earlier session in the run also receives the versions of later sessions.
public struct SyncRun: Sendable {
  package let context: SessionContext
  /// The options of the sessions; the port is filled in.
  public var options = SessionOptions()
  /// Finds devices and announces this one; stopped at the end. If nil, the run does not look for devices.
  public var discovery: (any Discovery)?
  /// The addresses of devices, if the user gave them. Then the run looks for no others.
  public var addresses: [Address] = []
  /// The address to listen at during the run, so that two devices that run at the same time find
  /// each other; nil for none.
  public var listen: Address?
  /// How many seconds to wait for the first device.
  public var window = 3.0
  /// The IDs of the devices to exchange with; empty for all.
  public var peers: [String] = []

  package init(context: SessionContext) { self.context = context }

  /// Saves the folder and runs. A failure with one device is in the outcome, and does not stop the
  /// others. Throws if no exchange is possible at all, or `SyncError.stopped` when cancelled.
  public func run(
    cancellation: CancellationToken? = nil, onEvent: @escaping (Event) -> Void = { _ in }
  ) throws -> SyncOutcome {
    let members = try wantedMembers()
    let notebook = try context.notebook()
    let keeper = DirectKeeper(context, options)
    var begun: Result<Begun, any Error>?
    defer { try? begun?.get().stop() }
    // The save happens even if no device is in reach, or if all refuse this one. Connections are opened
    // during the save, so that both sides scan their folders at the same time.
    do {
      try keeper.save(notebook) {
        begun = Result { try begin(members, notebook, keeper, onEvent) }
      } progress: {
        onEvent(.saving($0, of: $1))
      }
    } catch GitError.missing {
      // The run continues: it asks the other devices for the missing objects.
    }
    for one in keeper.takeSaveNews() {
      onEvent(.saveNews(notebook: notebook.identity.id, news: one))
    }
    guard var coordination = try begun?.get().coordination else { throw SyncError.stopped }
    return try coordination.run(cancellation)
  }

  private typealias Begun = (coordination: SyncCoordination, stop: () -> Void)

  private func begin(
    _ members: [Member], _ notebook: Notebook, _ keeper: DirectKeeper,
    _ onEvent: @escaping (Event) -> Void
  ) throws -> Begun {
    _ = try context.credentials()
    let allowed = peers.isEmpty ? nil : Set(members.map(\.deviceID))
    let policy = try SyncPolicy(self, keeper, allowed: allowed)
    let driver = try SessionDriver(
      policy, listen: listen, timeouts: context.timeouts, until: policy.token)
    let stop = { [discovery] in
      policy.token.cancel()
      discovery?.stop()
      driver.drain(seconds: 2)
    }
    do {
      try driver.accept()
      // Discovery may block, so it has a thread of its own.
      if let discovery {
        try startThread { policy.look(with: discovery, port: driver.address?.port) }
      }
    } catch {
      stop()
      throw error
    }
    var coordination = SyncCoordination(
      self, members: members, notebook: notebook, policy, driver, onEvent: onEvent)
    coordination.dial()
    return (coordination, stop)
  }

  /// The other members to exchange with. Throws `SyncError.unknownPeer` and
  /// `MembershipError.blocked`.
  public func wantedMembers() throws -> [Member] {
    try context.membership.refresh()
    let others = context.membership.members().filter {
      !$0.isRemoved && $0.deviceID != context.key.deviceID
    }
    if peers.isEmpty { return others.filter { !$0.isBlocked } }
    let wanted = others.filter { peers.contains($0.deviceID) }
    if let unknown = peers.first(where: { id in !wanted.contains { $0.deviceID == id } }) {
      throw SyncError.unknownPeer(unknown)
    }
    if let blocked = wanted.first(where: \.isBlocked) {
      throw MembershipError.blocked(device: blocked.deviceID, name: blocked.name)
    }
    return wanted
  }
}
