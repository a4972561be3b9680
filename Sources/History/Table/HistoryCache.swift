internal import Git
internal import System
internal import WorkTree

extension History {
  /// How many versions a cache may lack for a command that shows something at once: they are read
  /// in about a second.
  public static let fewVersions = 20_000

  private var historyCachePath: String { stateFolder + "/cache/history" }

  /// The table of all versions of the tip, and the tip's place in it; nil before the first version.
  ///
  /// It is kept in `.git/notes/cache/history` and extended by what is new.
  ///
  /// - Parameters:
  ///   - limit: where more versions than this are new, the table is not made and nil returned.
  ///   - progress: told how many of how many new versions are in it.
  func historyTable(
    newVersions limit: Int = .max, progress: ((Int, Int) -> Void)? = nil
  ) throws -> (table: HistoryTable, tip: Int)? {
    guard let tip = try repository.head().commit else { return nil }
    if let loaded = loadedTable, let position = loaded.firstIndex(of: tip) {
      return (loaded, position)
    }
    let stored = (try? Disk.readIfThere(historyCachePath)).flatMap { file in
      file.flatMap { HistoryTable(parsing: $0) }
    }
    let known = stored ?? HistoryTable()
    if let position = known.firstIndex(of: tip) {
      loadedTable = known
      return (known, position)
    }
    if limit < .max, try !isWithin(limit, of: known, from: tip) { return nil }
    let table = try extend(known, to: tip, progress: progress ?? self.progress)
    // A large table is not written again for every single version.
    if stored == nil || (table.count - known.count) * 1_000 >= table.count {
      keep(table)
    }
    loadedTable = table
    return table.firstIndex(of: tip).map { (table, $0) }
  }

  /// Makes the table of a history that is too long to be read while somebody waits, and keeps it.
  ///
  /// - Parameter limit: how many versions are too few to be worth it.
  public func rememberLongHistory(beyond limit: Int = History.fewVersions) throws {
    if try historyTable(newVersions: limit) == nil { _ = try historyTable() }
  }

  /// Whether at most `limit` versions of the tip are not in the table.
  private func isWithin(_ limit: Int, of table: HistoryTable, from tip: ObjectID) throws -> Bool {
    var waiting = [tip]
    var seen: Set<ObjectID> = [tip]
    while let id = waiting.popLast() {
      if seen.count > limit { return false }
      for parent in try repository.commit(id).parents
      where !seen.contains(parent) && table.firstIndex(of: parent) == nil {
        seen.insert(parent)
        waiting.append(parent)
      }
    }
    return true
  }

  private func extend(
    _ known: HistoryTable, to tip: ObjectID, progress: ((Int, Int) -> Void)?
  ) throws -> HistoryTable {
    let chain = try shortChain(to: tip, beyond: known)
    var builder = HistoryTableBuilder(extending: known, byFew: chain != nil)
    let new =
      try chain
      ?? repository.walk(
        from: [tip], hiding: known.childless.filter { try repository.contains($0) },
        order: .oldestFirst
      ).all().filter { !builder.contains($0) }
    // The trees of the last versions, which most often are the next ones' parents.
    var trees: [ObjectID: ObjectID] = [:]
    for (position, id) in new.enumerated() {
      let commit = try repository.commit(id)
      let changes = try self.changes(
        of: commit, parentTree: commit.parents.first.flatMap { trees[$0] })
      let moves = try commit.parents.dropFirst().map { try formerPaths(of: commit, in: $0) }
      builder.add(commit, changes: changes, moves: moves)
      if trees.count > 1_000 { trees.removeAll() }
      trees[id] = commit.tree
      progress?(position + 1, new.count)
    }
    return builder.table
  }

  /// The versions that are not in the table, oldest first, where they are a few of one parent each:
  /// that is most often so, and takes no library to find out. Nil where it is not.
  private func shortChain(to tip: ObjectID, beyond table: HistoryTable) throws -> [ObjectID]? {
    var chain: [ObjectID] = []
    var id = tip
    while table.firstIndex(of: id) == nil {
      let parents = try repository.commit(id).parents
      guard chain.count < Self.longestChain, parents.count == 1 else { return nil }
      chain.append(id)
      id = parents[0]
    }
    return chain.reversed()
  }

  /// Fewer than what libgit2 reads better (`PackedObjects.mostObjects`).
  private static var longestChain: Int { 20 }

  /// Writes the cache; where that is not possible, the next command makes it again.
  private func keep(_ table: HistoryTable) {
    try? Disk.makeFolders(Disk.parent(of: historyCachePath))
    try? Disk.replace(historyCachePath, with: table.serialized, isShared: true, waits: false)
  }
}

extension HistoryTable {
  /// The versions that no other one in the table is made on.
  var childless: [ObjectID] {
    var hasChild = [Bool](repeating: false, count: count)
    for parent in parents { hasChild[Int(parent)] = true }
    return hasChild.indices.filter { !hasChild[$0] }.map { id(of: $0) }
  }
}
