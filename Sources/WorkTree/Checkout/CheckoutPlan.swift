package import Git

/// What a checkout has to do to the folder, in a fixed order: the plan of the same two trees is the
/// same at every run, which is what lets a later run finish an interrupted one.
package struct CheckoutPlan {
  package struct Step {
    /// The step's number, which names its file in the staging folder.
    package let number: Int
    package let path: TreePath
    /// The file as the old tree has it; nil when it is new.
    package let old: TreeEntry?
    /// The file as the new tree has it; nil when it goes.
    package let new: TreeEntry?
    /// Whether the folder does not have the old file, because it could not hold it.
    package let wasSparse: Bool
  }

  package let steps: [Step]

  /// The plan's first steps only.
  package func prefix(_ count: Int) -> CheckoutPlan {
    CheckoutPlan(steps: Array(steps.prefix(count)))
  }
}

extension CheckoutPlan {
  /// The steps from one tree to another: deletions first, deepest first, so that a folder can make
  /// room for a file; then the rest by path; then those left out until now that stay as they are, for
  /// which there may be room.
  ///
  /// - Parameter sparse: the files of the old tree that the folder does not have.
  package init(
    from old: ObjectID?, to new: ObjectID?, sparse: [TreePath] = [], in repository: Repository
  ) throws {
    var changes = try repository.changes(from: old, to: new)
    // Links and submodules of foreign commits are carried in trees but never written.
    changes.removeAll { $0.old?.mode.isFile == false || $0.new?.mode.isFile == false }
    let deletions = changes.filter { $0.new == nil }.sorted { $0.path > $1.path }
    let changed = Set(sparse.isEmpty ? [] : changes.map(\.path))
    let waiting = try sparse.filter { !changed.contains($0) }.sorted().compactMap { path in
      try new.flatMap { try repository.entry(at: path, in: $0) }.map {
        TreeChange(path: path, old: $0, new: $0)
      }
    }
    let missing = Set(sparse)
    var steps: [Step] = []
    steps.reserveCapacity(changes.count + waiting.count)
    func add(_ change: TreeChange) {
      steps.append(
        Step(
          number: steps.count, path: change.path, old: change.old, new: change.new,
          wasSparse: missing.contains(change.path)))
    }
    deletions.forEach(add)
    for change in changes where change.new != nil { add(change) }
    waiting.forEach(add)
    self.steps = steps
  }
}
