internal import Glibc
internal import System

/// The mode bits that new files of this process do not get.
enum FileModeMask {
  /// Read once from the process's status (proc(5), "Umask"): umask(2) can only tell the mask by
  /// setting another, which files that other threads make in that moment would get.
  static let ofProcess: mode_t = {
    let status = (try? Disk.readIfThere("/proc/self/status")) ?? nil
    let line = (status ?? []).split(separator: UInt8(ascii: "\n"))
      .first { $0.starts(with: "Umask:".utf8) }
    let digits = (line ?? []).filter { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "7") }
    return mode_t(String(decoding: digits, as: UTF8.self), radix: 8) ?? 0o022
  }()
}
