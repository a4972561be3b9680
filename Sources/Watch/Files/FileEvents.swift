internal import Git
internal import Glibc

/// What the system says about watched folders: inotify(7). An instance belongs to one thread.
final class FileEvents {
  /// One event.
  struct Event {
    /// Which watch it is of; -1 for none in particular.
    let watch: Int32
    let mask: UInt32
    /// What the two halves of a rename have in common; 0 for others.
    let cookie: UInt32
    /// The name inside the watched folder; empty for the folder itself.
    let name: TreePath

    func has(_ flag: Int32) -> Bool { mask & UInt32(flag) != 0 }
    var isFolder: Bool { mask & UInt32(IN_ISDIR) != 0 }
  }

  /// Becomes readable when there are events.
  let descriptor: Int32

  private let buffer = UnsafeMutableRawBufferPointer.allocate(
    byteCount: FileEvents.bufferSize, alignment: 8)
  private static let bufferSize = 16 << 10
  /// inotify_event without its name: four words.
  private static let headerSize = 16

  init() throws {
    descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
    guard descriptor >= 0 else {
      buffer.deallocate()
      throw WatchError.system(call: "inotify_init", path: "", errno: errno)
    }
  }

  deinit {
    close(descriptor)
    buffer.deallocate()
  }

  /// Watches a folder for the events of `mask`; returns the watch's number, or nil when it is no
  /// folder (any more).
  ///
  /// - Throws: `WatchError.system` with ENOSPC when the user has no watches left.
  func watch(_ path: [UInt8], _ mask: Int32) throws -> Int32? {
    let flags = UInt32(mask | IN_ONLYDIR | IN_DONT_FOLLOW | IN_EXCL_UNLINK)
    let watch = inotify_add_watch(descriptor, path.map { CChar(bitPattern: $0) } + [0], flags)
    if watch >= 0 { return watch }
    switch errno {
    case ENOENT, ENOTDIR, ELOOP, EACCES: return nil
    default:
      throw WatchError.system(
        call: "inotify_add_watch", path: String(decoding: path, as: UTF8.self), errno: errno)
    }
  }

  func unwatch(_ watch: Int32) { inotify_rm_watch(descriptor, watch) }

  /// The events until now.
  func read() -> [Event] {
    var events: [Event] = []
    while true {
      let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
      guard count > 0 else { return events }
      var position = 0
      while position + Self.headerSize <= count {
        func word(_ offset: Int) -> UInt32 {
          buffer.loadUnaligned(fromByteOffset: position + offset, as: UInt32.self)
        }
        let length = Int(word(12))
        let start = position + Self.headerSize
        guard start + length <= count else { break }
        // The name is padded with NULs.
        let name = buffer[start..<(start + length)].prefix { $0 != 0 }
        events.append(
          Event(
            watch: Int32(bitPattern: word(0)), mask: word(4), cookie: word(8),
            name: TreePath(bytes: name)))
        position = start + length
      }
    }
  }
}
