package import Git
package import History
internal import WorkTree

// The first step, if older versions are forgotten: notes-forget(1), "The first version".
extension HistoryRewriting {
  /// The first step, if this history has versions from before another one begins.
  ///
  /// - Parameter follows: whether this history's list says that it begins earlier than the other one.
  /// - Throws: `LacksFirstVersion` if it has such versions, but not the one that became the first one. Only a copy from
  ///   before does not have it, and cannot tell which of its versions went.
  static func beginning(
    of history: History, _ roots: [ObjectID], with first: HistoryBeginning, known: Set<ObjectID>,
    tops: [ObjectID], kinds: Set<String>, follows: Bool, isJoining: Bool
  ) throws -> VersionsOnFirst? {
    let repository = history.repository
    let versions = try repository.commits(from: roots, lacking: tops)
    var former = FormerFirst(namedBy: first, among: versions)
    if former == nil, isJoining || first.formers.isEmpty {
      former = try FormerFirst(inPlaceOf: first, among: versions, in: repository) {
        try FormerForms.mayLead(from: $0, to: $1, kinds, in: repository)
      }
    }
    guard let former else {
      let forms = FormerVersions(in: repository, beginningWith: [])
      if try follows || forms.older(among: versions, than: first) != nil {
        throw LacksFirstVersion()
      }
      return nil
    }
    return try VersionsOnFirst(of: history, with: former, as: first, known: known, tops: tops)
  }

  /// The first step, if another history begins later than this one does.
  ///
  /// - Parameter kinds: the kinds of content that only one of the two histories has forgotten.
  static func beginning(
    of history: History, _ roots: [ObjectID], besides tops: [ObjectID],
    _ begins: [ForgettingVersion.Beginning], kinds: Set<String>
  ) throws -> VersionsOnFirst? {
    let repository = history.repository
    let others = Set(try repository.commits(from: tops))
    guard let first = try HistoryBeginning(with: begins, in: others, repository),
      let former = try former(of: first, among: roots, lacking: tops, kinds, in: repository)
    else { return nil }
    return try VersionsOnFirst(with: former, in: history)
  }

  /// The version of a history that became the first one of another; one of the two has forgotten something else.
  private static func former(
    of first: HistoryBeginning, among roots: [ObjectID], lacking tops: [ObjectID],
    _ kinds: Set<String>, in repository: Repository
  ) throws -> FormerFirst? {
    let versions = try repository.commits(from: roots, lacking: tops)
    if let named = FormerFirst(namedBy: first, among: versions) { return named }
    let isOnlyOlder = kinds.isSubset(of: [Forgetting.Kind.before.rawValue])
    return try FormerFirst(inPlaceOf: first, among: versions, in: repository) {
      try $0.tree == $1.tree || !isOnlyOlder && FormerForms.areForms($0, $1, in: repository)
    }
  }

  /// The version with which a history begins, and its forms before, also those in another history.
  ///
  /// - Parameters:
  ///   - begin: the version, as the history's own list names it.
  ///   - tip: the tip of the history.
  ///   - heads: those of the other one, which begins earlier.
  ///   - kinds: the kinds of content that only one of the two histories has forgotten.
  package static func naming(
    _ begin: ForgettingVersion.Beginning, on tip: ObjectID, alsoIn heads: [ObjectID],
    kinds: Set<String>, in repository: Repository
  ) throws -> ForgettingVersion.Beginning {
    let own = Set(try repository.commits(from: [tip]))
    guard let first = try HistoryBeginning(with: [begin], in: own, repository),
      let former = try former(of: first, among: heads, lacking: [tip], kinds, in: repository)
    else { return begin }
    return try begin.naming(former.all, in: repository)
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
    guard let new = seen.contains(own) ? forms[own] ?? own : newBeginning?.version else {
      throw LacksFirstVersion()
    }
    let begin = ForgettingVersion.Beginning(new, formers: other.formers)
    guard let beginning, new == newBeginning?.version else { return begin }
    return try begin.naming(beginning.formers, in: repository)
  }

  /// The version with which this history begins since its first step.
  package var newBeginning: ForgettingVersion.Beginning? {
    beginning.map { .init(forms[$0.first] ?? $0.first, formers: $0.formers) }
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

extension ForgettingVersion.Beginning {
  /// The beginning with more names of its forms before; without names if one's ID would help to guess what went.
  fileprivate func naming(
    _ more: [ObjectID], in repository: Repository
  ) throws -> ForgettingVersion.Beginning {
    let shielded = try repository.shielded(of: repository.commits(from: more))
    let isSafe = more.allSatisfy(shielded.contains)
    return alsoNamed(in: .init(version, formers: isSafe ? more : []))
  }
}
