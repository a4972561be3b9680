public import Git
internal import History

extension Notebook {
  /// How many versions made by people are in the history of `tip` and not in that of `other`.
  package func versionCount(from tip: ObjectID?, lacking other: ObjectID?) throws -> Int {
    guard let tip, tip != other else { return 0 }
    return try versionCount(from: [tip], lacking: other.map { [$0] } ?? [])
  }

  /// How many versions made by people are in the history of `tips` and not in that of `others`.
  public func versionCount(
    from tips: [ObjectID], lacking others: [ObjectID] = []
  ) throws -> Int {
    try repository.commits(from: tips, lacking: others).count {
      try !history.isDerived(repository.commit($0))
    }
  }

  /// How many of a number of commits people made; `merges` are those with several parents.
  package func versionCount(of commits: Int, merges: [ObjectID]) throws -> Int {
    try commits - merges.count { try history.isDerived(repository.commit($0)) }
  }
}
