internal import Git
internal import Merge

/// A walk through versions, newest first, a version a step.
///
/// Along a table the order is exact (`HistoryTable.isNewer`). Without one it is by the author's time
/// among the versions whose children were seen, which is the same unless a foreign commit is
/// dated before its parent.
public final class VersionWalk {
  private let history: History
  private var source: any VersionSource
  /// Whether a note's versions are looked for in a history that no table was made of yet.
  public let lacksTable: Bool

  init(_ history: History, along steps: [HistoryTable.Step], in table: HistoryTable) {
    self.history = history
    lacksTable = false
    source = TableSource(table: table, steps: steps[...])
  }

  init(_ history: History, from tip: ObjectID?, of path: TreePath?, includesDerived: Bool) {
    self.history = history
    lacksTable = path != nil
    source = StreamSource(
      waiting: [], path: path, includesDerived: includesDerived, start: tip)
  }

  /// The next version, or nil after the last.
  public func next() throws -> Version? { try source.next(in: history) }
}

private protocol VersionSource {
  mutating func next(in history: History) throws -> Version?
}

/// Versions that a table knows.
private struct TableSource: VersionSource {
  let table: HistoryTable
  var steps: ArraySlice<HistoryTable.Step>

  mutating func next(in history: History) throws -> Version? {
    guard let step = steps.popFirst() else { return nil }
    var changes = [table.value(of: step.change)]
    while let more = steps.first, more.version == step.version {
      changes.append(table.value(of: more.change))
      steps.removeFirst()
    }
    return Version(
      commit: try history.repository.commit(table.id(of: step.version)),
      isDerived: table.isDerived(step.version), changes: changes)
  }
}

/// Versions read from the repository one by one.
private struct StreamSource: VersionSource {
  /// Commits whose children were seen, the next one last.
  var waiting: [Commit]
  let path: TreePath?
  let includesDerived: Bool
  var start: ObjectID?
  private var seen: Set<ObjectID> = []
  /// The names the file has in commits that wait, and had in those that were looked at.
  private var names: [ObjectID: Set<TreePath>] = [:]
  private var done: [ObjectID: Set<TreePath>] = [:]

  init(waiting: [Commit], path: TreePath?, includesDerived: Bool, start: ObjectID?) {
    self.waiting = waiting
    self.path = path
    self.includesDerived = includesDerived
    self.start = start
  }

  mutating func next(in history: History) throws -> Version? {
    if let start {
      self.start = nil
      if let path { names[start] = [path] }
      try add(start, in: history)
    }
    while let commit = waiting.popLast() {
      for parent in commit.parents { try add(parent, in: history) }
      let isDerived = DerivedMerge.isDerived(commit)
      if path == nil {
        if isDerived && !includesDerived { continue }
        return Version(
          commit: commit, isDerived: isDerived, changes: try history.changes(of: commit))
      }
      let changes = try follow(commit, in: history)
      if changes.isEmpty || (isDerived && !includesDerived) { continue }
      return Version(commit: commit, isDerived: isDerived, changes: changes)
    }
    return nil
  }

  private mutating func add(_ id: ObjectID, in history: History) throws {
    guard seen.insert(id).inserted else { return }
    try wait(for: id, in: history)
  }

  private mutating func wait(for id: ObjectID, in history: History) throws {
    let commit = try history.repository.commit(id)
    // Few commits wait at a time: as many as there are lines of history side by side.
    let place = waiting.firstIndex { commit.author.time <= $0.author.time } ?? waiting.count
    waiting.insert(commit, at: place)
  }

  /// What the commit changed in the file; its names go on to the parents.
  private mutating func follow(
    _ commit: Commit, in history: History
  ) throws -> [VersionChange] {
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
      // A parent that stood before this child, by its date, is looked at once more.
      if new.isEmpty { continue }
      if done[parent] != nil, names[parent] == nil {
        try wait(for: parent, in: history)
      }
      names[parent, default: []].formUnion(new)
    }
    return changes
  }
}
