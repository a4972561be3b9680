package import Git

/// The notes of a version that have conflict blocks: notes-merge(7), "Open conflicts".
public enum OpenConflicts {
  /// The most commits that a search for open conflicts visits below foreign commits.
  static let searchLimit = 256

  /// The notes in conflict at a commit, with the size of their markers.
  package static func conflicts(
    at commit: ObjectID, in store: any MergeStore
  ) throws -> [TreePath: Int] {
    try conflicts(at: store.commit(commit), in: store)
  }

  /// The trailers of a commit with that tree and these parents: the conflicts of the parents of which
  /// a block is still there.
  package static func carried(
    from parents: [Commit], to tree: ObjectID, in store: any MergeStore
  ) throws -> MergeTrailers {
    var trailers = MergeTrailers()
    for parent in parents {
      let open = try conflicts(at: parent, in: store)
      let standing = try standing(open, from: parent.tree, in: tree, store: store)
      trailers.conflicts.merge(standing) { max($0, $1) }
    }
    return trailers
  }

  package static func conflicts(
    at commit: Commit, in store: any MergeStore
  ) throws -> [TreePath: Int] {
    var known: [ObjectID: Commit] = [:]
    return try conflicts(at: commit, in: store, known: &known)
  }

  /// The conflicts at one of several commits. `known` keeps the ancestors that the commits' searches share.
  static func conflicts(
    at commit: Commit, in store: any MergeStore, known: inout [ObjectID: Commit]
  ) throws -> [TreePath: Int] {
    var found: [TreePath: Int] = [:]
    var seen: Set<ObjectID> = [commit.id]
    var waiting = [commit]
    var next = 0
    while next < waiting.count, next < searchLimit {
      let current = waiting[next]
      next += 1
      if isMadeByNotes(current) {
        let trailers = MergeTrailers(message: current.message)
        let standing = try standing(
          trailers.conflicts, from: current.tree, in: commit.tree, store: store)
        found.merge(standing) { max($0, $1) }
        if trailers.omitted == 0 { continue }
      }
      for parent in current.parents where seen.insert(parent).inserted {
        let commit = try known[parent] ?? store.commit(parent)
        known[parent] = commit
        waiting.append(commit)
      }
    }
    return found
  }

  /// Whether the commit's trailers list all its conflicts.
  static func isMadeByNotes(_ commit: Commit) -> Bool {
    DeviceAddress.isOurs(commit.author.email)
  }

  /// The conflicts that have a block in a later tree. The block may be in the note itself or, if the note was
  /// moved or copied, in another changed file.
  private static func standing(
    _ open: [TreePath: Int], from old: ObjectID, in new: ObjectID, store: any MergeStore
  ) throws -> [TreePath: Int] {
    if open.isEmpty || old == new { return open }
    var result: [TreePath: Int] = [:]
    for (path, size) in open {
      guard let entry = try store.entry(at: path, in: new), entry.mode.isFile else { continue }
      let isSame = try store.entry(at: path, in: old)?.id == entry.id
      if try isSame || !MarkedText(store.blob(entry.id), markerSize: size).blocks.isEmpty {
        result[path] = size
      }
    }
    // Blocks are rarely moved: the labels are read only if a changed file may have blocks.
    var known: [Int: Set<[[UInt8]]>]?
    for change in try store.changes(from: old, to: new) {
      guard let file = change.new, file.mode.isFile else { continue }
      let text = try store.blob(file.id)
      guard MarkedText.mayHoldBlocks(text) else { continue }
      let labels = try known ?? labels(of: open, in: old, store: store)
      known = labels
      for (size, labels) in labels where size > result[change.path, default: 0] {
        let blocks = MarkedText(text, markerSize: size).blocks
        if blocks.contains(where: { labels.contains($0.map(\.label)) }) {
          result[change.path] = size
        }
      }
    }
    return result
  }

  /// The labels of each block of those notes, by the size of the markers.
  private static func labels(
    of open: [TreePath: Int], in tree: ObjectID, store: any MergeStore
  ) throws -> [Int: Set<[[UInt8]]>] {
    var found: [Int: Set<[[UInt8]]>] = [:]
    for (path, size) in open {
      guard let entry = try store.entry(at: path, in: tree), entry.mode.isFile else { continue }
      for block in MarkedText(try store.blob(entry.id), markerSize: size).blocks {
        found[size, default: []].insert(block.map(\.label))
      }
    }
    return found
  }
}
