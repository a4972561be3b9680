public import Git
internal import Merge
package import State
public import WorkTree

/// A notebook's notes and versions, up to the folder's present state.
///
/// An instance belongs to one thread at a time.
public final class History {
  /// The folder's repository, which has the versions.
  public let repository: Repository
  /// The folder, whose state is the newest.
  public let workTree: WorkTree
  /// The clock for the ages of versions.
  public var clock = Clock.system
  /// Called with the number of versions read, and their total, while a cache of the history is
  /// made.
  public var progress: ((Int, Int) -> Void)?
  /// The table of the history, loaded on first use.
  var loadedTable: HistoryTable? { didSet { lookup = nil } }
  /// The positions in the table that are looked up repeatedly.
  private var lookup: TableLookup?
  /// The order of the table's versions from a tip on, and the table's number of versions then.
  var loadedOrder: (tip: ObjectID, count: Int, order: VersionOrder)?

  package init(of workTree: WorkTree) {
    self.workTree = workTree
    repository = workTree.repository
  }

  package var stateFolder: StateFolder { workTree.stateFolder }
}

extension History {
  /// A version with its changes.
  public func version(of commit: Commit) throws -> Version {
    Version(commit: commit, isDerived: try isDerived(commit), changes: try changes(of: commit))
  }

  /// Whether a program made a commit on its own: a derived merge, or one that leads a hub's branch
  /// to such a merge.
  package func isDerived(_ commit: Commit) throws -> Bool {
    try DerivedMerge.isDerived(commit) || HubMerge.isOne(commit, in: repository)
  }

  /// The versions in the tip's history, newest first; with a path, only the versions that changed this file, which had
  /// other names before a rename. Reads each version on demand, so the first is available at once even in a long
  /// history. With a period, in seconds since 1970, only the versions whose dates are in it.
  public func versions(
    of path: TreePath? = nil, includingDerived includesDerived: Bool = false,
    in period: Range<Int64>? = nil
  ) throws -> VersionWalk {
    let isWhole = path == nil && period == nil
    let limit = isWhole ? Self.versionsReadAtOnce : Self.fewVersions
    guard let (table, tip) = try historyTable(newVersions: limit) else {
      return try VersionWalk(
        self, from: repository.head().commit, of: path, in: period,
        includesDerived: includesDerived)
    }
    let order = order(of: table, from: tip)
    let lookup = lookup ?? TableLookup(table)
    self.lookup = lookup
    let steps = path.map { table.trail(of: $0, from: tip, in: order, by: lookup) }
    var versions = order.versions
    if let steps { versions = steps.map(\.version).eachOnce }
    if !includesDerived { versions.removeAll { table.isDerived($0) } }
    if let period {
      let dates = dates(in: table, from: tip)
      versions.removeAll { !period.contains(dates[$0]) }
    }
    return VersionWalk(self, along: versions, of: steps, in: table)
  }

  /// Calls `body` with each of `versions(of:includingDerived:)` until it returns false.
  public func forEachVersion(
    of path: TreePath? = nil, includesDerived: Bool = false, _ body: (Version) throws -> Bool
  ) throws {
    let walk = try versions(of: path, includingDerived: includesDerived)
    while let version = try walk.next(), try body(version) {}
  }
}

extension Repository: MergeStore {
  package func size(ofBlob id: ObjectID) throws -> Int { try header(of: id).size }

  package func withBatchedWrites<Result>(_ body: () throws -> Result) throws -> Result {
    try withBatchedWrites(isBeforeMove: false, body)
  }
}
