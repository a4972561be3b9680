internal import Git
internal import History
internal import Merge
internal import Rewriting

/// Finds the version with which a history can begin: notes-forget(1), "The first version".
struct FirstVersion {
  private let repository: Repository

  init(in repository: Repository) { self.repository = repository }

  /// The last version on which all later ones are based, and which is based on all others. Neither its dates nor
  /// those of the others are at or after this time, in seconds since 1970. Nil if there is none, or it is already the
  /// first.
  func last(before time: Int64) throws -> ObjectID? {
    guard let tip = try repository.head().commit else { return nil }
    let versions = try repository.commits(from: [tip])
    let places = Dictionary(uniqueKeysWithValues: versions.enumerated().map { ($1, $0) })
    // The place of the oldest parent of each version and all later ones; -1 if one of them has no parent.
    var oldest = [Int](repeating: .max, count: versions.count + 1)
    var commits: [Commit] = []
    for id in versions { commits.append(try repository.commit(id)) }
    for place in versions.indices.reversed() {
      let parents = commits[place].parents.compactMap { places[$0] }
      oldest[place] = min(oldest[place + 1], parents.min() ?? -1)
    }
    var found: ObjectID?
    for (place, commit) in commits.enumerated() {
      if max(commit.author.time, commit.committer.time) >= time { break }
      guard oldest[place + 1] >= place, place > 0, !DerivedMerge.isDerived(commit),
        try !HubMerge.isOne(commit, in: repository)
      else { continue }
      found = commit.id
    }
    let beginning = try HistoryBeginning(in: versions, repository)
    return found == beginning?.first || found.map { beginning?.shells.contains($0) == true } == true
      ? nil : found
  }
}
