internal import Git
internal import Merge

/// Adds versions to a table, parents before children.
struct HistoryTableBuilder {
  private(set) var table: HistoryTable
  private var versions: [ObjectID: Int] = [:]
  private var paths: [TreePath: UInt32] = [:]
  private var authors: [[UInt8]: UInt32] = [:]
  private let isByFew: Bool

  /// - Parameter isByFew: whether only a few versions are to come, so that looking for what the table
  ///   has is less work than a list of it.
  init(extending table: HistoryTable, byFew isByFew: Bool = false) {
    self.table = table
    self.isByFew = isByFew
    if isByFew { return }
    for version in 0..<table.count { versions[table.id(of: version)] = version }
    for path in 0..<UInt32(table.paths.ends.count) { paths[table.path(path)] = path }
    for author in 0..<UInt32(table.authorTexts.ends.count) {
      authors[Array(table.authorTexts[author])] = author
    }
  }

  func contains(_ id: ObjectID) -> Bool { number(of: id) != nil }

  private func number(of id: ObjectID) -> Int? {
    versions[id] ?? (isByFew ? table.firstIndex(of: id) : nil)
  }

  /// Adds a version whose parents are in the table.
  ///
  /// - Parameter moves: for each further parent, new path to the path there.
  mutating func add(
    _ commit: Commit, changes: [VersionChange], moves: [[TreePath: TreePath]]
  ) {
    let version = table.count
    versions[commit.id] = version
    table.ids.append(commit.id)
    table.times.append(commit.author.time)
    var order = commit.author.time
    var generation: UInt32 = 0
    for parent in commit.parents {
      guard let parent = number(of: parent) else { continue }
      table.parents.append(UInt32(parent))
      order = max(order, table.orders[parent])
      generation = max(generation, table.generations[parent] + 1)
    }
    table.parentEnds.append(UInt32(table.parents.count))
    table.orders.append(order)
    table.generations.append(generation)
    table.authors.append(number(ofAuthor: commit.author))
    table.flags.append(DerivedMerge.isDerived(commit) ? HistoryTable.derivedFlag : 0)
    for change in changes {
      table.changePaths.append(number(of: change.path))
      table.changeFormers.append(change.formerPath.map { number(of: $0) } ?? HistoryTable.none)
      table.changeOld.append(change.old ?? .zero)
      table.changeNew.append(change.new ?? .zero)
    }
    table.changeEnds.append(UInt32(table.changePaths.count))
    for (position, moves) in moves.enumerated() {
      for (path, former) in moves.sorted(by: { $0.key < $1.key }) {
        table.moveVersions.append(UInt32(version))
        table.moveParents.append(UInt32(position + 1))
        table.movePaths.append(number(of: path))
        table.moveFormers.append(number(of: former))
      }
    }
  }

  private mutating func number(of path: TreePath) -> UInt32 {
    if let known = paths[path] { return known }
    let known = isByFew ? table.paths.firstIndex(of: path.bytes) : nil
    let number = known ?? table.paths.append(path.bytes)
    paths[path] = number
    return number
  }

  /// Authors are kept as `NAME NUL EMAIL`.
  private mutating func number(ofAuthor signature: Signature) -> UInt32 {
    let text = Array(signature.name.utf8) + [0] + Array(signature.email.utf8)
    if let known = authors[text] { return known }
    let known = isByFew ? table.authorTexts.firstIndex(of: text) : nil
    let number = known ?? table.authorTexts.append(text)
    authors[text] = number
    return number
  }
}
