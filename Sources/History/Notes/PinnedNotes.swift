public import State
internal import System
internal import WorkTree

/// The notes that are pinned to the top of this device's list, by their IDs: `.git/notes/pinned`, which never
/// leaves the device. Each has an empty file there, so two programs can pin at once without a lock.
public struct PinnedNotes {
  private let folder: String

  /// The pinned notes of the notebook with this state folder.
  public init(in stateFolder: StateFolder) { folder = stateFolder[.pinned] }

  /// The IDs of the pinned notes.
  public var ids: Set<String> { Set(Disk.namesIfAny(in: folder)) }

  /// Pins a note; nothing changes if it is pinned. Throws if that cannot be written.
  public func pin(_ id: String) throws {
    try Disk.makeFolder(folder, mode: 0o700)
    try Disk.replace("\(folder)/\(id)", with: [], isShared: true)
  }

  /// Unpins a note, if it is pinned. Throws if the file cannot be removed.
  public func unpin(_ id: String) throws { try Disk.remove("\(folder)/\(id)") }
}
