internal import Channel
internal import Membership
internal import Notebook
internal import Sync
internal import System
internal import Watch

/// A device that is invited through a notebook that it shares with this one.
struct InvitedDevice: Sendable {
  let member: Member
  private let watcher: ControlClient?
  private let context: SessionContext

  /// How many seconds a try may look for the device.
  private static let window = 10.0

  /// - Throws: a `Failure` when no member of the notebook in that folder is called so.
  init(named name: String, via folder: String) throws {
    let notebook = try Notebook.open(at: Notebook.find(from: NotebookLocator.folder(folder)))
    watcher = RunningWatcher.of(notebook)
    context = try notebook.sessionContext()
    let others = try MemberName(name).others(
      than: context.key.deviceID, among: context.membership.members())
    member = try MemberName(name).member(among: others)
  }

  /// Tells the device in a session of the shared notebook, on a thread of its own: in the one that
  /// the watcher of that notebook holds, or in one that is opened for it, again and again until the
  /// device was reached or the invitation has ended.
  func tell(
    _ carried: CarriedInvitation, until invitation: Invitation, withoutDiscovery: Bool
  ) {
    try? startThread {
      if let watcher, watcher.offer(carried, within: 1) {
        // For as long as this connection lasts, a session that begins anew tells it, too.
        while invitation.end == nil { Self.pause() }
        withExtendedLifetime(watcher) {}
        return
      }
      defer { withExtendedLifetime(watcher) {} }
      while invitation.end == nil {
        var run = SyncRun(context: context, options: SessionOptions(invitation: carried))
        run.peers = [member.deviceID]
        run.window = Self.window
        if !withoutDiscovery {
          run.discovery = DiscoveryOption.standard(for: context.key.deviceID)
        }
        guard let outcome = try? run.run(), !outcome.sessions.isEmpty else {
          Self.pause()
          continue
        }
        return
      }
    }
  }

  private static func pause() { _ = BlockingQueue<Bool>().take(until: .now + 2) }
}
