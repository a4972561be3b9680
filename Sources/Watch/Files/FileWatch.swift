internal import Git
internal import Glibc
internal import Sync
internal import System

/// Notices that a file was written, or that another was put in its place: inotify(7) on its folder.
public final class FileWatch: Sendable {
  private let stopping: WakeUp

  /// Watches the file `name` in `folder`. Where the user has no watches left, nothing is noticed.
  ///
  /// - Parameter changed: is called when the file may have changed, on a thread of the watch's own; for
  ///   the first time once it is watched, because what was read of it before may be old.
  /// - Throws: when there are no descriptors left, or no thread.
  public init(
    _ name: String, in folder: String, changed: @escaping @Sendable () -> Void
  ) throws {
    let stopping = try WakeUp()
    self.stopping = stopping
    try startThread {
      guard let events = try? FileEvents(),
        (try? events.watch(Array(folder.utf8), IN_CLOSE_WRITE | IN_MOVED_TO)) != nil
      else { return }
      changed()
      while true {
        let ready = Poll.wait(for: [events.descriptor, stopping.descriptor])
        if ready.contains(stopping.descriptor) { return }
        let happened = events.read()
        if happened.contains(where: { $0.name.description == name || $0.has(IN_Q_OVERFLOW) }) {
          changed()
        }
        // The folder is gone: nothing will come any more.
        if happened.contains(where: { $0.has(IN_IGNORED) }) { return }
      }
    }
  }

  /// Ends the watching.
  public func stop() { stopping.signal() }
}
