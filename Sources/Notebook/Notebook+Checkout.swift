internal import Git
internal import Glibc

extension Notebook {
  /// Moves the branch from `from` to `to` and brings the folder along, for callers that hold the
  /// writer lock and have saved: the folder holds what `from` says.
  ///
  /// - Returns: the version of what somebody wrote into the files meanwhile, made on `from`; it is
  ///   not part of any tip yet. Nil when nobody did.
  func checkOut(from: ObjectID?, to: ObjectID, head: Head) throws -> ObjectID? {
    let plan = try CheckoutPlan(
      from: from.map { try repository.commit($0).tree }, to: repository.commit(to).tree,
      in: repository)
    let checkout = try Checkout(notebook: self, plan: plan)
    try checkout.stage()
    try CheckoutJournal(from: from, to: to).store(in: stateFolder)
    return try finish(checkout, from: from, to: to, head: head)
  }

  /// Finishes what a killed run left, if anything: before anything else looks at the folder, so
  /// that half a checkout is never taken for somebody's edit.
  func finishInterrupted() throws {
    if let journal = try CheckoutJournal.load(from: stateFolder) {
      let plan = try CheckoutPlan(
        from: journal.from.map { try repository.commit($0).tree },
        to: repository.commit(journal.to).tree, in: repository)
      _ = try finish(
        Checkout(notebook: self, plan: plan), from: journal.from, to: journal.to,
        head: repository.head())
    }
    if access(repository.gitFolder + "/" + Self.rescueReference, F_OK) == 0 {
      _ = try saveLocked()
      try joinLocked([repository.reference(Self.rescueReference)].compactMap { $0 })
    }
  }

  private func finish(_ checkout: Checkout, from: ObjectID?, to: ObjectID, head: Head) throws
    -> ObjectID?
  {
    var checkout = checkout
    if head.commit == from, from != to { try move(head, to: to, reason: "checkout") }
    try checkout.run()
    let rescued = try rescue(checkout.rescued, on: from)
    try checkout.recordInIndex()
    // The rescued version must be findable before the journal goes: a reference keeps it.
    if let rescued {
      try repository.set(reference: Self.rescueReference, to: rescued, message: "notes: rescued")
    }
    try CheckoutJournal.clear(in: stateFolder)
    try rememberTip()
    return rescued
  }

  /// Where the last rescued edit stands until it is part of the tip.
  static let rescueReference = "refs/notes-state/rescued"

  /// Makes a version on `base` of what was written during a checkout.
  private func rescue(_ files: [TreePath: TreeEntry?], on base: ObjectID?) throws -> ObjectID? {
    guard !files.isEmpty else { return nil }
    let parents = try base.map { [try repository.commit($0)] } ?? []
    let tree = try repository.write(tree: parents.first?.tree, replacing: files)
    let message = Self.message(
      for: files.map { Change(path: $0.key, kind: $0.value == nil ? .deleted : .modified) }
        .sorted { $0.path < $1.path })
    return try makeVersion(of: tree, parents: parents, message: message)
  }
}
