public import Git
internal import Merge
internal import WorkTree

/// A walk through versions, newest first, one version at a time.
///
/// With a table the order is exact (`VersionOrder`). Without a table, the walk takes the latest
/// author's time among the versions with a visited child, which is the same unless dates are wrong.
public final class VersionWalk {
  /// The next version, or nil after the last.
  public let next: () throws -> Version?
  /// Whether the walk searches a note's versions in a history that has no table yet.
  public let lacksTable: Bool

  /// A walk through the versions of `walk` that changed something in a folder, with only these changes.
  public init(_ walk: VersionWalk, below folder: TreePath) {
    lacksTable = walk.lacksTable
    next = {
      while let version = try walk.next() {
        let changes = version.changes.filter {
          $0.path.isBelow(folder) || $0.formerPath?.isBelow(folder) == true
        }
        if changes.isEmpty { continue }
        return Version(
          commit: version.commit, isDerived: version.isDerived, changes: changes)
      }
      return nil
    }
  }

  /// `steps` has the changes of one note, if the walk is about one.
  init(
    _ history: History, along versions: [Int], of steps: [HistoryTable.Step]?,
    in table: HistoryTable
  ) {
    lacksTable = false
    var versions = versions[...]
    let steps = steps.map { Dictionary(grouping: $0, by: \.version) }
    next = {
      guard let version = versions.popFirst() else { return nil }
      let changes =
        steps.map { $0[version]?.map(\.change) ?? [] } ?? Array(table.changes(of: version))
      return Version(
        commit: try history.repository.commit(table.id(of: version)),
        isDerived: table.isDerived(version), changes: changes.map(table.value))
    }
  }

  init(
    _ history: History, from tip: ObjectID?, of path: TreePath?, in period: Range<Int64>?,
    includesDerived: Bool
  ) throws {
    lacksTable = path != nil || period != nil
    var stream = try VersionStream(history, from: tip, of: path, includesDerived: includesDerived)
    next = {
      while let version = try stream.next() {
        if period?.contains(version.commit.author.time) ?? true { return version }
      }
      return nil
    }
  }
}

private struct VersionStream {
  let history: History
  let path: TreePath?
  let includesDerived: Bool
  /// Commits whose children were visited, the next one last.
  private var waiting: [Commit] = []
  private var seen: Set<ObjectID> = []
  /// The file's names in waiting commits, and in visited ones.
  private var names: [ObjectID: Set<TreePath>] = [:]
  private var done: [ObjectID: Set<TreePath>] = [:]

  init(_ history: History, from tip: ObjectID?, of path: TreePath?, includesDerived: Bool) throws {
    self.history = history
    self.path = path
    self.includesDerived = includesDerived
    guard let tip else { return }
    names[tip] = path.map { [$0] }
    seen = [tip]
    try wait(for: tip)
  }

  mutating func next() throws -> Version? {
    while let commit = waiting.popLast() {
      for parent in commit.parents where seen.insert(parent).inserted { try wait(for: parent) }
      let isDerived = try history.isDerived(commit)
      let isWanted = includesDerived || !isDerived
      let changes = try path != nil ? follow(commit) : isWanted ? history.changes(of: commit) : []
      if !isWanted || (path != nil && changes.isEmpty) { continue }
      return Version(commit: commit, isDerived: isDerived, changes: changes)
    }
    return nil
  }

  private mutating func wait(for id: ObjectID) throws {
    let commit = try history.repository.commit(id)
    // Few commits wait at a time: as many as there are parallel branches.
    let place = waiting.firstIndex { commit.author.time <= $0.author.time } ?? waiting.count
    waiting.insert(commit, at: place)
  }

  private mutating func follow(_ commit: Commit) throws -> [VersionChange] {
    let mine = names.removeValue(forKey: commit.id) ?? []
    done[commit.id, default: []].formUnion(mine)
    if mine.isEmpty { return [] }
    let changes = try history.changes(of: commit).filter { mine.contains($0.path) }
    for (position, parent) in commit.parents.enumerated() {
      var former: [TreePath: TreePath] = [:]
      if position == 0 {
        for change in changes { former[change.path] = change.formerPath }
      } else {
        former = try history.formerPaths(of: commit, in: parent)
      }
      let new = Set(mine.map { former[$0] ?? $0 }).subtracting(done[parent] ?? [])
      // Visit a parent again if it was visited before this child because of its date.
      if new.isEmpty { continue }
      if done[parent] != nil, names[parent] == nil { try wait(for: parent) }
      names[parent, default: []].formUnion(new)
    }
    return changes
  }
}
