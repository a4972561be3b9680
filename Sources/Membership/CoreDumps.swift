internal import Glibc

/// Keeps the memory of a process that holds secrets from being written to the disk when it crashes.
enum CoreDumps {
  /// Turns them off, once. A limit of one byte, other than none at all, also holds where the kernel
  /// hands what it dumps to a program (do_coredump in Linux's fs/coredump.c).
  static let off: Void = {
    let resource = __rlimit_resource_t(RLIMIT_CORE.rawValue)
    var limit = rlimit()
    guard getrlimit(resource, &limit) == 0 else { return }
    limit.rlim_cur = min(1, limit.rlim_max)
    setrlimit(resource, &limit)
  }()
}
