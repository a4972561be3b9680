internal import Glibc

/// Prevents a crash from writing the memory of a process with secrets to the disk.
enum CoreDumps {
  /// Turns core dumps off, once. A limit of one byte, unlike zero, also applies if the kernel
  /// passes dumps to a program (do_coredump in Linux's fs/coredump.c).
  static let off: Void = {
    let resource = __rlimit_resource_t(RLIMIT_CORE.rawValue)
    var limit = rlimit()
    guard getrlimit(resource, &limit) == 0 else { return }
    limit.rlim_cur = min(1, limit.rlim_max)
    setrlimit(resource, &limit)
  }()
}
