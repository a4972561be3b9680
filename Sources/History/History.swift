public import Git
internal import Merge
package import State
public import WorkTree

/// A notebook's notes and versions, up to what the folder holds now.
///
/// An instance belongs to one thread at a time.
public final class History {
  /// The folder's repository, which the versions are in.
  public let repository: Repository
  /// The folder, whose state is the newest there is.
  public let workTree: WorkTree
  /// The clock by which ages are told.
  public var clock = Clock.system
  /// Told how many of how many versions are read while a cache of the history is made.
  public var progress: ((Int, Int) -> Void)?
  /// The table of the history, once something asked for it.
  var loadedTable: HistoryTable? { didSet { lookup = nil } }
  /// The places in the table that are asked for again and again.
  private var lookup: TableLookup?
  /// The order of its versions from a tip on, and how many it had.
  var loadedOrder: (tip: ObjectID, count: Int, order: VersionOrder)?

  package init(of workTree: WorkTree) {
    self.workTree = workTree
    repository = workTree.repository
  }

  package var stateFolder: StateFolder { workTree.stateFolder }
}

extension History {
  /// A version with what it changed.
  public func version(of commit: Commit) throws -> Version {
    Version(commit: commit, isDerived: try isDerived(commit), changes: try changes(of: commit))
  }

  /// Whether the program wrote a commit by itself: a derived merge, or one that leads a hub's branch to it.
  package func isDerived(_ commit: Commit) throws -> Bool {
    try DerivedMerge.isDerived(commit) || HubMerge.isOne(commit, in: repository)
  }

  /// The versions of the tip, or those that changed a file under the name it had at the time, newest
  /// first. Each is read when it is asked for: the first is there at once, however long the history is.
  /// With a period, in seconds since 1970, only those that count as made then.
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

  /// Goes through `versions(of:includingDerived:)` until `body` returns false.
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
