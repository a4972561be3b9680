package import Git
internal import System

/// Tells versions as they were before a forgetting from those that stand in their place: notes-forget(1), "Versions
/// from before".
package struct FormerVersions {
  /// The things that stay the same, with the place in the history.
  private struct Place: Hashable {
    let author: Signature
    let committer: Signature
    let parents: Set<ObjectID>
  }

  private let repository: Repository

  package init(in repository: Repository) { self.repository = repository }

  /// A version that one of two histories has in one form and the other in another, of which one was made again.
  /// They are told by their authors, committers, dates and places, which stay the same. Nil where there is none: the
  /// two may be merged.
  ///
  /// - Parameters:
  ///   - heads: versions that came.
  ///   - obeyed: the version that says what this device's history obeys; on what stands on it nothing is looked at.
  ///   - countsRewritten: whether one that both have rewritten counts, each in another way.
  package func first(
    between heads: [ObjectID], and tip: ObjectID, obeying obeyed: ObjectID?,
    countsRewritten: Bool = false
  ) throws -> ObjectID? {
    let new = try repository.commits(from: heads, lacking: [tip])
    if new.isEmpty { return nil }
    // Rewritten by somebody whose word does not count here.
    let own = try repository.commits(from: [tip], lacking: heads)
    if let found = try first(of: own, rewrittenAmong: new, countsRewritten) { return found }
    guard let obeyed, try isFromBefore(new, obeyed) else { return nil }
    return try first(of: new, rewrittenAmong: repository.commits(from: [tip]), countsRewritten)
  }

  /// Whether one of these versions, whose parents are here or among them, does not stand on a version.
  private func isFromBefore(_ new: [ObjectID], _ obeyed: ObjectID) throws -> Bool {
    let among = Set(new)
    return try new.contains { id in
      let parents = try repository.commit(id).parents
      return try !parents.contains(where: among.contains)
        && !parents.contains { try repository.isAncestor(obeyed, of: $0) }
    }
  }

  private func first(
    of old: [ObjectID], rewrittenAmong new: [ObjectID], _ countsRewritten: Bool
  ) throws -> ObjectID? {
    var places: [Place: ObjectID] = [:]
    for id in new {
      let commit = try repository.commit(id)
      if commit.isRewritten { places[place(of: commit) { $0 }] = id }
    }
    if places.isEmpty { return nil }
    var forms: [ObjectID: ObjectID] = [:]
    for id in old {
      let commit = try repository.commit(id)
      guard let form = places[place(of: commit, by: { forms[$0] ?? $0 })], form != id else {
        continue
      }
      if countsRewritten || !commit.isRewritten { return id }
      forms[id] = form
    }
    return nil
  }

  private func place(of commit: Commit, by form: (ObjectID) -> ObjectID) -> Place {
    Place(
      author: commit.author, committer: commit.committer, parents: Set(commit.parents.map(form)))
  }
}
