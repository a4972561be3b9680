internal import Git
internal import History
internal import Merge
internal import System
internal import WorkTree

/// Moves the branch to another commit and updates the folder. Merges nothing and saves nothing: it returns
/// edits made in the meantime as versions.
struct TipCheckout {
  let writer: VersionWriter
  let history: History
  /// Called with the bases of saves that a checkout found.
  var tell: ([SaveRemark]) throws -> Void = { _ in }
  /// Called with each note that has a second name on the disk, where the former text stays.
  var tellParted: (TreePath) -> Void = { _ in }

  private var workTree: WorkTree { history.workTree }
  private var repository: Repository { writer.repository }
  private var rescued: RescuedVersions { RescuedVersions(writer: writer) }

  /// Runs a checkout. Before it, the folder must have the files of `head`, except those of `overlay`.
  ///
  /// - Returns: versions of edits made in the meantime, each on top of its base, and not merged into a tip yet.
  func run(
    from head: Head, to tip: ObjectID, overlay: [CheckoutJournal.Overlay] = [],
    operation: OperationKind, mustBeWritten: Set<TreePath> = [], meter: WorkMeter? = nil
  ) throws -> [ObjectID] {
    let overlay = try overlay + waiting(besides: overlay)
    let shown = Set(overlay.map(\.path))
    let journal = CheckoutJournal(
      from: head.commit, to: tip, overlay: overlay,
      sparse: try workTree.sparseFiles().filter { !shown.contains($0) })
    let checkout = try Checkout(in: workTree, plan: journal.plan(in: repository), journal: journal)
    try checkout.checkAccess(in: FolderAccess(folder: workTree.folder), to: mustBeWritten)
    try checkout.stage(meter: meter)
    return try finish(checkout, journal, head: head, operation: operation)
  }

  /// The files that still have an older text, because a checkout could not replace them.
  private func waiting(
    besides overlay: [CheckoutJournal.Overlay]
  ) throws -> [CheckoutJournal.Overlay] {
    let written = Set(overlay.map(\.path))
    return try WaitingFiles(in: workTree.stateFolder).files.values.compactMap { held in
      guard !written.contains(held.path), let file = held.file, let base = held.base,
        try repository.contains(base)
      else { return nil }
      return CheckoutJournal.Overlay(path: held.path, file: file, base: base)
    }.sorted { $0.path < $1.path }
  }

  func finishInterrupted() throws {
    if let journal = try CheckoutJournal.load(from: workTree.stateFolder) {
      let checkout = try Checkout(
        in: workTree, plan: journal.plan(in: repository), journal: journal)
      _ = try finish(checkout, journal, head: repository.head(), operation: .checkout)
    } else {
      try CheckoutJournal.emptyStaging(in: workTree.stateFolder)
    }
    _ = try keepLateWrites()
  }

  private func finish(
    _ checkout: Checkout, _ journal: CheckoutJournal, head: Head, operation: OperationKind
  ) throws -> [ObjectID] {
    var checkout = checkout
    // From now on, a program that waits for the new texts has them. The branch moves afterwards, when the
    // journal and all files are on the disk.
    try checkout.run()
    checkout.parted.sorted().forEach(tellParted)
    if head.commit != journal.to {
      // A killed run may not have moved the branch, and a person may have moved it with git. That person's
      // version waits with the rescued ones, and is merged with them.
      if let made = head.commit, made != journal.from {
        try rescued.keep([withRest(of: journal, made)])
      }
      try writer.move(head, to: journal.to, operation: operation)
    }
    let versions = try makeVersions(of: rescued.unkept(checkout.rescued), checkout, journal)
    try checkout.recordInIndex()
    // References must keep the versions before the journal is removed.
    try rescued.keep(versions)
    let held = WaitingFiles(checkout.held)
    try held.store(in: workTree.stateFolder)
    try remember(checkout, journal, besides: held)
    try CheckoutJournal.clear(in: workTree.stateFolder)
    try history.rememberTip()
    return try versions + keepLateWrites()
  }

  /// Records the notes that the checkout changed, for editors that have not loaded the new text.
  private func remember(
    _ checkout: Checkout, _ journal: CheckoutJournal, besides held: WaitingFiles
  ) throws {
    guard journal.from != nil else { return }
    let saves = Set(journal.overlay.map(\.path))
    let keepsTimes = FileReading.isKept(in: workTree.folder)
    let steps = checkout.plan.steps.compactMap { step -> CheckoutLog.Step? in
      guard let old = step.old, old.id != step.new?.id, !step.wasSparse,
        held[step.path] == nil,
        let base = journal.base(of: step.path)
      else { return nil }
      let path = step.path
      let replaced = checkout.replacedFiles[step.number]
      return CheckoutLog.Step(
        path: path, base: base, old: old.id, new: step.new?.id, inode: replaced?.inode ?? 0,
        isSave: saves.contains(path),
        wasRead: workTree.toldReading(path).flatMap(\.wasRead)
          ?? (keepsTimes ? replaced?.wasRead : nil))
    }
    guard !steps.isEmpty else { return }
    var log = CheckoutLog(stateFolder: workTree.stateFolder)
    log.append(steps, at: WallClock.precise.nanoseconds)
    try log.store()
  }

