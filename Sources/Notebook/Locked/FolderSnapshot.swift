internal import Git
internal import History
internal import Merge
internal import WorkTree

/// Saves the folder's state as a version, and moves the branch to it. Merges nothing and changes no file.
/// Returns saves of editors that had loaded an older text to the caller.
struct FolderSnapshot {
  struct Result {
    var version: ObjectID?
    var changes: [Change] = []
    var skipped: [SkippedFile] = []
    /// Saves of editors that had not seen the last checkouts; not in a version yet.
    var stale: [StaleSave] = []
    /// Files that somebody wrote in the place of waiting notes. No version has them yet.
    var writtenInPlace: [WrittenFile] = []
    /// Whether notes wait for their place in the folder.
    var hasWaiting = false
    var remarks: [SaveRemark] = []
  }

  let writer: VersionWriter
  let history: History
  var guardsDeletions = true
  /// The trees of the first versions that arrive. The snapshot omits the files that their rules exclude.
  var coming: [ObjectID] = []
  /// Called with the version as soon as its objects are in the repository, before the branch moves.
  var earlyNotice: ((ObjectID) -> Void)?

  private var repository: Repository { writer.repository }

  /// Makes the version. The parameters are those of `Notebook.save`.
  func take(
    message: String? = nil, only paths: [TreePath] = [], scope: SaveScope = .everything,
    operation: OperationKind = .save, progress: SaveProgress = { _, _ in }
  ) throws -> Result {
    let workTree = history.workTree
    try workTree.agree(toFilesOf: coming)
    let head = try repository.head()
    let index = try workTree.withoutUnfit(mergedIndex(), staying: head)
    var found = try workTree.scan(scope, against: index)
    let guardian = DeletionGuard(repository: repository)
    if guardsDeletions && paths.isEmpty { try guardian.check(found, since: head.commit) }
    let cut = try takeOut(of: &found, only: paths, scope: scope, index: index)
    if !paths.isEmpty { found.keep(atOrBelow: paths) }
    let isSame = found.isEmpty && cut.isEmpty
    var log = CheckoutLog(stateFolder: workTree.stateFolder)
    var recording = SnapshotWriter(
      workTree, index: index, log: log, gone: Set(found.deleted.map(\.id)),
      bases: SaveBases(in: history, log: log, conflicts: history.openConflicts, tip: head.commit))
    let mostFiles = index.count + found.candidates.count
    var newIndex: StagedIndex?
    let hasWaiting =
      try !index.sparsePositions.isEmpty || !WaitingFiles(in: workTree.stateFolder).isEmpty
    var result = Result(skipped: found.skipped, hasWaiting: hasWaiting)
    try repository.withBatchedWrites {
      result.writtenInPlace = try WrittenFile.stored(found.writtenInPlace, of: workTree)
    }
    try repository.withBatchedWrites(isBeforeMove: true) {
      try recording.record(found.candidates, progress: progress)
      // There may be very many candidates, and their files have been read.
      found.candidates = []
      for entry in found.deleted { recording.remove(entry) }
      try recording.keepVersioned(cut, in: head)
      // The device agrees to the files that the user named, whichever device wrote them, and to other files if
      // they were written here.
      try workTree.agree(toFilesAmong: Set(paths + recording.changes.map(\.path)))
      if !coming.isEmpty { try workTree.agree(toFilesOf: coming) }
      recording.leaveOut(found.newlySparse)
      let tree = try recording.makeTree()
      try checkCount(mostFiles, of: tree)
      let parent = try head.commit.map { try repository.commit($0) }
      guard parent?.tree != tree, parent != nil || tree != .emptyTree else { return }
      // The scan does not find files that somebody removed from the index with git.
      if guardsDeletions, let parent, index.tree != parent.tree {
        try guardian.check(from: parent.tree, to: tree)
      }
      result.changes = try changes(
        of: recording, isWhole: index.tree == parent?.tree, from: parent?.tree, to: tree)
      result.version = try writer.makeVersion(
        of: tree, parents: parent.map { [$0] } ?? [],
        message: message ?? Change.summary(of: result.changes), written: recording.written,
        conflicts: formerConflicts(in: tree, among: recording.marked, head: head))
      // If nobody waits for the version, objects and index share one wait for the disk: writing the
      // index of a large notebook takes the most time.
      if !isSame, earlyNotice == nil { newIndex = try recording.stageIndex() }
    }
    try finish(
      result.version, head: head, operation: operation,
      index: isSame ? nil : { try newIndex ?? recording.stageIndex() })
    try log.markSeen(Set(result.changes.map(\.path)))
    (result.stale, result.remarks) = (recording.stale, recording.remarks)
    result.skipped = (found.skipped + recording.skipped).eachPathOnce
    return result
  }

