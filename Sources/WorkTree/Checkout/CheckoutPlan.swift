package import Git

/// The steps of a checkout in the folder, in a fixed order: the plan of the same two trees is the same at
/// every run, which is what lets a later run finish an interrupted one.
package struct CheckoutPlan {
  package let steps: CheckoutSteps.SubSequence

  /// The plan's first steps only.
  package func prefix(_ count: Int) -> CheckoutPlan { CheckoutPlan(steps: steps.prefix(count)) }
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
    let missing = Set(sparse)
    var deletions: [TreeChange] = []
    var rest = CheckoutSteps.List()
    var waiting = missing
    try repository.forEachChange(from: old, to: new) { change in
      // Links and submodules of foreign commits are carried in trees but never written.
      if change.old?.mode.isFile == false || change.new?.mode.isFile == false { return }
      waiting.remove(change.path)
      if change.new == nil {
        deletions.append(change)
      } else {
        rest.append(change, wasSparse: missing.contains(change.path))
      }
    }
    rest.sort()
    var list = CheckoutSteps.List()
    for change in deletions.sorted(by: { $0.path > $1.path }) {
      list.append(change, wasSparse: missing.contains(change.path))
    }
    list.append(rest)
    for path in waiting.sorted() {
      guard let file = try new.flatMap({ try repository.entry(at: path, in: $0) }) else { continue }
      list.append(TreeChange(path: path, old: file, new: file), wasSparse: true)
    }
    steps = CheckoutSteps(list)[...]
  }
}
