internal import CLinux
internal import Glibc
internal import System

/// New files that are waited for together: writing each to the disk begins as soon as it is complete,
/// so that when the first one is there the others are on their way.
final class FileBatch {
  private let folder: String
  private var descriptors: [Int32] = []
  private var count = 0

  // Beyond a handful of files one sync of the file system is cheaper than one a file.
  private static let oneSyncThreshold = 16

  /// A batch of files that all are in `folder`.
  init(in folder: String) { self.folder = folder }

  deinit { closeAll() }

  /// Writes a file.
  func write(_ content: [UInt8], to path: String, mode: mode_t) throws {
    let descriptor = try Disk.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, mode: mode)
    descriptors.append(descriptor)
    count += 1
    try Disk.write(content, to: descriptor, path: path)
    _ = notes_start_writing(descriptor)
    if count > Self.oneSyncThreshold { closeAll() }
  }

  /// Waits until the files and their names are on the disk.
  func settle() throws {
    if count > Self.oneSyncThreshold {
      try Disk.syncFileSystem(of: folder)
    } else {
      for descriptor in descriptors { try Disk.sync(descriptor, path: folder) }
      try Disk.sync(folder: folder)
    }
    closeAll()
  }

  private func closeAll() {
    for descriptor in descriptors { close(descriptor) }
    descriptors = []
  }
}
