public import Git
internal import Glibc
internal import History
internal import State
internal import System
internal import WorkTree

/// A running `notes edit`. While it exists, saves of its notes are based on the texts that its editor was given
/// or has since written: notes-merge(7), "The stale editor".
public final class EditRun {
  private let lock: FileLock
  private let stateFolder: StateFolder

  fileprivate init(_ lock: FileLock, stateFolder: StateFolder) {
    (self.lock, self.stateFolder) = (lock, stateFolder)
  }

  deinit { EditRuns.end(lock, stateFolder: stateFolder) }
}

extension Notebook {
  /// Records the texts that an editor will be given; nil if they cannot be recorded.
  public func beginEdit(of paths: [TreePath]) -> EditRun? {
    // A time not before any earlier checkout, even if the clock was set back.
    let time = max(
      WallClock.precise.nanoseconds, CheckoutLog(stateFolder: stateFolder).latestTime)
    let items = paths.compactMap { path -> EditRuns.Item? in
      // If a note cannot be read, the editor was not given its text.
      guard let text = try? workTree.text(of: path), let id = try? repository.hash(blob: text)
      else { return nil }
      return EditRuns.Item(path: path, text: id, time: time)
    }
    // Without the lock the editor still runs: its saves count as based on the folder's text.
    guard let lock = try? EditRuns.begin(items, stateFolder: stateFolder) else { return nil }
    return EditRun(lock, stateFolder: stateFolder)
  }

  /// The makers of other devices' edits of a note since the tip was `former`, with a remark if a name is
  /// not proved.
  public func otherWriters(of path: TreePath, since former: ObjectID?) throws -> [String] {
    try makers(
      of: history.othersVersions(of: path, since: former, than: identity.device.deviceID)
    ).eachOnce
  }
}
