internal import CLibgit2

extension Repository {
  /// In which order a walk gives commits.
  public enum WalkOrder: Sendable {
    /// Children before parents, and by time where that leaves a choice.
    case newestFirst
    /// Parents before children.
    case oldestFirst
  }

  /// The commits reachable from `starts` and not from `hidden`.
  public func walk(
    from starts: [ObjectID], hiding hidden: [ObjectID] = [], order: WalkOrder = .newestFirst
  ) throws -> CommitWalk {
    try CommitWalk(repository: self, starts: starts, hidden: hidden, order: order)
  }
}

/// A walk through history, a commit a step. It keeps its repository open.
public final class CommitWalk {
  private let repository: Repository
  private let library: Libgit2
  private let handle: OpaquePointer

  init(
    repository: Repository, starts: [ObjectID], hidden: [ObjectID], order: Repository.WalkOrder
  ) throws {
    let git = try repository.handles()
    var walk: OpaquePointer?
    let status = git.api.git_revwalk_new(&walk, git.repository)
    guard status == 0, let walk else { throw git.library.error("git_revwalk_new", status) }
    self.repository = repository
    library = git.library
    handle = walk
    var sorting = GIT_SORT_TOPOLOGICAL.rawValue | GIT_SORT_TIME.rawValue
    if order == .oldestFirst { sorting |= GIT_SORT_REVERSE.rawValue }
    try library.check("git_revwalk_sorting", library.api.git_revwalk_sorting(walk, sorting))
    for start in starts {
      var oid = git_oid(start)
      try library.check("git_revwalk_push", library.api.git_revwalk_push(walk, &oid))
    }
    for end in hidden {
      var oid = git_oid(end)
      try library.check("git_revwalk_hide", library.api.git_revwalk_hide(walk, &oid))
    }
  }

  deinit { library.api.git_revwalk_free(handle) }

  /// The next commit's ID, or nil after the last.
  public func next() throws -> ObjectID? {
    var oid = git_oid()
    let status = library.api.git_revwalk_next(&oid, handle)
    if status == GIT_ITEROVER.rawValue { return nil }
    try library.check("git_revwalk_next", status)
    return oid.objectID
  }

  /// The IDs of all commits that are left.
  public func all() throws -> [ObjectID] {
    var found: [ObjectID] = []
    while let id = try next() { found.append(id) }
    return found
  }
}
