public import Git
internal import Glibc
internal import History
internal import State
internal import System
internal import WorkTree

/// A running `notes edit`: as long as it is there, saves of its notes are made on the texts that its editor
/// was given, or wrote since: notes-merge(7), "The stale editor".
public final class EditRun {
  private let lock: FileLock
  private let stateFolder: StateFolder

  fileprivate init(_ lock: FileLock, stateFolder: StateFolder) {
    (self.lock, self.stateFolder) = (lock, stateFolder)
  }

  deinit { EditRuns.end(lock, stateFolder: stateFolder) }
}

extension Notebook {
  /// Remembers the texts that an editor is about to be given; nil where that cannot be remembered.
  public func beginEdit(of paths: [TreePath]) -> EditRun? {
    // Before all checkouts that follow, also where the clock was set back.
    let time = max(
      WallClock.precise.nanoseconds, CheckoutLog(stateFolder: stateFolder).latestTime)
    let items = paths.compactMap { path -> EditRuns.Item? in
      // A note that cannot be read is no text that an editor was given.
      guard let text = try? workTree.text(of: path), let id = try? repository.hash(blob: text)
      else { return nil }
      return EditRuns.Item(path: path, text: id, time: time)
    }
    // Without the lock the editor is served all the same: what it writes counts as read in the folder.
    guard let lock = try? EditRuns.begin(items, stateFolder: stateFolder) else { return nil }
    return EditRun(lock, stateFolder: stateFolder)
  }

  /// The makers of other devices' edits of a note that came since the tip was `former`, with the proof that
  /// their names lack.
  public func otherWriters(of path: TreePath, since former: ObjectID?) throws -> [String] {
    try makers(
      of: history.othersVersions(of: path, since: former, than: identity.device.deviceID)
    ).eachOnce
  }
}
