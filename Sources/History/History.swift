public import Git
internal import Merge
public import WorkTree

/// What is known of a notebook's notes and versions, up to what the folder holds now.
///
/// An instance belongs to one thread at a time.
public final class History {
  /// The folder's repository, which the versions are in.
  public let repository: Repository
  /// The folder, whose state is the newest there is.
  public let workTree: WorkTree
  /// What times count from.
  public var clock = Clock.system
  /// Told how many of how many versions are read while a cache of the history is made.
  public var progress: ((Int, Int) -> Void)?
  /// The table of the history, once something asked for it.
  var loadedTable: HistoryTable?

  package init(of workTree: WorkTree) {
    self.workTree = workTree
    repository = workTree.repository
  }

  package var stateFolder: String { workTree.stateFolder }
}

extension History {
  /// A version with what it changed.
  public func version(of commit: Commit) throws -> Version {
    Version(
      commit: commit, isDerived: DerivedMerge.isDerived(commit), changes: try changes(of: commit))
  }

  /// The versions of the tip, or those that changed a file under the name it had at the time, newest
  /// first. Each is read when it is asked for: the first is there at once, however long the history is.
  public func versions(
    of path: TreePath? = nil, includingDerived includesDerived: Bool = false
  ) throws -> VersionWalk {
    if let path, let (table, tip) = try historyTable(newVersions: Self.fewVersions) {
      let steps = table.trail(of: path, from: tip).filter {
        includesDerived || !table.isDerived($0.version)
      }
      return VersionWalk(self, along: steps, in: table)
    }
    return try VersionWalk(
      self, from: repository.head().commit, of: path, includesDerived: includesDerived)
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
  package func withBatchedWrites<Result>(_ body: () throws -> Result) throws -> Result {
    try withBatchedWrites(isBeforeMove: false, body)
  }
}
