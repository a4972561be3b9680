internal import Git
internal import Glibc
internal import System
internal import WorkTree

/// Whether a program read a file between the checkout that wrote it and the next write. Access times cannot
/// show this for a file that was replaced by another. Only files that no program has read yet are watched, so
/// there is at most one event for each. An instance belongs to one thread.
struct PlacedFiles {
  private struct File {
    var reading: FileReading
    /// The inotify watch of the file, which ends with the first event, and the file's status after the checkout.
    var watch: Int32?
    var placed = FileStatus(stat())
  }

  private let folder: String
  private let events: FileEvents
  private let keepsTimes: Bool
  private var files: [TreePath: File] = [:]
  private var paths: [Int32: TreePath] = [:]
  /// The files, in the order in which checkouts wrote them.
  private var order: [TreePath] = []

  /// How many files are tracked; for others, access times are used.
  static let capacity = 64

  init(in folder: String, _ events: FileEvents) {
    (self.folder, self.events) = (folder, events)
    keepsTimes = FileReading.isKept(in: folder)
  }

  /// Whether the file was read; nil if it is not tracked.
  func reading(of path: TreePath) -> FileReading? { files[path]?.reading }

  /// Tracks reads of these files, which a checkout has just written.
  mutating func hold(_ placed: some Sequence<TreePath>) {
    guard keepsTimes else { return }
    for path in placed.prefix(Self.capacity) {
      release(path)
      var status = stat()
      let name = Array(folder.utf8) + [UInt8(ascii: "/")] + path.bytes
      // If a file cannot be watched, no reader was seen.
      guard let watch = try? events.watch(file: name, IN_ACCESS | IN_CLOSE_NOWRITE | IN_MODIFY)
      else { continue }
      // A program that read it before the watch has changed the access time.
      guard Counted.lstat(name.map { CChar(bitPattern: $0) } + [0], &status) == 0,
        !FileReading.wasRead(status)
      else {
        events.unwatch(watch)
        files[path] = File(reading: .read)
        order.append(path)
        continue
      }
      files[path] = File(reading: .unread, watch: watch, placed: FileStatus(status))
      paths[watch] = path
      order.append(path)
    }
    while order.count > Self.capacity, let oldest = order.first { release(oldest) }
  }

  /// Stops tracking a file: its edit is in a version now.
  mutating func release(_ path: TreePath) {
    guard let file = files.removeValue(forKey: path) else { return }
    order.removeAll { $0 == path }
    endWatch(file.watch)
  }

  private mutating func endWatch(_ watch: Int32?) {
    guard let watch else { return }
    paths[watch] = nil
    events.unwatch(watch)
  }

  /// Handles an event of one of these files. Returns false if the event is for another file.
  mutating func take(_ event: FileEvents.Event) -> Bool {
    guard let path = paths[event.watch] else { return false }
    if event.has(IN_IGNORED) {
      paths[event.watch] = nil
      files[path]?.watch = nil
    } else if event.has(IN_MODIFY) {
      // No program had read the file before the write.
      endWatch(event.watch)
      files[path]?.watch = nil
    } else if isRead(path) {
      endWatch(event.watch)
      files[path] = File(reading: .read)
    }
    return true
  }

  /// Reads by `notes` also cause events, but do not change the access time.
  private func isRead(_ path: TreePath) -> Bool {
    var status = stat()
    let name = Array(folder.utf8) + [UInt8(ascii: "/")] + path.bytes
    guard let placed = files[path]?.placed,
      Counted.lstat(name.map { CChar(bitPattern: $0) } + [0], &status) == 0
    else { return true }
    return FileReading(of: status, since: placed) != .unread
  }
}
