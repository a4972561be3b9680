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

  private func collect(_ folder: String, into found: inout [String]) throws {
    guard let stream = opendir(folder) else {
      if errno == ENOENT { return }
      throw NotebookError.file(call: "opendir", path: folder, errno: errno)
    }
    defer { closedir(stream) }
    while let entry = readdir(stream) {
      let name = String(decoding: entry.nameBytes, as: UTF8.self)
      if name == "." || name == ".." { continue }
      if entry.pointee.d_type == UInt8(DT_DIR) {
        try collect(folder + "/" + name, into: &found)
      } else if name.hasSuffix(".lock") {
        found.append(folder + "/" + name)
      }
    }
  }
}
