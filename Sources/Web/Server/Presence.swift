internal import Exchange
internal import History
internal import Notebook
internal import Synchronization
internal import System
internal import Watch

/// Follows the notebook's watcher as long as this device's user has a page open: notes-control(7),
/// `follow`.
final class Presence: Sendable {
  private let site: Site
  private let isWanted: @Sendable () -> Bool
  private let changed: @Sendable () -> Void
  private let token: CancellationToken
  private let isRunning = Mutex(false)

  /// How often to check whether a watcher runs, in seconds.
  private static let pause = 2.0
  /// After how long without an event from the watcher to check whether a page is still open, in
  /// seconds.
  private static let silence = 600.0

  /// `changed` is called, on a separate thread, when the pages may need an update.
  init(
    of site: Site, isWanted: @escaping @Sendable () -> Bool, changed: @escaping @Sendable () -> Void
  ) throws {
    self.site = site
    (self.isWanted, self.changed) = (isWanted, changed)
    token = try CancellationToken()
  }

  /// Starts the thread, because a page is open.
  func begin() {
    guard site.mayBeWatched, !token.isCancelled else { return }
    isRunning.withLock { isRunning in
      if isRunning { return }
      // If the thread cannot be started, the next page that opens tries again.
      isRunning = (try? startThread { [self] in run() }) != nil
    }
  }

  func stop() { token.cancel() }

  private func run() {
    var wasThere = false
    while goesOn() {
      // If the folder is unavailable, there is no watcher.
      if let watcher = (try? Notebook.open(at: site.folder)).flatMap(site.watcher) {
        wasThere = true
        if watcher.ask(.follow) {
          while let reply = watcher.next(within: Self.silence, orUntil: token) {
            if concerns(reply) { changed() }
          }
        }
        changed()
      } else if wasThere {
        // A watcher that ends closes its connections before its socket, so this page may have found a socket
        // that was about to close.
        wasThere = false
        changed()
      }
      Poll.wait(for: [token.descriptor], until: .now + Self.pause)
    }
  }

  /// Returns whether to continue: a page is open. A page that opens at the same time is either noticed here, or starts
  /// the thread again.
  private func goesOn() -> Bool {
    isRunning.withLock { isRunning in
      isRunning = !token.isCancelled && isWanted()
      return isRunning
    }
  }

  private func concerns(_ reply: ControlReply) -> Bool {
    switch reply {
    // The first answer: a watcher runs, which the pages may not know yet.
    case .watcher, .changed: true
    case .event(let event): isAboutDevices(event)
    default: false
    }
  }

  /// Events of all notebooks of the watcher's process count: that is cheap, and rare.
  private func isAboutDevices(_ event: Event) -> Bool {
    switch event {
    case .connected, .disconnected, .shows, .editing, .membersChanged, .finished: true
    default: false
    }
  }
}
