internal import Glibc

/// What the system lets a user watch: inotify(7), "/proc interfaces".
struct WatchLimits {
  let watches: Int
  let instances: Int

  /// What a watcher needs beside one a folder: those inside `.git`.
  static let own = 5

  /// The limits now; nil where the system does not tell them.
  static var present: WatchLimits? {
    guard let watches = number("max_user_watches"), let instances = number("max_user_instances")
    else { return nil }
    return WatchLimits(watches: watches, instances: instances)
  }

  /// Whether not even one more program may watch.
  var isExhausted: Bool {
    let descriptor = inotify_init1(Int32(IN_CLOEXEC))
    if descriptor >= 0 { close(descriptor) }
    return descriptor < 0
  }

  private static func number(_ name: String) -> Int? {
    guard let file = fopen("/proc/sys/fs/inotify/" + name, "re") else { return nil }
    defer { fclose(file) }
    var buffer = [CChar](repeating: 0, count: 32)
    guard fgets(&buffer, Int32(buffer.count), file) != nil else { return nil }
    return Int(String(decoding: buffer.prefix { $0 > 32 }.map { UInt8($0) }, as: UTF8.self))
  }
}
