internal import Git
internal import Glibc
internal import System

/// The system's events in watched folders: inotify(7). An instance belongs to one thread.
final class FileEvents {
  struct Event {
    /// The watch that reported the event; -1 for an event of no watch.
    let watch: Int32
    let mask: UInt32
    /// The number that both halves of a rename share; 0 for other events.
    let cookie: UInt32
    /// The name inside the watched folder; empty for the folder itself.
    let name: TreePath

    func has(_ flag: Int32) -> Bool { mask & UInt32(flag) != 0 }
    var isFolder: Bool { mask & UInt32(IN_ISDIR) != 0 }
  }

  /// The descriptor that is readable when there are events.
  let descriptor: Int32

  private var buffer = [UInt8](repeating: 0, count: 16 << 10)
  /// The size of struct inotify_event without the name: four words.
  private static let headerSize = 16

  init() throws {
    descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
    guard descriptor >= 0 else {
      throw WatchError.system(call: "inotify_init", path: "", errno: errno)
    }
  }

  deinit { close(descriptor) }

  /// Watches a folder for the events of `mask`; returns the watch's number, or nil if it is not a
  /// folder any more. Throws `WatchError.system` with ENOSPC if the user's watches are used up.
  func watch(_ path: [UInt8], _ mask: Int32) throws -> Int32? {
    try add(path, UInt32(mask | IN_ONLYDIR | IN_DONT_FOLLOW | IN_EXCL_UNLINK))
  }

  /// Watches a file in the same way as a folder.
  func watch(file path: [UInt8], _ mask: Int32) throws -> Int32? {
    try add(path, UInt32(mask | IN_DONT_FOLLOW))
  }

  private func add(_ path: [UInt8], _ flags: UInt32) throws -> Int32? {
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

  func read() -> [Event] {
    var events: [Event] = []
    while true {
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      guard count > 0 else { return events }
      var rest = buffer[..<count]
      while rest.count >= Self.headerSize {
        let length = Int(rest.number(at: 12, as: UInt32.self))
        // The name is padded with NULs.
        let name = rest.dropFirst(Self.headerSize).prefix(length).prefix { $0 != 0 }
        events.append(
          Event(
            watch: rest.number(at: 0), mask: rest.number(at: 4), cookie: rest.number(at: 8),
            name: TreePath(bytes: name)))
        rest = rest.dropFirst(Self.headerSize + length)
      }
    }
  }
}

/// Notices that a file was made, written or replaced: inotify(7) on its folder.
public final class FileWatch: Sendable {
  private let stopping: WakeUp

  /// Watches the file `name` in `folder`. Calls `changed` on a thread of its own: first when the watch has
  /// begun, because anything read before may be outdated; then whenever the file may have changed; and last
  /// when the folder is removed, even if that happened before the watch began. If the user's watches are used
  /// up, it notices nothing. Throws if there are no descriptors or no threads left.
  public init(_ name: String, in folder: String, changed: @escaping @Sendable () -> Void) throws {
    let stopping = try WakeUp()
    self.stopping = stopping
    try startThread {
      // The watch of a folder ends with the folder, but a removed folder exists as long as a program has
      // something in it open. So the folder above is also watched.
      let parent = Array((folder + "/..").utf8)
      let own = folder.split(separator: "/").last.map(String.init)
      let (inFolder, above): (Int32?, Int32?)
      let events: FileEvents
      do {
        events = try FileEvents()
        above = try events.watch(parent, IN_DELETE | IN_MOVED_FROM)
        inFolder = try events.watch(Array(folder.utf8), IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_TO)
      } catch {
        // If the folder cannot be watched, this watch reports nothing, as documented.
        return
      }
      changed()
      guard let inFolder else { return }
      while true {
        let ready = Poll.wait(for: [events.descriptor, stopping.descriptor])
        if ready.contains(stopping.descriptor) { return }
        let happened = events.read()
        let isGone = happened.contains {
          $0.watch == inFolder
            ? $0.has(IN_IGNORED) : $0.watch == above && $0.name.description == own
        }
        let isMeant = happened.contains {
          $0.watch == inFolder && $0.name.description == name || $0.has(IN_Q_OVERFLOW)
        }
        if isMeant || isGone { changed() }
        // No more events will arrive.
        if isGone { return }
      }
    }
  }

  /// Ends the watch.
  public func stop() { stopping.signal() }
}