  /// Makes versions of edits made during a checkout, each on top of its base. Damage from a power cut is not
  /// an edit: for a damaged file, a further version takes the change back.
  private func makeVersions(
    of files: [TreePath: TreeEntry?], _ checkout: Checkout, _ journal: CheckoutJournal
  ) throws -> [ObjectID] {
    let cut = try files.filter { path, file in
      guard let file, let base = try journal.base(of: path).map(repository.commit),
        let former = try repository.entry(at: path, in: base.tree)
      else { return false }
      return try workTree.isDamaged(file.id, at: path, from: former.id)
    }
    let saves = try files.compactMap { path, file in
      try file.flatMap { try saveBase(of: path, $0, checkout, journal) }.map { (path, $0) }
    }
    try tell(saves.map(SaveRemark.init))
    let older = Dictionary(saves.map { ($0.0, $0.1.unseen?.base) }) { first, _ in first }
      .compactMapValues { $0 }
    func versions(_ files: [TreePath: TreeEntry?]) throws -> [ObjectID] {
      try Dictionary(grouping: files.keys) { [older[$0], journal.base(of: $0)] }
        .map { bases, paths in
          try writer.makeVersion(
            on: bases[0] ?? bases[1], replacing: files.filter { paths.contains($0.key) },
            trailers: bases[0].map { [EditedOnTrailer.line($0)] } ?? [])
        }
    }
    let names = cut.keys.sorted().map(\.noteTitle).joined(separator: ", ")
    let others = try versions(cut).map { try writer.makeVersion(bringingBack: names, beside: $0) }
    return try (versions(files.filter { !cut.keys.contains($0.key) }) + others).sorted()
  }

  /// The base of a file that was swapped out of the folder and not saved before. Its editor may have loaded a
  /// text from before an earlier checkout. Nil if the journal has the base.
  private func saveBase(
    of path: TreePath, _ file: TreeEntry, _ checkout: Checkout, _ journal: CheckoutJournal
  ) throws -> SaveBase? {
    guard !journal.overlay.contains(where: { $0.path == path }),
      let step = checkout.plan.steps.first(where: { $0.path == path }), let old = step.old,
      let replaced = checkout.replacedFiles[step.number]
    else { return nil }
    let index = try workTree.indexFile()
    guard let position = index.position(of: path) else { return nil }
    return try SaveBases(
      in: history, log: CheckoutLog(stateFolder: workTree.stateFolder),
      conflicts: { [repository] in
        try journal.from.map { try OpenConflicts.conflicts(at: $0, in: repository) } ?? [:]
      }, tip: journal.to
    ).base(
      of: path, saved: file.id, present: old.id, placed: index.status(at: position),
      status: replaced.status, index: index)
  }

  /// Makes versions of late writes: programs may have written to files after these were swapped out. Forgets the files
  /// that no program still has open.
  private func keepLateWrites() throws -> [ObjectID] {
    let files = LateWrites(stateFolder: workTree.stateFolder)
    guard !files.isEmpty else { return [] }
    var versions: [ObjectID] = []
    for var item in try files.items() {
      // Writers are looked for before the content is read: without a writer, the content is final.
      let isDone = !files.hasWriter(item)
      if files.isTooLarge(item) {
        if isDone { try files.setAside(item, in: FolderAccess(folder: workTree.folder)) }
        continue
      }
      if let content = try files.content(of: item) {
        let blob = try repository.write(blob: content)
        if blob != item.blob {
          let entry = TreeEntry(name: item.path.name, mode: item.mode, id: blob)
          let version = try writer.makeVersion(on: item.base, replacing: [item.path: entry])
          try rescued.keep([version])
          (item.base, item.blob) = (version, blob)
          try files.describe(item)
          versions.append(version)
        }
      }
      if isDone { try files.remove(item) }
    }
    return versions
  }

  /// Handles a foreign commit that was made while the folder was between two versions, after the branch had
  /// moved. Such a commit unintentionally reverts the changes that the checkout had not yet made.
  ///
  /// Its tree is therefore treated as an edit of the version that the folder had before. If the merge of that
  /// edit differs from the commit's tree, a version with the merge is put on top of the commit.
  ///
  /// - Returns: the version on top; the commit itself if none is needed.
  private func withRest(of journal: CheckoutJournal, _ made: ObjectID) throws -> ObjectID {
    guard try repository.isAncestor(journal.to, of: made) else { return made }
    let commit = try repository.commit(made)
    // An older text that an editor had saved by then is already in a version.
    var unseen: [TreePath: TreeEntry?] = [:]
    let former = try journal.from.map { try repository.commit($0).tree }
    for item in journal.overlay
    where try repository.entry(at: item.path, in: commit.tree) == item.file {
      unseen[item.path] = try former.flatMap { try repository.entry(at: item.path, in: $0) }
    }
    let tree = try repository.write(tree: commit.tree, replacing: unseen)
    let edit = try writer.write(
      of: tree, parents: journal.from.map { [$0] } ?? [], author: commit.author,
      committer: commit.committer, message: commit.message)
    let merged = try repository.commit(DerivedMerge.tip(of: [journal.to, edit], in: repository).id)
    if merged.tree == commit.tree { return made }
    return try writer.makeVersion(
      of: merged.tree, parents: [commit, merged],
      message: "Bring back what an interrupted checkout had brought")
  }
}

extension SaveBases {
  /// Finds the bases of saves while the device shows a commit.
  init(
    in history: History, log: CheckoutLog, conflicts: @escaping () throws -> [TreePath: Int],
    tip: ObjectID?
  ) {
    let tree = { try tip.map { try history.repository.commit($0).tree } }
    self.init(workTree: history.workTree, log: log, conflicts: conflicts, tree: tree) {
      path, commit in
      guard let tree = try tree() else { return false }
      return try history.renamedChanges(from: history.repository.commit(commit).tree, to: tree)
        .contains { $0.formerPath == path }
    }
  }
}