  /// The index. Throws if git could not merge all files: their texts have git's markers, and the next index
  /// would no longer list them as unmerged.
  private func mergedIndex() throws -> IndexFile {
    let index = try history.workTree.indexForChange()
    if !index.unmergedPaths.isEmpty { throw NotebookError.unmerged(index.unmergedPaths) }
    return index
  }

  /// Moves the branch to a version, after its objects are on the disk, and puts its index in place.
  private func finish(
    _ version: ObjectID?, head: Head, operation: OperationKind, index: (() throws -> StagedIndex)?
  ) throws {
    if let version {
      earlyNotice?(version)
      try writer.move(head, to: version, operation: operation)
    } else {
      try repository.syncPendingObjects()
    }
    try index?().activate()
    if version != nil { try history.rememberTip() }
  }

  /// Throws if the version would exceed the limit of files. Folders are counted only if they could matter.
  private func checkCount(_ files: Int, of tree: ObjectID) throws {
    let limit = PackLimits.standard.files
    guard files > limit / 4,
      case .overLimit(let what, let limit) = try repository.excess(ofTree: tree)
    else { return }
    throw NotebookError.mergeTooLarge(what, limit: limit)
  }

  /// The differences from the last version: the recorded changes, unless git's index differed from
  /// it.
  private func changes(
    of recording: SnapshotWriter, isWhole: Bool, from former: ObjectID?, to tree: ObjectID
  ) throws -> [Change] {
    let recorded = recording.changes
    if isWhole, !recorded.isEmpty { return recorded.sorted { $0.path < $1.path } }
    return try Change.all(from: former, to: tree, in: repository)
  }

  /// Removes damaged files from the found changes, and records them; if a file is named by the user,
  /// its present content is intended.
  private func takeOut(
    of found: inout WorkingChanges, only paths: [TreePath], scope: SaveScope, index: IndexFile
  ) throws -> [PowerLossDamage] {
    let cut = try history.workTree.damagedFiles(among: found.candidates, of: index).filter { file in
      !paths.contains { $0 == file.path || file.path.isBelow($0) }
    }
    var isWhole = false
    if case .everything = scope { isWhole = true }
    try history.workTree.remember(cut, among: isWhole ? nil : found.candidates)
    found.skipped += cut.map(\.skipped)
    let excluded = Set(cut.map(\.path))
    found.candidates.removeAll { excluded.contains($0.path) }
    return cut
  }

  /// The files in `tree` with conflict blocks from earlier texts in the folder. Such files are notes that were
  /// moved while a checkout replaced them, and notes with text that an editor's undo restored.
  private func formerConflicts(
    in tree: ObjectID, among paths: Set<TreePath>, head: Head
  ) throws -> [TreePath: Int] {
    var found: [TreePath: Int] = [:]
    if paths.isEmpty { return found }
    let steps = try BranchLog(
      of: head.reference, tip: head.commit, gitFolder: repository.gitFolder
    ).entries.suffix(Self.searchedSteps)
    let bases =
      [head.commit] + CheckoutLog(stateFolder: history.workTree.stateFolder).latestBases
      + steps.reversed().map(\.old)
    for base in bases.compactMap({ $0 }).eachOnce {
      if found.count == paths.count { break }
      guard try repository.contains(base) else { continue }
      let former = try OpenConflicts.carried(
        from: [repository.commit(base)], to: tree, in: repository
      ).conflicts
      for path in paths where found[path] == nil { found[path] = former[path] }
    }
    return found
  }

  /// How many moves of the branch (saves and checkouts) are searched for such texts.
  private static let searchedSteps = 64
}
