internal import CLibgit2

extension Repository {
  /// The best common ancestors of two commits, by ID; empty when they share no history.
  public func mergeBases(of left: ObjectID, and right: ObjectID) throws -> [ObjectID] {
    let git = try handles()
    var first = git_oid(left)
    var second = git_oid(right)
    var found = git_oidarray()
    let status = git.library.api.git_merge_bases(&found, git.repository, &first, &second)
    if status == GIT_ENOTFOUND.rawValue { return [] }
    try git.library.check("git_merge_bases", status)
    defer { git.library.api.git_oidarray_dispose(&found) }
    return (0..<found.count).map { found.ids[$0].objectID }.sorted()
  }

  /// Whether `descendant` is `ancestor` or has it in its history.
  public func isAncestor(_ ancestor: ObjectID, of descendant: ObjectID) throws -> Bool {
    if ancestor == descendant { return true }
    let git = try handles()
    var commit = git_oid(descendant)
    var candidate = git_oid(ancestor)
    return try git.library.check(
      "git_graph_descendant_of",
      git.library.api.git_graph_descendant_of(git.repository, &commit, &candidate)) == 1
  }

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
    let status = git.library.api.git_revwalk_new(&walk, git.repository)
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
