package import Git

/// The steps of a checkout in the folder, in a fixed order. Every run makes the same plan from the same two
/// trees, so a later run can finish an interrupted one.
package struct CheckoutPlan {
  package let steps: CheckoutSteps.SubSequence

  /// The plan's first steps only.
  package func prefix(_ count: Int) -> CheckoutPlan { CheckoutPlan(steps: steps.prefix(count)) }
}

extension CheckoutPlan {
  /// The steps from one tree to another, in this order:
  ///
  /// 1. Deletions, deepest first, so that a file can replace a folder.
  /// 2. All other changes, by path.
  /// 3. Unchanged files that could not be put into the folder before. They may fit now.
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
      // Links and submodules of foreign commits stay in the trees but are never written to the
      // folder.
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
