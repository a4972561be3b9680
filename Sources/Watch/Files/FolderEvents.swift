internal import Git
internal import Glibc
internal import Notebook
internal import State
internal import WorkTree

/// The changes in a notebook's folder, by path. An instance belongs to one thread. It watches only folders. It
/// first watches a new folder, then lists it, repeatedly, until it watches all folders in the listing. So it
/// misses no file made in the meantime.
final class FolderEvents {
  enum Event: Hashable {
    /// A file was closed after writing, or moved there.
    case written(TreePath)
    case writing(TreePath)
    case gone(TreePath)
    case renamed(TreePath, to: TreePath)
    case folder(TreePath)
    case editorLock(TreePath, isThere: Bool)
    /// The notebook's version may have changed.
    case history
    case membership
    /// A device's last known address has changed.
    case addresses
    /// Events were lost.
    case everything
    /// The notebook's folder was removed, moved or unmounted.
    case away
  }

  var descriptor: Int32 { events.descriptor }
  /// Whether some folders are not watched because the user's watches are used up.
  private(set) var isIncomplete = false

  private let events: FileEvents
  private let folder: String
  private let list: (TreePath) throws -> [TreePath]
  private var paths: [Int32: TreePath] = [:]
  private var watches: [TreePath: Int32] = [:]
  private var history: Set<Int32> = []
  private var membership: Set<Int32> = []
  /// The files that checkouts have just written.
  private var placed: PlacedFiles
  private let gitFolder: String

  private static let fileEvents =
    IN_MODIFY | IN_ATTRIB | IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO
  private static let ownEvents = IN_DELETE_SELF | IN_MOVE_SELF

  /// Watches a notebook's folder; `list` returns the folders to watch at and below a path.
  init(folder: String, gitFolder: String, list: @escaping (TreePath) throws -> [TreePath]) throws {
    events = try FileEvents()
    self.folder = folder
    self.gitFolder = gitFolder
    self.list = list
    placed = PlacedFiles(in: folder, events)
    guard try watch("") else { throw WatchError.folderAway(folder) }
    try watchTree("")
    for path in [StateFolder(ofRepository: gitFolder).path, gitFolder + "/refs/heads"] {
      if let watch = try events.watch(Array(path.utf8), IN_MOVED_TO) {
        history.insert(watch)
      }
    }
    try watchMembership()
  }

  /// Watches the folder of a notebook, which stays open for that time.
  convenience init(of notebook: Notebook) throws {
    try self.init(folder: notebook.folder, gitFolder: notebook.repository.gitFolder) {
      try notebook.workTree.versionedFolders(below: $0)
    }
  }

  /// Watches the membership folder, which `notes members reset` replaces.
  private func watchMembership() throws {
    let folder = StateFolder(ofRepository: gitFolder)[.membership]
    membership = try Set(
      [folder, folder + "/certificates", folder + "/revocations"].compactMap {
        try events.watch(Array($0.utf8), IN_MOVED_TO | IN_DELETE)
      })
  }

  /// Watches the folders at and below `top` that have no watch yet.
  private func watchTree(_ top: TreePath) throws {
    while true {
      let missing = try list(top).filter { watches[$0] == nil }
      var isNew = false
      for path in missing where try watch(path) { isNew = true }
      if !isNew { return }
    }
  }

  /// Returns false if the folder no longer exists, or if the watches are used up.
  private func watch(_ path: TreePath) throws -> Bool {
    let full = Array(folder.utf8) + (path.isEmpty ? [] : [UInt8(ascii: "/")] + path.bytes)
    let mask = path.isEmpty ? Self.fileEvents | Self.ownEvents : Self.fileEvents
    do {
      guard let watch = try events.watch(full, mask) else { return false }
      paths[watch] = path
      watches[path] = watch
      return true
    } catch WatchError.system(_, _, ENOSPC) {
      isIncomplete = true
      return false
    }
  }

  private func forget(_ top: TreePath) {
    for (path, watch) in watches where path == top || path.isInside(top) {
      events.unwatch(watch)
      watches[path] = nil
      paths[watch] = nil
    }
  }

  // MARK: Files that checkouts wrote

  /// Whether a program read a file between the checkout and the next write; nil if unknown.
  func reading(of path: TreePath) -> FileReading? { placed.reading(of: path) }

  /// Tracks reads of these files, which a checkout has just written.
  func hold(_ paths: some Sequence<TreePath>) { placed.hold(paths) }

