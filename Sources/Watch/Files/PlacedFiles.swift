internal import Git
internal import Glibc
internal import System
internal import WorkTree

/// Whether a program read a file between a checkout that put it there and the next write: what access times
/// do not tell of a file that another was put in the place of. Only files that no program has read yet are
/// watched, so there is one event of each at most. An instance belongs to one thread.
struct PlacedFiles {
  private struct File {
    var reading: FileReading
    /// Its watch, until something happens to it, and the file as it was put there.
    var watch: Int32?
    var placed = FileStatus(stat())
  }

  private let folder: String
  private let events: FileEvents
  private let keepsTimes: Bool
  private var files: [TreePath: File] = [:]
  private var paths: [Int32: TreePath] = [:]
  /// Of the files, the one put there first first.
  private var order: [TreePath] = []

  /// How many files are known of; of others, access times tell.
  static let capacity = 64

  init(in folder: String, _ events: FileEvents) {
    (self.folder, self.events) = (folder, events)
    keepsTimes = FileReading.isKept(in: folder)
  }

  /// The reading that is known of a file; nil for none.
  func reading(of path: TreePath) -> FileReading? { files[path]?.reading }

  /// A checkout has just put these there.
  mutating func hold(_ placed: some Sequence<TreePath>) {
    guard keepsTimes else { return }
    for path in placed.prefix(Self.capacity) {
      release(path)
      var status = stat()
      let name = Array(folder.utf8) + [UInt8(ascii: "/")] + path.bytes
      // A file that cannot be watched is one that nobody was seen to read.
      guard let watch = try? events.watch(file: name, IN_ACCESS | IN_CLOSE_NOWRITE | IN_MODIFY)
      else { continue }
      // A program that read it before it was watched has left a trace.
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

  /// A program has written these, and that is a version.
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

  /// Takes an event of one of these files; false for another's.
  mutating func take(_ event: FileEvents.Event) -> Bool {
    guard let path = paths[event.watch] else { return false }
    if event.has(IN_IGNORED) {
      paths[event.watch] = nil
      files[path]?.watch = nil
    } else if event.has(IN_MODIFY) {
      // It was not read before.
      endWatch(event.watch)
      files[path]?.watch = nil
    } else if isRead(path) {
      endWatch(event.watch)
      files[path] = File(reading: .read)
    }
    return true
  }

  /// Reads of `notes` itself are told, too, and leave the access time as it was.
  private func isRead(_ path: TreePath) -> Bool {
    var status = stat()
    let name = Array(folder.utf8) + [UInt8(ascii: "/")] + path.bytes
    guard let placed = files[path]?.placed,
      Counted.lstat(name.map { CChar(bitPattern: $0) } + [0], &status) == 0
    else { return true }
    return FileReading(of: status, since: placed) != .unread
  }
}
