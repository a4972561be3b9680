public import Git
internal import Merge
internal import WorkTree

extension History {
  /// The tip that there would be if nothing had been written since a time: the merge of the versions
  /// made by then. The result is the same on every device that has these versions. Throws
  /// `noSuchVersion` with the user's name for the time if all versions are younger. The time is in
  /// seconds since 1970.
  public func pastTip(at time: Int64, named name: String) throws -> Commit {
    guard let (table, tip) = try historyTable() else { throw HistoryError.noSuchVersion(name) }
    let dates = dates(in: table, from: tip)
    // On each path back from the tip, the first version that was made at or before the time.
    var frontier: [ObjectID] = []
    var waiting = [tip]
    var seen: Set<Int> = []
    while let version = waiting.popLast() {
      guard seen.insert(version).inserted else { continue }
      if dates[version] <= time, !table.isDerived(version) {
        frontier.append(table.id(of: version))
      } else {
        waiting += table.parents(of: version).map { table.parents.number($0) }
      }
    }
    guard !frontier.isEmpty else { throw HistoryError.noSuchVersion(name) }
    return try repository.commit(DerivedMerge.tip(of: frontier, in: repository).id)
  }
}

extension History {
  /// The last version that has a file at this path; nil if none has.
  public func lastVersion(with path: TreePath) throws -> Commit? {
    func has(_ commit: Commit) throws -> Bool {
      try repository.entry(at: path, in: commit.tree)?.mode.isFile == true
    }
    if let tip = try repository.head().commit.map({ try repository.commit($0) }), try has(tip) {
      return tip
    }
    var found: Commit?
    try forEachVersion(of: path, includesDerived: true) { version in
      let parents = try version.commit.parents.map { try repository.commit($0) }
      found = try ([version.commit] + parents).first(where: has)
      return found == nil
    }
    return found
  }

  /// Whether a file in the folder differs from a note in a version.
  public func differs(_ path: TreePath, from note: TreePath, in version: Commit) throws -> Bool {
    let wanted = try text(of: noteVersion(at: version, of: note))
    do {
      return try workTree.text(of: path) != wanted
    } catch WorkTreeError.noSuchNote { return true }
  }

  /// The version of the whole notebook that `name` means: like `version(named:)`, except that a date
  /// means the merge of all versions known by then (notes-restore(1)).
  public func pastVersion(named name: String) throws -> Commit {
    guard case .by(let time) = VersionName(parsing: name, now: clock.now().seconds) else {
      return try version(named: name)
    }
    return try pastTip(at: time.last, named: name)
  }
}
