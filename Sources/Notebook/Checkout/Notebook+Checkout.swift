internal import Git
internal import Glibc

extension Notebook {
  /// Moves the branch from `from` to `to` and brings the folder along, for callers that hold the
  /// writer lock and have saved: the folder holds what `from` says.
  ///
  /// - Returns: versions of what somebody wrote into the files meanwhile, made on what they were
  ///   written upon; not part of any tip yet.
  func checkOut(
    from: ObjectID?, to: ObjectID, head: Head, overlay: [CheckoutJournal.Overlay] = [],
    operation: OperationKind = .checkout
  ) throws -> [ObjectID] {
    let journal = CheckoutJournal(from: from, to: to, overlay: overlay, leftOut: try leftOut())
    let checkout = try Checkout(
      notebook: self, plan: journal.plan(in: repository), journal: journal)
    try checkout.checkAccess(in: FolderAccess(folder: folder))
    try checkout.stage()
    return try finish(checkout, journal, head: head, operation: operation)
  }

  /// Finishes what a killed run left, if anything: before anything else looks at the folder, so
  /// that half a checkout is never taken for somebody's edit.
  func finishInterrupted() throws {
    if let journal = try CheckoutJournal.load(from: stateFolder) {
      let checkout = try Checkout(
        notebook: self, plan: journal.plan(in: repository), journal: journal)
      _ = try finish(checkout, journal, head: repository.head())
    } else {
      try CheckoutJournal.emptyStaging(in: stateFolder)
    }
    _ = try gatherLingering()
    let kept = try keptVersions().map { try plainForm(of: $0)?.version ?? $0 }
    if !kept.isEmpty {
      _ = try saveLocked(allowsMassDeletion: true)
      try joinLocked(kept, options: JoinOptions(allowsMassDeletion: true))
    }
  }

  private func finish(
    _ checkout: Checkout, _ journal: CheckoutJournal, head: Head,
    operation: OperationKind = .checkout
  ) throws -> [ObjectID] {
    var checkout = checkout
    // Whoever waits for the new texts has them now: with the journal and all that it speaks of on the
    // disk, the branch may follow.
    try checkout.run()
    if head.commit != journal.to {
      // Where a killed run had not moved the branch, somebody may have, with git: that version waits
      // with the rescued ones, and is joined with them.
      if let made = head.commit, made != journal.from {
        try keep([broughtBack(by: made, journal)])
      }
      try move(head, to: journal.to, operation: operation)
    }
    let rescued = try rescue(unkept(checkout.rescued), journal)
    try checkout.recordInIndex()
    // The rescued versions must be findable before the journal goes: references keep them.
    try keep(rescued)
    try remember(checkout.plan, journal)
    try CheckoutJournal.clear(in: stateFolder)
    try rememberTip()
    return try rescued + gatherLingering()
  }

  /// Remembers what the checkout brought into notes, for editors that have not seen it.
  private func remember(_ plan: CheckoutPlan, _ journal: CheckoutJournal) throws {
    guard let from = journal.from else { return }
    let entries = plan.steps.compactMap { step -> CheckoutLog.Entry? in
      guard let old = step.old, let new = step.new, old.id != new.id, !step.isLeftOut else {
        return nil
      }
      return CheckoutLog.Entry(
        path: step.path, base: journal.base(of: step.path) ?? from, old: old.id)
    }
    guard !entries.isEmpty else { return }
    var log = CheckoutLog(stateFolder: stateFolder)
    log.append(entries)
    try log.store()
  }

  /// Where rescued edits stand until they are part of the tip.
  static let rescueFolder = "refs/notes-state/rescued"

  /// Keeps rescued versions findable until they are part of the tip.
  func keep(_ rescued: [ObjectID]) throws {
    for id in rescued {
      let name = Self.rescueFolder + "/" + id.hex
      notedReferences.insert(name)
      try repository.set(reference: name, to: id, message: "notes: rescued")
    }
  }

  /// The versions that are kept so.
  private func keptVersions() throws -> [ObjectID] {
    guard access(repository.gitFolder + "/" + Self.rescueFolder, F_OK) == 0 else { return [] }
    return try repository.references(under: Self.rescueFolder + "/").map(\.id)
  }

  /// Leaves out files that stand so in a version that is kept already.
  private func unkept(_ files: [TreePath: TreeEntry?]) throws -> [TreePath: TreeEntry?] {
    if files.isEmpty { return files }
    let trees = try keptVersions().map { try repository.commit($0).tree }
    return try files.filter { path, file in
      try !trees.contains { tree in
        let known = try repository.entry(at: path, in: tree)
        return known?.id == file?.id && known?.mode == file?.mode
      }
    }
  }

  /// Makes versions of what was written during a checkout, each on what it was written upon.
  private func rescue(_ files: [TreePath: TreeEntry?], _ journal: CheckoutJournal) throws
    -> [ObjectID]
  {
    let groups = Dictionary(grouping: files.keys) { journal.base(of: $0) ?? journal.from }
    return try groups.map { base, paths in
      let parents = try base.map { [try repository.commit($0)] } ?? []
      let tree = try repository.write(
        tree: parents.first?.tree, replacing: files.filter { paths.contains($0.key) })
      let changes = paths.sorted().map {
        Change(path: $0, kind: files[$0] == .some(nil) ? .deleted : .modified)
      }
      return try makeVersion(of: tree, parents: parents, message: Self.message(for: changes))
    }.sorted()
  }
}
