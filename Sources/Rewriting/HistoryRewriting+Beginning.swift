package import Git
package import History
internal import WorkTree

// The first step, if older versions are forgotten: notes-forget(1), "The first version".
extension HistoryRewriting {
  /// The first step, if this history has versions from before another one begins.
  static func beginning(
    of history: History, _ roots: [ObjectID], with first: HistoryBeginning, known: Set<ObjectID>,
    tops: [ObjectID], kinds: Set<String>
  ) throws -> (onFirst: VersionsOnFirst, isHere: Bool)? {
    let versions = try history.repository.commits(from: roots, lacking: tops)
    let former = try FormerFirst(of: first, among: versions, in: history.repository) {
      try FormerForms.loss(from: $0, to: $1, kinds, in: history.repository)
    }
    guard let former else { return nil }
    let onFirst = try VersionsOnFirst(
      of: history, with: former, as: first, known: known, tops: tops)
    return (onFirst, former.isHere)
  }

  /// The first step, if another history begins later than this one does.
  static func beginning(
    of history: History, _ roots: [ObjectID], besides tops: [ObjectID],
    _ begins: [ForgettingVersion.Beginning]
  ) throws -> VersionsOnFirst? {
    let repository = history.repository
    let others = Set(try repository.commits(from: tops))
    guard let first = try HistoryBeginning(with: begins, in: others, repository) else { return nil }
    let versions = try repository.commits(from: roots, lacking: tops)
    let former = try FormerFirst(of: first, among: versions, in: repository) {
      try FormerForms.areForms($0, $1, in: repository) ? $0.tree == $1.tree ? 0 : 1 : nil
    }
    guard let former else { return nil }
    if !former.isHere { throw LacksFirstVersion() }
    return try VersionsOnFirst(with: former.version, in: history)
  }

  /// The rewritten form of a version, or the version itself; nil if it was not visited.
  package func form(of id: ObjectID) -> ObjectID? {
    let id = beginning?.form(of: id) ?? id
    return seen.contains(id) ? forms[id] ?? id : nil
  }

  /// The former and new IDs of all versions that have another form.
  package var changed: [ObjectID: ObjectID] {
    guard let beginning else { return forms }
    return forms.merging(beginning.changed.mapValues { forms[$0] ?? $0 }) { $1 }
  }

  /// How many versions have another form, besides those that the first version stands for.
  package var rewrittenCount: Int {
    guard let beginning else { return forms.count }
    return 1 + beginning.forms.count
  }

  /// The beginning in this history that an earlier one is now.
  package func newForm(
    of former: ForgettingVersion.Beginning
  ) -> ForgettingVersion.Beginning {
    let id = former.version
    let new = beginning.map { $0.isOlder(id) ? $0.emptied[id] ?? id : $0.form(of: id) } ?? id
    return .init(forms[new] ?? new, formers: former.formers)
  }

  /// The beginning in this history that one of the history beside it is.
  ///
  /// - Throws: `LacksFirstVersion` if this history does not have it.
  package func newForm(
    beside other: ForgettingVersion.Beginning
  ) throws -> ForgettingVersion.Beginning {
    let own = besides[other.version] ?? other.version
    if seen.contains(own) { return .init(forms[own] ?? own, formers: other.formers) }
    guard let new = newBeginning else { throw LacksFirstVersion() }
    return .init(new.version, formers: other.formers)
  }

  /// The version with which this history begins since its first step.
  package var newBeginning: ForgettingVersion.Beginning? {
    beginning.map { beginning in
      .init(
        forms[beginning.first] ?? beginning.first,
        formers: beginning.isShielded ? [beginning.former] : [])
    }
  }

  /// The replaced files of a version: nil for a removed one.
  package func files(in id: ObjectID) throws -> [TreePath: TreeEntry?] {
    if beginning == nil { return (replaced[id] ?? [:]).mapValues(\.entry) }
    guard let form = form(of: id), form != id else { return [:] }
    let trees = try [id, form].map { try repository.commit($0).tree }
    return Dictionary(
      uniqueKeysWithValues: try repository.changes(from: trees[0], to: trees[1]).map {
        ($0.path, $0.new)
      })
  }

  /// Whether a version was left out on purpose.
  func isOmitted(_ id: ObjectID) -> Bool {
    omitted.contains(id) || beginning?.omittedForms.contains(id) == true
  }

  /// Whether a version was made before, and put on the first one.
  func isOld(_ id: ObjectID, on parent: ObjectID) -> Bool {
    beginning.map { $0.made.contains(id) && ($0.first == parent || $0.made.contains(parent)) }
      ?? false
  }
}

/// The first version of another history is not in this one.
package struct LacksFirstVersion: Error {}
