package import Git
package import History
internal import System

/// Distinguishes versions from before a forgetting from their rewritten forms: notes-forget(1), "Versions from
/// before".
package struct FormerVersions {
  private let repository: Repository
  private let begins: [ForgettingVersion.Beginning]

  /// - Parameter begins: the versions with which the rewritten history begins, by an admin's list.
  package init(in repository: Repository, beginningWith begins: [ForgettingVersion.Beginning]) {
    (self.repository, self.begins) = (repository, begins)
  }

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

  /// One of these versions that lost its files, with all on which the first version is based; nil if there is none.
  func older(among versions: [ObjectID], than beginning: HistoryBeginning) throws -> ObjectID? {
    try first(of: versions, rewrittenAmong: Array(beginning.emptied), false, beginning)
  }

  private func first(
    of old: [ObjectID], rewrittenAmong new: [ObjectID], _ countsRewritten: Bool,
    _ known: HistoryBeginning? = nil
  ) throws -> ObjectID? {
    var places: [HistoryPlace: ObjectID] = [:]
    for id in new {
      let commit = try repository.commit(id)
      if commit.isRewritten { places[HistoryPlace(of: commit)] = id }
    }
    if places.isEmpty { return nil }
    let beginning = try known ?? HistoryBeginning(with: begins, in: Set(new), repository)
    var forms: [ObjectID: ObjectID] = [:]
    for id in old {
      let commit = try repository.commit(id)
      let parents = Set(commit.parents.map { forms[$0] ?? $0 })
      let others = parents.isEmpty ? [] : beginning?.places(of: parents) ?? []
      let found = ([parents] + others).lazy.compactMap {
        places[HistoryPlace(of: commit, parents: $0)]
      }.first
      guard let form = found, form != id else { continue }
      if countsRewritten || !commit.isRewritten { return id }
      forms[id] = form
    }
    return nil
  }
}
