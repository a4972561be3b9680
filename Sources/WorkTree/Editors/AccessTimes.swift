internal import CLinux
public import Git
package import Glibc
internal import System

/// Whether a program has read a file since a checkout put it there.
package enum FileReading: String, Codable, Sendable {
  /// None has, before it was written.
  case unread
  /// One has: an editor, or something that reads all files.
  case read
  case unknown
}

extension FileReading {
  /// Gives a file that a checkout brings an access time of exactly a second before its last write. The first
  /// read sets it, on file systems mounted with `relatime` as well; a write leaves it, and so do our own
  /// reads. It is compared as it is, so a clock that jumps tells nothing wrong.
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
  ///   - placed: the file as it was put there.
  ///   - status: as it is now.
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
      // Read after the write, it may have been read before as well.
      self = accessed <= (now.modifiedSeconds, now.modifiedNanoseconds) ? .read : .unknown
    }
  }

  /// Whether a program may have set a file's times after the write, as `cp -p` and `touch` do: the write and the last
  /// change of anything about the file are dated a second or more apart, or apart at all where the access is dated
  /// before the file was put there. An editor that sets the mode after it has written is faster, and has read it since.
  private static func mayHaveSetTimes(_ status: stat, _ isAccessedBefore: Bool) -> Bool {
    func seconds(_ time: timespec) -> Double { Double(time.tv_sec) + Double(time.tv_nsec) / 1e9 }
    let apart = abs(seconds(status.st_ctim) - seconds(status.st_mtim))
    return apart >= 1 || isAccessedBefore && apart > 0
  }

  /// Whether a program has; nil where that is not known.
  package var wasRead: Bool? {
    switch self {
    case .unread: false
    case .read: true
    case .unknown: nil
    }
  }

  /// Whether a file that nobody has written since was read, by its status.
  package static func wasRead(_ status: stat) -> Bool {
    let mark = mark(status.st_mtim)
    return (status.st_atim.tv_sec, status.st_atim.tv_nsec) != (mark.tv_sec, mark.tv_nsec)
  }

  /// Whether the file system that a folder is on keeps access times that can be relied on.
  package static func isKept(in folder: String) -> Bool {
    notes_keeps_access_times(folder) != 0 && notes_file_system(folder) != tmpfs
  }

  /// Not relied on: plays there told of reads that no program was seen to make.
  private static let tmpfs = 0x0102_1994
}

extension WorkTree {
  /// Reads the beginning of a note that a person is shown, as any other program would: who saves it afterwards
  /// has seen the text.
  public func markRead(_ path: TreePath) {
    let name = Array("\(folder)/".utf8).map { CChar(bitPattern: $0) } + path.cString
    let file = Counted.open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return }
    defer { close(file) }
    var byte: UInt8 = 0
    _ = Glibc.read(file, &byte, 1)
  }
}
