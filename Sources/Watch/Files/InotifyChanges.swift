internal import Exchange
internal import Git
internal import Notebook
internal import Synchronization
internal import System
internal import WorkTree

/// The files written in a notebook's folder between the saves of a service that saves only when a device asks.
/// Because of the system's events, a session need not scan all notes.
final class InotifyChanges: FolderChanges {
  private let folder: String
  private let known = Mutex(Known())

  private struct Known {
    /// Nil before the first scan, and if the events were not sufficient.
    var events: FolderEvents?
    var paths: Set<TreePath> = []
    /// When the whole folder is scanned, regardless of events.
    var wholeLook = Instant.now
  }

  /// Begins to watch only when `scope` is called.
  init(of folder: String) { self.folder = folder }

  var scope: SaveScope {
    known.withLock { known in
      if isOnNetwork(folder) { return .everything }
      if known.events == nil {
        // Starts the watch before the scan of the folder, so that writes in the meantime cause events.
        // If the watch fails, every save scans everything.
        known = Known(events: try? FolderEvents(of: Notebook.open(at: folder)))
      } else {
        Self.read(&known)
      }
      let isSure = known.events?.isIncomplete == false && !known.wholeLook.hasPassed
      return isSure && known.paths.count <= NotebookLoop.manyPaths
        ? .only(known.paths) : .everything
    }
  }

  func saved(_ scope: SaveScope, without skipped: [SkippedFile]) {
    known.withLock { known in
      if case .only(let paths) = scope {
        known.paths.subtract(paths)
      } else {
        known.paths = []
        known.wholeLook = .now + NotebookLoop.net
      }
      // Look at these files again: there may be no event when they can be saved.
      known.paths.formUnion(skipped.filter { $0.reason == .changing }.map(\.path))
    }
  }

  private static func read(_ known: inout Known) {
    for event in known.events?.read() ?? [] {
      switch event {
      case .written(let path), .writing(let path), .gone(let path), .folder(let path):
        known.paths.insert(path)
      case .renamed(let former, let path): known.paths.formUnion([former, path])
      case .everything, .away:
        known = Known()
        return
      case .editorLock, .history, .membership, .addresses: break
      }
    }
  }
}
