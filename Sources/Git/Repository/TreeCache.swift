/// The content of the trees that were read last: a merge compares each head's tree with the same
/// one, and unpacking a folder of 10,000 notes takes longer than comparing it.
struct TreeCache {
  /// How many bytes of trees are kept: a folder of 100,000 notes.
  static let mostBytes = 6 << 20
  /// How many trees are kept, so that looking for one costs nothing beside reading it.
  static let mostTrees = 16

  // The one that was used last stands at the end.
  private var trees: [TreeBytes] = []
  private var bytes = 0

  /// The tree's content, if it is kept.
  mutating func content(of id: ObjectID) -> TreeBytes? {
    guard let index = trees.lastIndex(where: { $0.id == id }) else { return nil }
    let tree = trees.remove(at: index)
    trees.append(tree)
    return tree
  }

  /// Keeps a tree in the place of those that were not used for longest.
  mutating func keep(_ tree: TreeBytes) {
    guard tree.data.count <= Self.mostBytes else { return }
    trees.append(tree)
    bytes += tree.data.count
    while bytes > Self.mostBytes || trees.count > Self.mostTrees {
      bytes -= trees.removeFirst().data.count
    }
  }
}
