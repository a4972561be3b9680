package import Git

/// One tree of a sum of trees.
package struct MergeTerm {
  var tree: ObjectID
  /// The notes that hold blocks of ours, with the size of their markers.
  var conflicts: [TreePath: Int]
  /// The head the tree belongs to; nil for a base.
  var head: Commit?

  package init(tree: ObjectID, conflicts: [TreePath: Int], head: Commit? = nil) {
    self.tree = tree
    self.conflicts = conflicts
    self.head = head
  }
}

/// What a file is in one term; nil where there is none.
struct FileValue: Hashable {
  var mode: FileMode
  var id: ObjectID

  init(mode: FileMode, id: ObjectID) {
    self.mode = mode
    self.id = id
  }

  init(_ entry: TreeEntry) { self.init(mode: entry.mode, id: entry.id) }
}

/// A file of the merged tree, before names are settled.
struct Claim {
  var value: FileValue
  /// The position of the first head it comes from.
  var owner: Int
  /// The name that head has for it.
  var source: TreePath
  /// The size of the markers of its blocks, nil when it has none.
  var markerSize: Int?
  /// Whether this merge put the blocks there.
  var isNewConflict = false
}