  /// Stops tracking these files: their edits are in a version now.
  func release(_ paths: some Sequence<TreePath>) { for path in paths { placed.release(path) } }

  // MARK: Reading

  private struct News {
    private(set) var events: [Event] = []
    /// The first half of a rename. If there is a second half, it is the next event.
    var left: (path: TreePath, cookie: UInt32)?

    mutating func settle() {
      if let gone = left?.path { events.append(.gone(gone)) }
      left = nil
    }

    mutating func add(_ event: Event) { if events.last != event { events.append(event) } }
  }

  func read() -> [Event] {
    var news = News()
    for event in events.read() {
      if event.has(IN_Q_OVERFLOW) {
        news.add(.everything)
      } else if history.contains(event.watch) {
        readHistory(event, &news)
      } else if membership.contains(event.watch) {
        news.add(.membership)
      } else if let parent = paths[event.watch] {
        readNote(event, in: parent, &news)
      } else {
        _ = placed.take(event)
      }
    }
    news.settle()
    return news.events
  }

  private func readHistory(_ event: FileEvents.Event, _ news: inout News) {
    switch event.name {
    case "membership":
      // If the membership folder cannot be watched, every handshake still reads it.
      try? watchMembership()
      news.add(.membership)
    case "addresses": news.add(.addresses)
    default:
      // Files of other programs in these folders do not matter.
      if event.has(IN_IGNORED) || !event.name.bytes.isEmpty { news.add(.history) }
    }
  }

  private func readNote(_ event: FileEvents.Event, in parent: TreePath, _ news: inout News) {
    if event.has(IN_UNMOUNT | IN_DELETE_SELF | IN_MOVE_SELF) {
      news.add(parent.isEmpty ? .away : .gone(parent))
      return
    }
    if event.has(IN_IGNORED) {
      paths[event.watch] = nil
      if watches[parent] == event.watch { watches[parent] = nil }
      return
    }
    if event.name == ".git" { return }
    if let note = EditorLock.note(lockedBy: event.name) {
      let isThere = event.has(IN_CREATE | IN_MOVED_TO)
      if isThere || event.has(IN_DELETE | IN_MOVED_FROM) {
        news.add(.editorLock(parent.appending(note), isThere: isThere))
      }
      return
    }
    let path = parent.appending(event.name)
    let isDebris = WorkTree.isDebris(event.name) && !event.isFolder
    if let former = news.left {
      // The file was renamed to a name that is never versioned, as some editors do for a backup:
      // this counts as a deletion.
      if event.has(IN_MOVED_TO), event.cookie == former.cookie, !isDebris {
        news.left = nil
        news.add(.renamed(former.path, to: path))
        if event.isFolder { addTree(path) }
        return
      }
      news.settle()
    }
    if isDebris { return }
    if event.has(IN_MOVED_FROM) { news.left = (path, event.cookie) }
    if event.isFolder { readFolder(event, path, &news) } else { readFile(event, path, &news) }
  }

  private func readFolder(_ event: FileEvents.Event, _ path: TreePath, _ news: inout News) {
    if event.has(IN_CREATE | IN_MOVED_TO) {
      addTree(path)
      news.add(.folder(path))
    } else if event.has(IN_DELETE | IN_MOVED_FROM) {
      forget(path)
      if event.has(IN_DELETE) { news.add(.gone(path)) }
    }
  }

  private func readFile(_ event: FileEvents.Event, _ path: TreePath, _ news: inout News) {
    if event.has(IN_CLOSE_WRITE | IN_MOVED_TO) {
      news.add(.written(path))
    } else if event.has(IN_DELETE) {
      news.add(.gone(path))
    } else if !event.has(IN_MOVED_FROM) {
      // The file is new or being changed, and not closed yet.
      news.add(.writing(path))
    }
  }

  private func addTree(_ path: TreePath) {
    do {
      // Only versioned folders are listed; an ignored one needs no watch.
      try watchTree(path)
    } catch {
      // The folder was removed, or is unreadable: the next rescan tries again.
      isIncomplete = true
    }
  }
}

extension TreePath {
  /// Whether the path is in that folder, at any depth.
  func isInside(_ folder: TreePath) -> Bool {
    folder.isEmpty
      || bytes.count > folder.bytes.count && bytes[folder.bytes.count] == UInt8(ascii: "/")
        && bytes.starts(with: folder.bytes)
  }
}
