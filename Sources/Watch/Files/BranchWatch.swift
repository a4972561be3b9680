internal import Git
internal import Glibc
internal import Notebook
internal import Synchronization
internal import System

/// Notices that the notebook has another version: the branch named by HEAD moved, or HEAD names another
/// branch, whichever program did it.
package final class BranchWatch: Sendable {
  private let folder: String
  private let changed: @Sendable () -> Void
  private let state = Mutex(State())

  private struct State {
    var head: FileWatch?
    var branch: FileWatch?
    var place: Place?
    var isStopped = false
  }

  /// The watched path: the branch's file or, if it does not exist, the first missing folder on its path.
  private struct Place: Equatable {
    var folder: String
    var name: String

    init(_ reference: String, in gitFolder: String) {
      (folder, name) = (gitFolder, "")
      for part in reference.split(separator: "/").map(String.init) {
        if !name.isEmpty { folder += "/" + name }
        name = part
        guard access("\(folder)/\(name)", F_OK) == 0 else { return }
      }
    }
  }

  /// `changed` is called on separate threads, also once at first.
  package init(folder: String, changed: @escaping @Sendable () -> Void) throws {
    (self.folder, self.changed) = (folder, changed)
    let git = try Notebook.open(at: folder).repository.gitFolder
    let head = try FileWatch("HEAD", in: git) { [weak self] in self?.look() }
    state.withLock { $0.head = head }
  }

  /// Ends the watching.
  package func stop() {
    state.withLock { state in
      state.isStopped = true
      state.head?.stop()
      state.branch?.stop()
    }
  }

  /// Switches to the branch that HEAD names now, and calls `changed`.
  private func look() {
    // If the folder is unavailable there is no branch to watch; the next event tries again.
    let repository = try? Notebook.open(at: folder).repository
    if let repository, let reference = try? repository.head().reference {
      state.withLock { state in
        let place = Place(reference, in: repository.gitFolder)
        guard place != state.place, !state.isStopped else { return }
        state.branch?.stop()
        // If this is nil, the next event tries again, as below.
        state.branch = try? FileWatch(place.name, in: place.folder) { [weak self] in self?.look() }
        // A place that could not be watched is tried again the next time.
        state.place = state.branch == nil ? nil : place
      }
    }
    changed()
  }
}
