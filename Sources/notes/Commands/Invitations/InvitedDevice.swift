internal import Channel
internal import Membership
internal import Notebook
internal import Sync
internal import System
internal import Watch

/// A device that is invited through a notebook that it shares with this one.
final class InvitedDevice: Sendable {
  let member: Member
  private let context: SessionContext
  private let discovery: DiscoveryOption
  private let isOver = BlockingQueue<Bool>()

  /// How many seconds a try may look for the device, and the pause after one.
  private static let (window, pause) = (10.0, 2.0)

  /// - Throws: a `Failure` when no member of the notebook in that folder is called so.
  init(named name: String, via folder: String, _ discovery: DiscoveryOption) throws {
    self.discovery = discovery
    let notebook = try Notebook.open(at: Notebook.find(from: NotebookLocator.folder(folder)))
    context = try notebook.sessionContext()
    let others = try MemberName(name).others(
      than: context.key.deviceID, among: context.membership.members())
    member = try MemberName(name).member(among: others)
  }

  /// Tells the device in a session of the shared notebook, on a thread of its own: in the one that
  /// the watcher of that notebook holds, or in one that is opened for it, again and again until the
  /// device was reached or `stop` was called.
  func tell(of invitation: OpenInvitation, to membership: MembershipStore) {
    let carried = CarriedInvitation(invitation, to: membership, for: member.deviceID)
    try? startThread { [self] in
      let watcher = (try? Notebook.open(at: context.folder)).flatMap { RunningWatcher.of($0) }
      // A session that begins later tells it, too, for as long as the connection lasts.
      defer { withExtendedLifetime(watcher) {} }
      if let watcher, watcher.offer(carried, within: 1) {
        _ = isOver.take(until: .now + 3_600)
        return
      }
      repeat {
        var run = SyncRun(context: context, options: SessionOptions(invitation: carried))
        run.peers = [member.deviceID]
        run.window = Self.window
        run.discovery = discovery.discovery(for: context.key.deviceID)
        if let outcome = try? run.run(), !outcome.sessions.isEmpty { return }
      } while isOver.take(until: .now + Self.pause) == nil
    }
  }

  /// The invitation has ended.
  func stop() { isOver.put(true) }
}
