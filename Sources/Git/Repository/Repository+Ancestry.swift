internal import System

/// Finds descendants by painting: each start has a colour, which spreads to its ancestors, newest
/// first, until all commits in the queue have every colour. A wrong clock only costs steps: a commit
/// that gets a new colour late is visited again.
private struct CommitPainting {
  let repository: Repository
  /// All colours, one bit for each.
  let full: UInt64
  private(set) var colours: [ObjectID: UInt64] = [:]
  /// The commits to visit, the newest at the end.
  private var queue: [(time: Int64, id: ObjectID)] = []

  init(_ repository: Repository, colours count: Int) {
    self.repository = repository
    full = (1 << UInt64(count)) - 1
  }

  /// Visits the next commit, whose colours spread to its parents. Returns it with its colours; nil if
  /// all commits in the queue have every colour.
  mutating func step(
    addingToParents change: (UInt64) -> UInt64 = { $0 }
  ) throws -> (id: ObjectID, colours: UInt64)? {
    guard queue.last(where: { colours[$0.id] != full }) != nil else { return nil }
    return try visit(addingToParents: change)
  }

  /// Visits the next commit if it is not older than `oldest`, even if all commits in the queue have every colour.
  mutating func visit(
    notBefore oldest: Int64 = .min, addingToParents change: (UInt64) -> UInt64 = { $0 }
  ) throws -> (id: ObjectID, colours: UInt64)? {
    guard let time = queue.last?.time, time >= oldest, let id = queue.popLast()?.id
    else { return nil }
    let colour = colours[id, default: 0]
    for parent in try repository.ancestry(of: id).parents { try add(change(colour), to: parent) }
    return (id, colour)
  }

  /// Adds colours to a commit. If it did not have all of them, it must be visited again.
  mutating func add(_ new: UInt64, to id: ObjectID) throws {
    let known = colours[id, default: 0]
    guard new & ~known != 0 else { return }
    colours[id] = known | new
    let time = try repository.ancestry(of: id).time
    queue.insert((time, id), at: queue.partitionPoint { $0.time < time })
  }
}

extension Repository {
  /// The best common ancestors of two commits, by ID; empty if they have no common history.
  public func mergeBases(of left: ObjectID, and right: ObjectID) throws -> [ObjectID] {
    if left == right { return [left] }
    // Two colours are for the two sides. The third marks the ancestors of a common ancestor.
    var painting = CommitPainting(self, colours: 3)
    try painting.add(1, to: left)
    try painting.add(2, to: right)
    var found: [ObjectID] = []
    while let visited = try painting.step(addingToParents: { $0 == 3 ? 7 : $0 }) {
      if visited.colours == 3 { found.append(visited.id) }
    }
    // Some of these commits may still be ancestors of others.
    return try heads(among: found.filter { painting.colours[$0] == 3 }).sorted()
  }

  /// Whether `descendant` is `ancestor` or a descendant of it.
  public func isAncestor(_ ancestor: ObjectID, of descendant: ObjectID) throws -> Bool {
    if ancestor == descendant { return true }
    var painting = CommitPainting(self, colours: 2)
    try painting.add(1, to: ancestor)
    try painting.add(2, to: descendant)
    while try painting.step() != nil {
      if painting.colours[ancestor] == 3 { return true }
    }
    return false
  }

  /// The commits in the history of `starts` and not in that of `hidden`: each after its parents, otherwise
  /// ordered by time.
  public func commits(
    from starts: [ObjectID], lacking hidden: [ObjectID] = []
  ) throws -> [ObjectID] {
    let found = try painted(from: starts, lacking: hidden)
    let byTime = try found.map { (time: try ancestry(of: $0).time, id: $0) }.sorted { $0 < $1 }
    // The ancestries were read above, so both closures only look them up.
    return parentsFirst(byTime.map(\.id)) { found.contains($0) ? ancestries[$0]?.parents : nil }
  }

  private func painted(
    from starts: [ObjectID], lacking hidden: [ObjectID]
  ) throws -> Set<ObjectID> {
    var painting = CommitPainting(self, colours: 2)
    for start in starts { try painting.add(1, to: start) }
    for commit in hidden { try painting.add(2, to: commit) }
    while try painting.step() != nil {}
    // Commits with equal times may be visited before a hidden commit that is their descendant.
    let oldest = try painting.colours.filter { $0.value == 1 }.map { try ancestry(of: $0.key).time }
    if let oldest = oldest.min() { while try painting.visit(notBefore: oldest) != nil {} }
    return Set(painting.colours.lazy.filter { $0.value == 1 }.map(\.key))
  }

  /// The commits among these that are not ancestors of others, each once.
  public func heads(among commits: [ObjectID]) throws -> Set<ObjectID> {
    let starts = Array(Set(commits))
    if starts.count < 2 { return Set(starts) }
    var heads: Set<ObjectID> = []
    // Each start of a group has a colour of its own; one more colour marks all other starts.
    for first in stride(from: 0, to: starts.count, by: 62) {
      let group = first..<min(first + 62, starts.count)
      var painting = CommitPainting(
        self, colours: group.count + (starts.count > group.count ? 1 : 0))
      func colour(_ position: Int) -> UInt64 {
        1 << UInt64(group.contains(position) ? position - first : group.count)
      }
      for position in starts.indices { try painting.add(colour(position), to: starts[position]) }
      // Step until all commits in the queue have every colour. A commit that lacks a colour then never gets it: the
      // colour could only come from a commit in the queue, whose ancestors have all colours.
      while try painting.step() != nil {}
      heads.formUnion(
        group.filter { painting.colours[starts[$0]] == colour($0) }.map { starts[$0] })
    }
    return heads
  }

  /// A commit's parents, and its committer's time in seconds since 1970. They are cached: questions
  /// about ancestry concern the same commits repeatedly.
  fileprivate func ancestry(of id: ObjectID) throws -> (time: Int64, parents: [ObjectID]) {
    if let known = ancestries[id] { return known }
    let headers = try CommitHeaders(parsing: data(of: id, kind: .commit), id: id)
    guard let committer = Signature(parsing: headers.committer) else {
      throw GitError.malformed(id, "a commit needs a committer")
    }
    ancestries[id] = (committer.time, headers.parents)
    return (committer.time, headers.parents)
  }
}

/// The commits, ordered so that each comes after its parents among them, and otherwise in their order.
/// `parents` returns nil for a commit that is not among them.
func parentsFirst(_ commits: [ObjectID], parents: (ObjectID) -> [ObjectID]?) -> [ObjectID] {
  var sorted: [ObjectID] = []
  sorted.reserveCapacity(commits.count)
  var entered: Set<ObjectID> = []
  // This does not recurse, because a history can be deep. `isDone` is true if the commit's parents were visited.
  var stack: [(id: ObjectID, isDone: Bool)] = []
  for commit in commits {
    stack.append((commit, false))
    while let (id, isDone) = stack.popLast() {
      if isDone {
        sorted.append(id)
      } else if let parents = parents(id), entered.insert(id).inserted {
        stack.append((id, true))
        stack += parents.map { ($0, false) }
      }
    }
  }
  return sorted
}
