internal import Git
internal import Glibc
internal import System
internal import WorkTree

/// Lock files of git's kind (`index.lock`, `HEAD.lock`, `refs/…/NAME.lock`) that a killed `notes`
/// left behind. Nobody would ever remove them, and everything that has to write there would fail.
///
/// A lock file that is older than the run that was killed is somebody else's, most likely a running
/// git's, and stays.
struct StaleLocks {
  private let gitFolder: String

  init(gitFolder: String) { self.gitFolder = gitFolder }

  /// Removes the lock files that came into being since `start`, or before the machine was started.
  func remove(since start: timespec) throws {
    let boot = WallClock.startOfMachine
    var found = ["index", "HEAD", "config", "packed-refs"].map { "\(gitFolder)/\($0).lock" }
    try collect(gitFolder + "/refs", into: &found)
    for path in found {
      var status = stat()
      guard lstat(path, &status) == 0 else { continue }
      guard !(status.st_mtim < start) || status.st_mtim < boot else { continue }
      guard unlink(path) == 0 || errno == ENOENT else {
        throw NotebookError.file(call: "unlink", path: path, errno: errno)
      }
    }
  }

  private func collect(_ folder: String, into found: inout [String]) throws(NotebookError) {
    guard access(folder, F_OK) == 0 else { return }
    try Disk.list(folder) { (entry) throws(NotebookError) in
      let path = folder + "/" + String(decoding: entry.name, as: UTF8.self)
      if entry.isFolder {
        try collect(path, into: &found)
      } else if path.hasSuffix(".lock") {
        found.append(path)
      }
    }
  }
}
