internal import Git
internal import Glibc
internal import History
internal import System
internal import WorkTree

/// git's lock files (`index.lock`, `HEAD.lock`, `refs/…/NAME.lock`) that a killed `notes` left
/// behind. No program would ever remove them, and every write there would fail. A lock file older
/// than the killed run belongs to another program, most likely a running git, and stays.
struct StaleLocks {
  let repository: Repository

  private var gitFolder: String { repository.gitFolder }

  private var index: String { gitFolder + "/index.lock" }

  /// The paths where lock files may be.
  private func places() throws -> [String] {
    var found = [index] + ["HEAD", "config", "packed-refs"].map { "\(gitFolder)/\($0).lock" }
    for folder in ["/refs", "/logs"] { try collect(gitFolder + folder, into: &found) }
    return found
  }

  /// The lock files that have existed since that second or longer, by their paths in the repository. git and
  /// `notes` keep a lock only for a moment.
  func standing(until time: Int64) throws -> [String] {
    try places().filter { path in
      var status = stat()
      return Counted.lstat(path, &status) == 0 && Int64(status.st_ctim.tv_sec) <= time
    }.map { String($0.dropFirst(gitFolder.count + 1)) }
  }

  /// Removes the lock files that were made after `start`, or before the machine was started.
  func remove(since start: timespec) throws {
    let boot = WallClock.startOfMachine
    // Only git uses the index's lock; an unfinished git operation may hold it.
    let isGitAtWork = repository.unfinishedOperation != nil
    for path in try places() {
      var status = stat()
      guard Counted.lstat(path, &status) == 0 else { continue }
      // The time when it got this name: a second name of a file has the time of the link.
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

/// An unborn branch that HEAD names, in a notebook with versions: notes-merge(7), "Foreign
/// commits". A save would begin another history there, and leave the old one to `git gc`.
struct UnbornBranch {
  let writer: VersionWriter
  let history: History

  /// Moves the branch to the version that the folder last had. If the index lacks some of its files,
  /// the branch stays unborn.
  ///
  /// - Returns: versions to merge.
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

  /// The version that the folder last had: the tip after the last command of notes, or a later commit on top of
  /// it to which git moved HEAD. Nil if there was none.
  private func lastShown() -> ObjectID? {
    let repository = writer.repository
    // A pruned tip cannot be continued.
    guard let tip = history.rememberedState()?.tip, (try? repository.commit(tip)) != nil else {
      return nil
    }
    let moved = BranchLog.last(of: "HEAD", gitFolder: repository.gitFolder).flatMap {
      // A removed branch has no new commit.
      $0.new == .zero ? $0.old : $0.new
    }
    // If the branch's commit is unknown, the last recorded tip is used.
    guard let moved, (try? repository.isAncestor(tip, of: moved)) == true else { return tip }
    return moved
  }
}

/// Versions of edits that were made while a checkout ran. References keep them until they are merged into the
/// tip. If this run is killed before that, the next run merges them.
struct RescuedVersions {
  static let folder = "refs/notes-state/rescued"
  /// Names the version that lists the forgettings of two histories, until a version on top of their merge repeats the
  /// list. If this run is killed before that, the next run makes the version on top.
  static let listReference = folder + "/list"

  let writer: VersionWriter

  private var folderPath: String { writer.repository.gitFolder + "/" + Self.folder }

  /// The reference that keeps a version.
  static func reference(of id: ObjectID) -> String { folder + "/" + id.hex }

  func keep(_ versions: [ObjectID]) throws {
    for id in versions {
      try writer.setDeviceReference(Self.reference(of: id), to: id, message: "notes: rescued")
    }
  }

  /// The versions to merge, and the one whose list is to be repeated on top of their merge.
  func left() throws -> (versions: [ObjectID], list: ObjectID?) {
    guard Counted.access(folderPath, F_OK) == 0 else { return ([], nil) }
    let all = try writer.repository.references(under: Self.folder + "/")
    return (
      all.filter { $0.name != Self.listReference }.map(\.id),
      all.first { $0.name == Self.listReference }?.id
    )
  }

  /// Forgets the versions, which are merged now.
  func forget() throws {
    guard Counted.access(folderPath, F_OK) == 0 else { return }
    var isEmpty = true
    for reference in try writer.repository.references(under: Self.folder + "/") {
      if reference.name == Self.listReference {
        isEmpty = false
      } else {
        try writer.repository.delete(reference: reference.name)
      }
    }
    if isEmpty { rmdir(folderPath) }
  }

  /// Forgets that a list is to be repeated.
  func forgetList() throws {
    try writer.repository.delete(reference: Self.listReference)
    rmdir(folderPath)
  }

  /// The files for which no kept version has the same text yet.
  func unkept(_ files: [TreePath: TreeEntry?]) throws -> [TreePath: TreeEntry?] {
    if files.isEmpty { return files }
    let trees = try left().versions.map { try writer.repository.commit($0).tree }
    return try files.filter { path, file in
      try !trees.contains { tree in
        let known = try writer.repository.entry(at: path, in: tree)
        return known?.id == file?.id && known?.mode == file?.mode
      }
    }
  }
}
