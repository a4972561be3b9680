import Glibc
import Synchronization
import TestSupport

/// Folders in memory for targets that read files; removed when the process ends.
enum FuzzFolder {
  private static let made = Mutex<[String]>([])

  static func make() throws -> String {
    let folder = try MemoryFolder()
    let isFirst = made.withLock { made in
      made.append(folder.path)
      return made.count == 1
    }
    if isFirst { atexit { FuzzFolder.made.withLock { $0 }.forEach { removeTree($0) } } }
    return folder.path
  }
}
