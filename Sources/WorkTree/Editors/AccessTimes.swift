internal import CLinux
public import Git
package import Glibc
internal import System

/// Whether a program has read a file since a checkout wrote it.
package enum FileReading: String, Codable, Sendable {
  /// No program has read it since the checkout.
  case unread
  /// A program has read it: an editor, or one that reads all files.
  case read
  case unknown
}

extension FileReading {
  /// Gives a file that a checkout writes an access time of exactly one second before its last write. The first
  /// read changes this time, also on file systems mounted with `relatime`; a write, or a read by notes itself,
  /// does not. The time is compared for equality, so a clock that jumps does no harm.
  static func markUnread(_ file: Int32) {
    var status = stat()
    guard Counted.fstat(file, &status) == 0 else { return }
    let omitted = timespec(tv_sec: 0, tv_nsec: 0x3fff_fffe)  // UTIME_OMIT
    futimens(file, [mark(status.st_mtim), omitted])
  }

  private static func mark(_ written: timespec) -> timespec {
    timespec(tv_sec: written.tv_sec - 1, tv_nsec: written.tv_nsec)
  }

  /// The reading that a file's access time proves.
  ///
  /// - Parameters:
  ///   - placed: the file's status when the checkout wrote it.
  ///   - status: its status now.
  package init(of status: stat, since placed: FileStatus) {
    let now = FileStatus(status)
    let accessed = (
      UInt32(truncatingIfNeeded: status.st_atim.tv_sec),
      UInt32(truncatingIfNeeded: status.st_atim.tv_nsec)
    )
    let mark = (placed.modifiedSeconds &- 1, placed.modifiedNanoseconds)
    if placed.inode == 0 || now.inode != placed.inode || now.device != placed.device {
      self = .unknown
    } else if accessed == mark {
      self = .unread
    } else if Self.mayHaveSetTimes(
      status, accessed < (placed.modifiedSeconds, placed.modifiedNanoseconds))
    {
      self = .unknown
    } else {
      // The last read was after the write. There may also have been one before.
      self = accessed <= (now.modifiedSeconds, now.modifiedNanoseconds) ? .read : .unknown
    }
  }

  /// Whether a program may have set a file's times after the write, as `cp -p` and `touch` do. Then mtime and
  /// ctime differ by a second or more, or they differ at all and the access time is before the checkout. An
  /// editor that sets the mode after its write is faster, and has read the file since.
  private static func mayHaveSetTimes(_ status: stat, _ isAccessedBefore: Bool) -> Bool {
    func seconds(_ time: timespec) -> Double { Double(time.tv_sec) + Double(time.tv_nsec) / 1e9 }
    let apart = abs(seconds(status.st_ctim) - seconds(status.st_mtim))
    return apart >= 1 || isAccessedBefore && apart > 0
  }

  /// Whether a program has read the file; nil if unknown.
  package var wasRead: Bool? {
    switch self {
    case .unread: false
    case .read: true
    case .unknown: nil
    }
  }

  /// Whether a program has read a file since its last write, judged by its status.
  package static func wasRead(_ status: stat) -> Bool {
    let mark = mark(status.st_mtim)
    return (status.st_atim.tv_sec, status.st_atim.tv_nsec) != (mark.tv_sec, mark.tv_nsec)
  }

  /// Whether a folder's file system keeps reliable access times.
  package static func isKept(in folder: String) -> Bool {
    notes_keeps_access_times(folder) != 0 && notes_file_system(folder) != tmpfs
  }

  /// The access times of this file system are not reliable: tests showed reads that no program had
  /// made.
  private static let tmpfs = 0x0102_1994
}

extension WorkTree {
  /// Reads the beginning of a note that is shown to a person, as any other program would. So if that person
  /// then saves the note, the save is based on this text.
  public func markRead(_ path: TreePath) {
    let name = Array("\(folder)/".utf8).map { CChar(bitPattern: $0) } + path.cString
    let file = Counted.open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return }
    defer { close(file) }
    var byte: UInt8 = 0
    _ = Glibc.read(file, &byte, 1)
  }
}
