internal import Notebook
internal import Synchronization
internal import System

/// Packs what has gathered, and reads a long history, while nobody waits: `notes gc --auto`, a process
/// by itself in a session of its own, that goes on when the terminal closes.
enum BackgroundGC {
  private static let started = Mutex<[ChildProcess]>([])

  /// Starts it if there is enough to do. Nothing depends on it, so a failure to start is no error:
  /// the next command tries again.
  static func startIfDue(in notebook: Notebook) {
    if notebook.isGarbageCollectionDue { start(inFolder: notebook.folder) }
  }

  /// Starts it. Two at once do no harm: the second leaves.
  static func start(inFolder folder: String) {
    let words = ["notes", "gc", "--auto", "-C", folder].map { Array($0.utf8) }
    guard
      let child = try? ChildProcess(
        "/proc/self/exe", arguments: words, input: .null, output: .null, errors: .null,
        group: .session)
    else { return }
    // A process that runs for months would gather those that have ended.
    started.withLock { started in
      started.removeAll(where: \.hasEnded)
      started.append(child)
    }
  }
}
