package import Git
internal import Glibc
package import History
internal import Merge
internal import Rewriting
internal import System
package import WorkTree

/// The changes of a notebook while no other process can change it: `Notebook.withWriterLock` makes it.
///
/// Dependencies go in one direction. `FolderSnapshot` saves the folder, and `TipCheckout` updates it to a tip.
/// Neither knows the other, nor how a tip is derived. One loop at the top, `merge(_:options:)`, includes edits
/// made in the meantime.
package final class WriteTransaction {
  package let history: History
  package let writer: VersionWriter
  let rescued: RescuedVersions
  let portableRewrite: PortableRewrite
  /// The guest who changes files; nil if it is the device's own user.
  let guest: String?
  private let earlyNotice: ((ObjectID) -> Void)?
  let saveNotice: (SaveNews) -> Void
  /// The names of versions' makers, for people.
  let makers: ([Commit]) throws -> [String]
  /// Whether a forgetting's version, which is below these heads, counts.
  let counts: (ForgettingVersion, [ObjectID]) throws -> Bool
  /// Whether a save gives notice of text that looks like a secret.
  private let namesSecrets: Bool
  let device: DeviceIdentity

  private var checkout: TipCheckout {
    TipCheckout(
      writer: writer, history: history, tell: { [self] in try tell($0) },
      tellParted: { [self] in
        saveNotice(SaveNews(path: $0, kind: .linkParted, lines: 0, devices: []))
      })
  }

  var workTree: WorkTree { history.workTree }
  var repository: Repository { history.repository }

  init(
    _ history: History, device: DeviceIdentity, guest: String?, signer: VersionSigner?,
    earlyNotice: ((ObjectID) -> Void)?, saveNotice: @escaping (SaveNews) -> Void,
    makers: @escaping ([Commit]) throws -> [String],
    counts: @escaping (ForgettingVersion, [ObjectID]) throws -> Bool,
    namesSecrets: Bool
  ) {
    (self.makers, self.counts) = (makers, counts)
    self.history = history
    (self.device, self.saveNotice) = (device, saveNotice)
    self.guest = guest
    self.earlyNotice = earlyNotice
    self.namesSecrets = namesSecrets
    writer = VersionWriter(history, device: device, signer: signer)
    rescued = RescuedVersions(writer: writer)
    portableRewrite = PortableRewrite(writer: writer, history: history)
  }

  // MARK: Beginning and end

  /// Finishes an interrupted run. This is done before anything else reads the folder, so that half a checkout
  /// is not taken for an edit.
  ///
  /// - Throws: `gitOperation` if a git operation is in progress. The interrupted run's locks on git's
  ///   references are already removed then; the rest waits until the operation ends.
  func recover(_ lock: WriterLock) throws {
    try repository.removeHalfMade()
    if let start = lock.interrupted {
      try StaleLocks(repository: repository).remove(since: start)
      lock.dealtWithInterruption()
    }
    if let operation = repository.unfinishedOperation {
      throw NotebookError.gitOperation(operation)
    }
    try repository.checkIsComplete()
    try rescued.keep(UnbornBranch(writer: writer, history: history).adoptHistory())
    try checkout.finishInterrupted()
    let left = try rescued.left()
    let kept = try left.versions.map { try portableRewrite.version(for: $0)?.version ?? $0 }
    if !kept.isEmpty {
      var edits = try editsOfFolder()
      edits.versions += kept
      try merge(edits, options: MergeOptions(allowsMassDeletion: true, allowsLarge: true))
    }
    if let list = left.list { try listAgain(list) }
    try BranchRecord(writer: writer).keepDropped(at: history.clock.now().seconds)
  }

  /// If git removed the version of the last save, makes the save again: see `PrunedSave`.
  func makePrunedSaveAnew() throws -> (lost: ObjectID, version: ObjectID)? {
    try PrunedSave(writer: writer, history: history).makeAnew()
  }

  /// Whether a git lock file remains where this run wrote, because it could not be removed.
  func leavesLockFile() -> Bool {
    // If HEAD is unreadable, no branch has been moved.
    let branch = (try? repository.head().reference) ?? "HEAD"
    return writer.movedReferences.union(["HEAD", branch]).contains {
      Counted.access("\(repository.gitFolder)/\($0).lock", F_OK) == 0
    }
  }

  // MARK: Saving

  /// Saves the folder's state as a version, if it differs from the last one, and merges the saves of
  /// editors that had loaded an older text. The parameters are those of `Notebook.save`.
  @discardableResult
  package func save(
    message: String? = nil, only paths: [TreePath] = [], allowsMassDeletion: Bool = false,
    scope: SaveScope = .everything, operation: OperationKind = .save,
    beforeFirst heads: [ObjectID] = [], progress: SaveProgress = { _, _ in }
  ) throws -> SaveResult {
    var snapshot = snapshot(guardsDeletions: !allowsMassDeletion)
    snapshot.coming = try heads.map { try repository.commit($0).tree }
    let taken = try snapshot.take(
      message: message, only: paths, scope: scope, operation: operation, progress: progress)
    var (version, changes, skipped) = (taken.version, taken.changes, taken.skipped)
    if !taken.stale.isEmpty || !taken.writtenInPlace.isEmpty {
      let operation = version == nil ? operation : .continuation
      let merged = try merge(edits(of: taken), options: MergeOptions(operation: operation))
      version = merged.tip ?? version
      // If a save has the same text as the merge, the checkout has no step for it; then the index
      // is updated here.
      let tree = try merged.tip.map { try repository.commit($0).tree }
      let same = try taken.stale.filter { save in
        try tree.flatMap { try repository.entry(at: save.path, in: $0) }?.id == save.entry.id
      }
      if !same.isEmpty {
        _ = try self.snapshot(guardsDeletions: false).take(only: same.map(\.path), scope: scope)
      }
      changes += (taken.stale.map(\.path) + taken.writtenInPlace.map(\.path)).map {
        Change(path: $0, kind: .modified)
      }
      changes.sort { $0.path < $1.path }
    }
    if taken.hasWaiting {
      let absent = try bringWaiting(in: scope)
      skipped = skipped.compactMap { file in
        file.reason.isVersioned ? absent.first { $0.path == file.path } : file
      }
    }
    var news = try news(of: taken.remarks)
    if let version = taken.version, namesSecrets {
      news += try secrets(in: taken.changes, of: version)
    }
    news.forEach(saveNotice)
    return SaveResult(
      version: version, changes: changes, skipped: skipped, remarks: taken.remarks, news: news)
  }

  private func snapshot(guardsDeletions: Bool) -> FolderSnapshot {
    FolderSnapshot(
      writer: writer, history: history, guardsDeletions: guardsDeletions, earlyNotice: earlyNotice)
  }

  /// Writes waiting notes into the folder, if nothing prevents this any longer.
  ///
  /// - Returns: the notes that are still not in the folder.
  private func bringWaiting(in scope: SaveScope) throws -> [SkippedFile] {
    let absent = try workTree.absentFiles()
    let access = try FolderAccess(folder: workTree.folder)
    let held = try WaitingFiles(in: workTree.stateFolder)
    var mayCome = absent.contains { file in
      guard case .only(let paths) = scope else {
        if case .obstructed(let obstacle) = file.reason, obstacle.isOfFile { return false }
        return !access.cannotHold(file.path)
      }
      // If only some files are saved, names are not tested: a watcher would notice the test, and
      // save again.
      return file.reason == .waiting
        && paths.contains {
          $0.isEmpty || $0 == file.path || file.path.isBelow($0) || $0.isBelow(file.path)
        }
    }
    if case .only = scope {
    } else {
      mayCome = mayCome || held.files.values.contains(where: \.obstacle.isToBeTried)
    }
    guard mayCome else { return absent }
    try merge(Edits(), options: MergeOptions(operation: .checkout), checksOutAnyway: true)
    return try workTree.absentFiles()
  }

  // MARK: Merging

  /// Versions that are not merged into the tip yet.
  struct Edits {
    var versions: [ObjectID] = []
    /// Files in the folder that have these versions' text instead of the tip's.
    var overlay: [CheckoutJournal.Overlay] = []
  }

  /// Merges heads whose objects are in the repository with the tip, and updates the folder to the
  /// result. The folder must be saved.
  @discardableResult
  package func merge(
    _ heads: [ObjectID], options: MergeOptions = MergeOptions()
  ) throws -> MergeOutcome {
    try portableRewrite.check(heads)
    if let outcome = try moveOver(by: heads, options) { return outcome }
    try restoreDamagedFiles()
    let isFirst = try repository.head().commit == nil
    let outcome = try merge(Edits(versions: heads), options: options)
    if isFirst { try rememberObeyed() }
    return outcome
  }

  /// Derives the tip, checks it out, and repeats this while somebody writes during a checkout: each turn
  /// merges the edits made during the one before. References keep these edits until the last turn is
  /// over, so if the run is killed, `recover` finds them.
  @discardableResult
  func merge(
    _ edits: Edits, options: MergeOptions, checksOutAnyway: Bool = false
  ) throws -> MergeOutcome {
    let former = try repository.head().commit
    let conflictsBefore = Set(try history.openConflictPaths())
    var pending = edits
    var mustCheckOut = checksOutAnyway || !edits.overlay.isEmpty
    var reports: [MergeReport] = []
    while true {
      let head = try repository.head()
      let known = head.commit.map { [$0] } ?? []
      let heads = try DerivedMerge.reduce(known + pending.versions, in: repository)
      guard !heads.isEmpty else { break }
      guard heads.count <= DerivedMerge.mostHeads else {
        throw NotebookError.mergeTooLarge("versions side by side", limit: DerivedMerge.mostHeads)
      }
      let tip = try DerivedMerge.tip(of: heads, in: repository)
      reports = tip.reports
      guard tip.id != head.commit || mustCheckOut else { break }
      try check(tip, since: former, options)
      let raced = try checkout.run(
        from: head, to: tip.id, overlay: pending.overlay, operation: options.operation,
        mustBeWritten: options.mustBeWritten, meter: options.meter)
      if raced.isEmpty { break }
      // A program wrote while the files were swapped: save the rest, and merge again.
      pending = try editsOfFolder()
      pending.versions += raced
      mustCheckOut = !pending.overlay.isEmpty
    }
    try rescued.forget()
    let tip = try repository.head().commit
    let changes = try Change.all(
      from: former.map { try repository.commit($0).tree },
      to: tip.map { try repository.commit($0).tree }, in: repository)
    let waiting = try changes.isEmpty ? [] : workTree.absentFiles().map(\.path)
    return MergeOutcome(
      former: former, tip: tip,
      heads: try tip.map { try DerivedMerge.advertisedHeads(of: $0, in: repository) } ?? [],
      changes: changes,
      waiting: waiting,
      conflicts: try history.openConflictPaths().filter { !conflictsBefore.contains($0) },
      reports: tip == former ? [] : reports)
  }

  /// Throws if all devices would refuse the tip.
  func checkBounds(_ tip: DerivedMerge.Tip) throws {
    for id in try [tip.id] + DerivedMerge.advertisedHeads(of: tip.id, in: repository) {
      let excess = try repository.excess(ofTree: repository.commit(id).tree)
      if case .overLimit(let what, let limit) = excess {
        throw NotebookError.mergeTooLarge(what, limit: limit)
      }
    }
  }

  /// A version of the files in the folder, if they differ from the last one.
  private func editsOfFolder() throws -> Edits {
    let taken = try snapshot(guardsDeletions: false).take()
    try tell(taken.remarks)
    return try edits(of: taken)
  }

  /// Makes a version of each stale save, on top of the text that its editor had loaded. Also makes a
  /// version of each file in the place of a waiting note, on top of the version that had the former
  /// file.
  private func edits(of taken: FolderSnapshot.Result) throws -> Edits {
    var edits = Edits()
    try edits.add(taken.writtenInPlace, by: writer)
    let saves = taken.stale
    if saves.isEmpty { return edits }
    for (base, saves) in Dictionary(grouping: saves, by: \.unseen.base).sorted(by: {
      $0.key < $1.key
    }) {
      // The loaded text is already in the history, unless only a replaced derived merge has it.
      let isKept = try repository.head().commit.map { try repository.isAncestor(base, of: $0) }
      let written = isKept == true ? saves.filter { $0.entry.id != $0.unseen.old } : saves
      var version = base
      if !written.isEmpty {
        version = try writer.makeVersion(
          on: base,
          replacing: Dictionary(written.map { ($0.path, $0.entry) }) { first, _ in first },
          written: written.map(\.written).max(), trailers: [EditedOnTrailer.line(base)])
        edits.versions.append(version)
      }
      edits.overlay += saves.map {
        CheckoutJournal.Overlay(path: $0.path, file: $0.entry, base: version)
      }
    }
    return edits
  }

  // MARK: After a power cut

  /// Restores the last version of files that a power cut damaged: all known ones, or these. Saves their damaged
  /// content in a version beside the history that no device ever shows.
  ///
  /// - Returns: the files, and the new version; nil if there were none.
  @discardableResult
  func restoreDamagedFiles(
    _ paths: [TreePath]? = nil
  ) throws -> (files: [PowerLossDamage], version: ObjectID)? {
    let cut = try workTree.knownDamagedFiles().filter { paths?.contains($0.path) ?? true }
    guard !cut.isEmpty, let tip = try writer.tip() else { return nil }
    var found: [TreePath: TreeEntry?] = [:]
    for file in cut {
      guard let former = try repository.entry(at: file.path, in: tip.tree),
        case .read(let content) = try FileContent.read(
          file.path, in: workTree.folder, sizeLimit: workTree.sizeLimit)
      else { continue }
      found[file.path] = TreeEntry(
        name: former.name, mode: former.mode, id: try repository.write(blob: content.bytes))
    }
    if found.isEmpty { return nil }
    let titles = found.keys.sorted().map(\.noteTitle)
    let names = titles.count <= 3 ? titles.joined(separator: ", ") : "\(titles.count) notes"
    let left = try writer.makeVersion(
      of: repository.write(tree: tip.tree, replacing: found), parents: [tip],
      message: "What a power cut left of \(names)")
    let version = try writer.makeVersion(bringingBack: names, beside: left)
    let overlay = cut.compactMap { file in
      found[file.path]?.map { CheckoutJournal.Overlay(path: file.path, file: $0, base: left) }
    }
    try merge(
      Edits(versions: [version], overlay: overlay),
      options: MergeOptions(allowsMassDeletion: true, allowsLarge: true, operation: .continuation))
    try workTree.forgetDamagedFiles(cut)
    return (cut, version)
  }
}
