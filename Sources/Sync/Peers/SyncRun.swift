public import Channel
public import Discovery
public import Membership
internal import Notebook

/// One run of `notes sync`, `pull` or `push`: finds the devices of the notebook that are there,
/// lets itself be found, and holds sessions until all of them show the same.
///
/// News that a session brings goes on to the devices that were synchronised with before it in the
/// same run.
public struct SyncRun: Sendable {
  package let context: SessionContext
  /// What the sessions do; the port is filled in.
  public var options: SessionOptions
  /// Finds devices and announces this one; stopped at the end. Nil: nobody is looked for.
  public var discovery: (any Discovery)?
  /// Where devices are, if the user said so; then nobody else is looked for.
  public var addresses: [Address] = []
  /// Where to listen meanwhile, so that two devices that both look find each other; nil: nowhere.
  public var listen: Address?
  /// How many seconds to wait for the first device.
  public var window = 3.0
  /// The devices meant, by name or by the beginning of their ID; empty: all.
  public var peers: [String] = []

  /// How many characters of a device ID are enough to name it.
  static let shortestID = 4

  package init(context: SessionContext, options: SessionOptions = SessionOptions()) {
    self.context = context
    self.options = options
  }

  /// Runs. What goes wrong with one device is in the outcome, and does not stop the others.
  ///
  /// - Parameter onEvent: is told what happens; called on this thread.
  /// - Throws: `SyncError.unknownPeer`, `SyncError.stopped` when cancelled, `ChannelError` when it
  ///   cannot listen, `MembershipError` when this device is no member (any more), `NotebookError`.
  public func run(
    cancellation: CancellationToken? = nil, onEvent: (Event) -> Void = { _ in }
  ) throws -> SyncOutcome {
    let members = try wantedMembers()
    _ = try context.credentials()
    let notebook = try Notebook.open(at: context.folder)
    let workers = try SyncWorkers(
      self, allowed: peers.isEmpty ? nil : Set(members.map(\.deviceID)))
    defer { workers.stop() }
    var coordination = SyncCoordination(self, members: members, notebook: notebook, workers)
    return try coordination.run(cancellation, onEvent)
  }

  /// The other members that are meant.
  ///
  /// - Throws: `SyncError.unknownPeer` and `MembershipError.blocked`.
  public func wantedMembers() throws -> [Member] {
    try context.membership.refresh()
    let others = context.membership.members().filter {
      !$0.isRemoved && $0.deviceID != context.key.deviceID
    }
    if peers.isEmpty { return others.filter { !$0.isBlocked } }
    var wanted: [Member] = []
    for name in peers {
      let named = others.filter {
        $0.name == name
          || (name.utf8.count >= Self.shortestID && $0.deviceID.hasPrefix(name.uppercased()))
      }
      if named.isEmpty { throw SyncError.unknownPeer(name) }
      if let blocked = named.first(where: \.isBlocked), named.allSatisfy(\.isBlocked) {
        throw MembershipError.blocked(device: blocked.deviceID, name: blocked.name)
      }
      wanted += named.filter { !wanted.contains($0) }
    }
    return wanted
  }
}
