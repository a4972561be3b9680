/// Changes to an index, which are applied to an old index to make a new one.
public struct IndexEdit {
  private let old: IndexFile
  private var isGone: [Bool]
  private var added: [IndexEntry] = []
  private var checkedParent: TreePath?

  /// Begins with the entries of `file`, which must be intact.
  public init(of file: IndexFile) {
    old = file
    isGone = [Bool](repeating: false, count: file.count)
  }

  /// Reserves space for this many entries.
  public mutating func reserveCapacity(_ count: Int) { added.reserveCapacity(count) }

  /// The tree of the root if no entry was changed. Nil if one was changed, or if the old index does not record that
  /// tree.
  public var unchangedTree: ObjectID? { added.isEmpty && !isGone.contains(true) ? old.tree : nil }

  /// Adds an entry, or replaces the one at its path. If a file replaces a folder, or a folder a
  /// file, the old entries are removed.
  public mutating func set(_ entry: IndexEntry) {
    if let position = old.position(of: entry.path) {
      isGone[position] = true
    } else {
      var below = old.firstPosition(below: entry.path)
      while below < old.count, old.isBelow(entry.path, at: below) {
        isGone[below] = true
        below += 1
      }
      if entry.path.parent != checkedParent {
        checkedParent = entry.path.parent
        var folder = entry.path.parent
        while let path = folder {
          if let position = old.position(of: path) { isGone[position] = true }
          folder = path.parent
        }
      }
    }
    added.append(entry)
  }

  /// Removes the entry that the old index has at `path`, if there is one.
  public mutating func remove(_ path: TreePath) {
    if let position = old.position(of: path) { isGone[position] = true }
  }

  /// The new index. Unchanged entries are copied from the old one.
  public consuming func finish() -> NewIndex {
    var index = NewIndex(of: old, count: added.count)
    var next = 0
    func copy(to end: Int) {
      while next < end {
        let start = next
        while next < end, !isGone[next], old.isCopiedWhole(at: next) { next += 1 }
        index.append(oldAt: start..<next)
        if next == end { return }
        if !isGone[next] {
          index.append(old, at: next, isSmudged: old.isRacy(old.status(at: next)))
        }
        next += 1
      }
    }
    added.sort { $0.path < $1.path }
    for entry in added {
      let place = old.firstPosition(notBefore: entry.path.bytes, from: next)
      copy(to: place)
      let known = next < old.count && old.isPath(at: next, equalTo: entry.path) ? next : nil
      let isSame = known.map { old.id(at: $0) == entry.id && old.mode(at: $0) == entry.mode }
      index.append(entry, isNew: isSame != true)
    }
    copy(to: old.count)
    return index
  }
}
