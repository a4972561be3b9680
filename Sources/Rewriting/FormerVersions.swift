package import Git
internal import System

/// Distinguishes versions from before a forgetting from their rewritten forms: notes-forget(1), "Versions from
/// before".
package struct FormerVersions {
  /// The properties of a version that a rewriting keeps, and its position in the history.
  private struct Place: Hashable {
    let author: Signature
    let committer: Signature
    let parents: Set<ObjectID>
  }

  private let repository: Repository

  package init(in repository: Repository) { self.repository = repository }

  /// A version that the two histories have in different forms, of which one is rewritten. Forms of the same
  /// version have the same authors, committers, dates and positions, because a rewriting keeps these. Nil if
  /// there is none: then the two histories may be merged.
  ///
  /// - Parameters:
  ///   - heads: received versions, which obey fewer forgettings than this device, or a forgetting that does not
  ///     count here.
  ///   - obeyed: the version that lists this device's forgettings; versions on top of it are not checked.
  ///   - countsRewritten: whether a version counts that both have rewritten, in different ways.
  package func first(
    between heads: [ObjectID], and tip: ObjectID, obeying obeyed: ObjectID?,
    countsRewritten: Bool
  ) throws -> ObjectID? {
    let new = try repository.commits(from: heads, lacking: [tip])
    if new.isEmpty { return nil }
    // A device whose forgetting does not count here has rewritten it.
    let own = try repository.commits(from: [tip], lacking: heads)
    if let found = try first(of: own, rewrittenAmong: new, countsRewritten) { return found }
    guard let obeyed, try isFromBefore(new, obeyed) else { return nil }
    return try first(of: new, rewrittenAmong: repository.commits(from: [tip]), countsRewritten)
  }

  /// A version of one of two histories that obey the same forgettings, of which an admin's list vouches for a
  /// rewritten form in the other; nil if there is none. A form that only devices which moved over have made does
  /// not count: one device may know a removed text that another does not, so either form may stay.
  ///
  /// - Parameters:
  ///   - heads: received versions.
  ///   - obeyed: the version that lists this device's forgettings; versions on top of it are not checked.
  ///   - received: received lists of the same forgettings.
  ///   - foreign: received lists that do not count.
  ///   - others: the other lists of the same forgettings in this history.
  package func first(
    between heads: [ObjectID], and tip: ObjectID, below obeyed: ObjectID, received: [ObjectID],
    foreign: [ObjectID], others: () throws -> [ObjectID]
  ) throws -> ObjectID? {
    if !foreign.isEmpty {
      let own = try repository.commits(from: [tip], lacking: heads)
      let forms = try repository.commits(from: foreign, lacking: [tip])
      if let found = try first(of: own, rewrittenAmong: forms, false) { return found }
    }
    let new = try repository.commits(from: heads, lacking: [tip] + received)
    guard try isFromBefore(new, obeyed) else { return nil }
    let forms = try repository.commits(from: [obeyed] + received + others())
    return try first(of: new, rewrittenAmong: forms, false)
  }

  /// Whether a history has no version of which the history below these lists of admins has a rewritten form, so
  /// that the device which sends it has taken each as it is. git can merge a history with its rewritten form.
  package func isWhole(_ heads: [ObjectID], below lists: [ObjectID]) throws -> Bool {
    let others = try repository.commits(from: heads, lacking: lists)
    return try first(of: others, rewrittenAmong: repository.commits(from: lists), true) == nil
  }

  /// Whether one of these versions, whose parents are here or among them, is not on top of a given
  /// version.
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
