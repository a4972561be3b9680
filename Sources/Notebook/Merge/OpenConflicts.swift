public import Git

/// Which notes of a version hold conflict blocks of ours: notes-merge(7), "Open conflicts".
public enum OpenConflicts {
  /// How many commits made by hand are looked through for the versions they were made on.
  static let searchLimit = 256

  /// The notes in conflict at a commit, with the size of their markers.
  public static func conflicts(
    at commit: ObjectID, in repository: Repository
  ) throws -> [TreePath: Int] {
    try conflicts(at: repository.commit(commit), store: repository)
  }

  /// What a commit with that tree on these parents has to say in its trailers: the conflicts of the
  /// parents of which a block still stands.
  public static func carried(
    from parents: [ObjectID], to tree: ObjectID, in repository: Repository
  ) throws -> MergeTrailers {
    try carried(from: parents.map { try repository.commit($0) }, to: tree, store: repository)
  }

  /// A note in conflict, as `notes conflicts` tells it.
  public struct OpenConflict: Sendable {
    public var path: TreePath
    /// The first version that holds the conflict, as far as the search goes.
    public var since: ObjectID
    /// The size of the markers.
    public var markerSize: Int
    /// The sides of each block of the note.
    public var blocks: [[MarkedText.Side]]
  }

  /// The notes in conflict at a commit, by path, with their sides.
  public static func details(
    at commit: ObjectID, in repository: Repository
  ) throws -> [OpenConflict] {
    let version = try repository.commit(commit)
    let open = try conflicts(at: version, store: repository)
    return try open.keys.sorted().compactMap { path in
      guard let size = open[path], let entry = try repository.entry(at: path, in: version.tree)
      else { return nil }
      return OpenConflict(
        path: path, since: try first(path, at: version, store: repository), markerSize: size,
        blocks: MarkedText(try repository.blob(entry.id), markerSize: size).blocks)
    }
  }

  /// The oldest version, going back through parents that have the conflict too.
  private static func first(
    _ path: TreePath, at commit: Commit, store: any MergeStore
  ) throws -> ObjectID {
    var current = commit
    for _ in 0..<SideLabel.searchLimit {
      let before = try current.parents.map { try store.commit($0) }
      guard
        let parent = try before.first(where: {
          try conflicts(at: $0, store: store)[path] != nil
        })
      else { break }
      current = parent
    }
    return current.id
  }

  package static func carried(
    from parents: [Commit], to tree: ObjectID, store: any MergeStore
  ) throws -> MergeTrailers {
    var trailers = MergeTrailers()
    for parent in parents {
      let open = try conflicts(at: parent, store: store)
      let standing = try standing(open, from: parent.tree, in: tree, store: store)
      trailers.conflicts.merge(standing) { max($0, $1) }
    }
    return trailers
  }

  package static func conflicts(at commit: Commit, store: any MergeStore) throws -> [TreePath: Int]
  {
    var found: [TreePath: Int] = [:]
    var seen: Set<ObjectID> = [commit.id]
    var waiting = [commit]
    var next = 0
    while next < waiting.count, next < searchLimit {
      let current = waiting[next]
      next += 1
      if isMadeByNotes(current) {
        let open = MergeTrailers(message: current.message).conflicts
        let standing = try standing(open, from: current.tree, in: commit.tree, store: store)
        found.merge(standing) { max($0, $1) }
      } else {
        for parent in current.parents where seen.insert(parent).inserted {
          waiting.append(try store.commit(parent))
        }
      }
    }
    return found
  }

  /// Whether the commit's trailers say all there is to say.
  static func isMadeByNotes(_ commit: Commit) -> Bool {
    commit.author.email.utf8.suffix(14).elementsEqual("@notes.invalid".utf8)
  }

  /// The conflicts of which a block still stands in a later tree: in the note itself, or in another
  /// file that changed, because the note was moved or copied.
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
    let labels = try labels(of: open, in: old, store: store)
    for change in try store.changes(from: old, to: new) {
      guard let file = change.new, file.mode.isFile else { continue }
      let text = try store.blob(file.id)
      guard MarkedText.mayHoldBlocks(text) else { continue }
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
