internal import Glibc
internal import Notebook
internal import Synchronization

/// Packs what has gathered, and reads a long history, while nobody waits: `notes gc --auto`, a process
/// by itself in a session of its own, that goes on when the terminal closes.
enum BackgroundTidying {
  private static let started = Mutex<[pid_t]>([])
  // Of <spawn.h>, where _GNU_SOURCE shows it.
  private static let newSession: Int16 = 0x80

  /// Starts it if there is enough to do. Nothing depends on it, so a failure to start is no error:
  /// the next command tries again.
  static func startIfDue(in notebook: Notebook) {
    if notebook.isHousekeepingDue { start(inFolder: notebook.folder) }
  }

  /// Starts it. Two at once do no harm: the second leaves.
  static func start(inFolder folder: String) {
    var actions = posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    guard posix_spawn_file_actions_init(&actions) == 0 else { return }
    defer { posix_spawn_file_actions_destroy(&actions) }
    guard posix_spawnattr_init(&attributes) == 0 else { return }
    defer { posix_spawnattr_destroy(&attributes) }
    for descriptor in 0...2 as ClosedRange<Int32> {
      _ = posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
    }
    _ = posix_spawnattr_setflags(&attributes, newSession)
    let words = ["notes", "gc", "--auto", "-C", folder]
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
    arguments.append(nil)
    defer { for argument in arguments { free(argument) } }
    var child = pid_t()
    guard posix_spawn(&child, "/proc/self/exe", &actions, &attributes, &arguments, environ) == 0
    else { return }
    // A process that runs for months would gather those that have ended.
    started.withLock { started in
      started.removeAll { waitpid($0, nil, WNOHANG) != 0 }
      started.append(child)
    }
  }
}
