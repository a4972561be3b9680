internal import Git
internal import Glibc
internal import History
internal import System
internal import WorkTree

/// Lock files of git's kind (`index.lock`, `HEAD.lock`, `refs/…/NAME.lock`) that a killed `notes`
/// left behind. No program would ever remove them, and every write there would fail.
/// A lock file that is older than the run that was killed is somebody else's, most likely a running
/// git's, and stays.
struct StaleLocks {
  let repository: Repository

  private var gitFolder: String { repository.gitFolder }

  private var index: String { gitFolder + "/index.lock" }

  /// The paths of lock files that may be there.
  private func places() throws -> [String] {
    var found = [index] + ["HEAD", "config", "packed-refs"].map { "\(gitFolder)/\($0).lock" }
    for folder in ["/refs", "/logs"] { try collect(gitFolder + folder, into: &found) }
    return found
  }

  /// The lock files that have stood since that second or before, by their paths in the repository. Git and `notes`
  /// hold one for a moment.
  func standing(until time: Int64) throws -> [String] {
    try places().filter { path in
      var status = stat()
      return Counted.lstat(path, &status) == 0 && Int64(status.st_ctim.tv_sec) <= time
    }.map { String($0.dropFirst(gitFolder.count + 1)) }
  }

  /// Removes the lock files that came into being since `start`, or before the machine was started.
  func remove(since start: timespec) throws {
    let boot = WallClock.startOfMachine
    // This one is git's alone. A git that is in the middle of something may have it.
    let isGitAtWork = repository.unfinishedOperation != nil
    for path in try places() {
      var status = stat()
      guard Counted.lstat(path, &status) == 0 else { continue }
      // When it got this name: a second name of a file has the time at which that was written.
      let time = status.st_ctim
      guard time < boot || !(time < start) && !(path == index && isGitAtWork) else { continue }
      guard unlink(path) == 0 || errno == ENOENT else {
        throw WorkTreeError.file(call: "unlink", path: path, errno: errno)
      }
    }
  }

  private func collect(_ folder: String, into found: inout [String]) throws(WorkTreeError) {
    guard Counted.access(folder, F_OK) == 0 else { return }
    try Disk.list(folder) { (entry) throws(WorkTreeError) in
      let path = folder + "/" + String(decoding: entry.name, as: UTF8.self)
      if entry.isFolder {
        try collect(path, into: &found)
      } else if path.hasSuffix(".lock") {
        found.append(path)
      }
    }
  }
}

/// A branch that HEAD names and that has no version, in a notebook that has some: notes-merge(7),
/// "Foreign commits". A save would begin another history there, and leave the first to `git gc`.
struct UnbornBranch {
  let writer: VersionWriter
  let history: History

  /// Points the branch at the version that the folder showed last. Where the index lacks some of its
  /// files, the branch stays unborn.
  ///
  /// - Returns: versions that are to be merged.
  func adoptHistory() throws -> [ObjectID] {
    let repository = writer.repository
    let head = try repository.head()
    guard head.commit == nil, let last = lastShown() else { return [] }
    let known = Set(try history.workTree.indexFile().entries.map(\.path))
    let files = try repository.files(in: repository.commit(last).tree)
    guard files.allSatisfy({ known.contains($0.path) }) else { return [last] }
    try writer.move(head, to: last, message: "\(BranchLog.beginning)\(last)")
    return []
  }

  /// The version that the folder showed last, if it ever showed one: what git moved HEAD to on top of
  /// what stood there when a command of ours ended, or that.
  private func lastShown() -> ObjectID? {
    let repository = writer.repository
    // A tip that was pruned is none to go on from.
    guard let tip = history.rememberedState()?.tip, (try? repository.commit(tip)) != nil else {
      return nil
    }
    let moved = BranchLog.last(of: "HEAD", gitFolder: repository.gitFolder).flatMap {
      // A branch that was removed leads to nothing.
      $0.new == .zero ? $0.old : $0.new
    }
    // If that cannot be known, the folder shows what it showed last.
    guard let moved, (try? repository.isAncestor(tip, of: moved)) == true else { return tip }
    return moved
  }
}

/// Versions of what somebody wrote while a checkout ran. References keep them until they are part of
/// the tip: a run that is killed before leaves them to the next.
struct RescuedVersions {
  static let folder = "refs/notes-state/rescued"

  let writer: VersionWriter

  private var folderPath: String { writer.repository.gitFolder + "/" + Self.folder }

  /// The reference that keeps a version.
  static func reference(of id: ObjectID) -> String { folder + "/" + id.hex }

  func keep(_ versions: [ObjectID]) throws {
    for id in versions {
      try writer.setDeviceReference(Self.reference(of: id), to: id, message: "notes: rescued")
    }
  }

  func kept() throws -> [ObjectID] {
    guard Counted.access(folderPath, F_OK) == 0 else { return [] }
    return try writer.repository.references(under: Self.folder + "/").map(\.id)
  }

  func forget() throws {
    guard Counted.access(folderPath, F_OK) == 0 else { return }
    for reference in try writer.repository.references(under: Self.folder + "/") {
      try writer.repository.delete(reference: reference.name)
    }
    rmdir(folderPath)
  }

  /// Those of the files that do not stand so in a version that is kept already.
  func unkept(_ files: [TreePath: TreeEntry?]) throws -> [TreePath: TreeEntry?] {
    if files.isEmpty { return files }
    let trees = try kept().map { try writer.repository.commit($0).tree }
    return try files.filter { path, file in
      try !trees.contains { tree in
        let known = try writer.repository.entry(at: path, in: tree)
        return known?.id == file?.id && known?.mode == file?.mode
      }
    }
  }
}
