package import Git
package import History

/// Follows notes through a history, parents before children: the names of the notes in each
/// version.
struct FollowedNotes {
  let trail: NoteTrail
  let history: History
  private var paths: [ObjectID: Set<TreePath>] = [:]

  init(_ trail: NoteTrail, in history: History) { (self.trail, self.history) = (trail, history) }

  /// Follows no note yet.
  init(in history: History) { self.init(NoteTrail([:]), in: history) }

  /// Sets the notes' names in a version, whatever their names in its parents.
  mutating func set(_ names: Set<TreePath>, in version: ObjectID) {
    if !names.isEmpty { paths[version] = names }
  }

  /// The names of the notes in a version; call it for the parents first. `changes` are those against its
  /// first parent.
  mutating func paths(in commit: Commit, changes: [TreeChange]) throws -> Set<TreePath> {
    var found = trail.seeds[commit.id] ?? []
    for (position, parent) in commit.parents.enumerated() {
      guard let known = paths[parent], !known.isEmpty else { continue }
      found.formUnion(
        try names(of: known, in: commit, from: parent, changes: position == 0 ? changes : nil))
    }
    if !found.isEmpty { paths[commit.id] = found }
    return found
  }

  private func names(
    of known: Set<TreePath>, in commit: Commit, from parent: ObjectID, changes: [TreeChange]?
  ) throws -> Set<TreePath> {
    var gone: Set<TreePath> = []
    if let changes {
      gone = Set(changes.lazy.filter { $0.new == nil && known.contains($0.path) }.map(\.path))
    } else {
      gone = try known.filter { try history.repository.entry(at: $0, in: commit.tree) == nil }
    }
    var found = known.subtracting(gone)
    if gone.isEmpty { return found }
    if changes != nil {
      for change in try history.changes(of: commit) {
        if let former = change.formerPath, gone.contains(former) { found.insert(change.path) }
      }
    } else {
      for (path, former) in try history.formerPaths(of: commit, in: parent)
      where gone.contains(former) { found.insert(path) }
    }
    return found
  }
}

extension History {
  /// The versions in the tip's history in which a note begins and changes, under all its names.
  package func trail(of path: TreePath) throws -> [ObjectID: Set<TreePath>] {
    var seeds: [ObjectID: Set<TreePath>] = [:]
    try forEachVersion(of: path, includesDerived: true) { version in
      let paths = version.changes.lazy.filter { $0.new != nil }.map(\.path)
      seeds[version.commit.id, default: []].formUnion(paths)
      return true
    }
    return seeds
  }
}
