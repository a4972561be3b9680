internal import Git
internal import History
internal import Merge
internal import WorkTree

/// Puts the versions of a history on a first one, before which nothing stays: notes-forget(1), "The first version".
/// A pure function of a version, the first one and the history, so every device gets the same result, and needs
/// nobody's word for it.
struct VersionsOnFirst {
  let history: History
  /// The version that becomes the first one.
  let former: ObjectID
  /// All forms of the first one before.
  let formers: [ObjectID]
  /// The first version.
  let first: ObjectID
  /// The versions on which the former one is based, and itself: the first one stands for all these.
  let past: Set<ObjectID>
  /// The versions without content, by those of the past; none if another history has them.
  let emptied: [ObjectID: ObjectID]
  /// The new form of each other version that has one.
  private(set) var forms: [ObjectID: ObjectID] = [:]
  /// Those forms.
  private(set) var made: Set<ObjectID> = []
  private var seen: Set<ObjectID> = []
  /// The versions based on the former one or on the first one: these keep their content.
  private var based: Set<ObjectID> = []
  /// Versions whose IDs do not help to guess what went.
  private var shielded: Set<ObjectID>
  /// The versions of the history that already begins so, its tops, and its versions without content.
  private let known: Set<ObjectID>
  private let tops: [ObjectID]
  private let emptiedThere: Set<ObjectID>
  private var omitted: Set<ObjectID> = []
  /// The forms of versions to leave out that are not the version below yet.
  private(set) var omittedForms: Set<ObjectID> = []

  private var repository: Repository { history.repository }

  /// Lets a history begin with one of its versions.
  init(with former: FormerFirst, in history: History) throws {
    let version = former.version
    formers = former.all
    let past = try history.repository.commits(from: [version])
    let made = try FirstVersionMaking(of: version, past, in: history)
    self.history = history
    (self.former, self.past, shielded) = (version, Set(past), made.shielded)
    (first, emptied) = (made.first, made.emptied)
    (known, tops, emptiedThere) = ([], [], [])
  }

  /// Puts a history on the first version of another one.
  ///
  /// - Parameters:
  ///   - former: the version that became the first one.
  ///   - first: the first one.
  ///   - known: the versions of the other history.
  ///   - tops: its tops.
  init(
    of history: History, with former: FormerFirst, as first: HistoryBeginning,
    known: Set<ObjectID>, tops: [ObjectID]
  ) throws {
    let repository = history.repository
    let past = try repository.commits(from: former.all)
    self.history = history
    (self.former, formers, self.past) = (former.version, former.all, Set(past))
    based = Set(former.all)
    shielded = try repository.shielded(of: past)
    (self.first, emptied) = (first.first, [:])
    (self.known, self.tops, emptiedThere) = (known, tops, first.emptied)
  }

  /// Leaves out a version that was made to get the content of its new parent.
  mutating func omit(_ version: ObjectID) { omitted.insert(version) }

  /// Whether a version is before the first one.
  func isOlder(_ id: ObjectID) -> Bool { id != former && past.contains(id) }

  /// The new form of a version, or the version itself.
  func form(of id: ObjectID) -> ObjectID { past.contains(id) ? first : forms[id] ?? id }

  /// The old and new IDs of all versions that do not stay.
  var changed: [ObjectID: ObjectID] {
    past.reduce(into: forms) { all, id in
      if emptied[id] != id, !known.contains(id) { all[id] = first }
    }
  }

  /// Puts these versions and their ancestors on the first one.
  mutating func put(_ roots: [ObjectID]) throws {
    let all = try repository.commits(from: roots, lacking: tops)
    try repository.withPackedWrites {
      for id in all where seen.insert(id).inserted && !past.contains(id) { try visit(id) }
    }
  }

  private mutating func visit(_ id: ObjectID) throws {
    let data = try repository.object(id).data
    let commit = try Commit(parsing: data, id: id)
    let isBased = commit.parents.contains {
      $0 == former || based.contains($0) || known.contains($0) && !emptiedThere.contains($0)
    }
    if isBased { based.insert(id) }
    let parents = commit.parents.map(form).eachOnce
    if parents == commit.parents { return }
    let only = parents.count == 1 ? try repository.commit(parents[0]) : nil
    if let only, only.tree == commit.tree, omitted.contains(id) {
      forms[id] = only.id
      return
    }
    var version = try RewrittenCommit(of: data, id: id)
    let isHubMerge = try HubMerge.isOne(commit, in: repository)
    if DerivedMerge.isDerived(commit) || isHubMerge {
      let heads = try DerivedMerge.reduce(commit.parents, in: repository).count
      if isHubMerge {
        if try parents.dropFirst().allSatisfy({ try repository.isAncestor($0, of: parents[0]) }) {
          forms[id] = parents[0]
          return
        }
        version.tree = try repository.commit(parents[0]).tree
      } else if try DerivedMerge.reduce(parents, in: repository).count < heads {
        // One is now based on another.
        forms[id] = try DerivedMerge.tip(of: parents, in: repository).id
        return
      }
    }
    try write(&version, of: commit, data, on: parents, merged: !isBased && !isHubMerge)
  }

  private mutating func write(
    _ version: inout RewrittenCommit, of commit: Commit, _ data: [UInt8],
    on parents: [ObjectID], merged isMerged: Bool
  ) throws {
    let base = try commit.parents.first.map { try repository.commit($0).tree }
    let changes = try repository.changes(from: base, to: commit.tree)
    version.message = messageCut(of: changes).applied(to: version.message)
    if isMerged, try parents.count > 1 || repository.commit(parents[0]).tree != commit.tree {
      let merge = try DerivedMerge.merge([former, commit.id], in: repository)
      version.tree = merge.tree
      version.message = MessageCut.naming(merge.conflicts, in: version.message)
    }
    version.parents = parents
    let isShielded = commit.parents.allSatisfy { form(of: $0) == $0 || shielded.contains($0) }
    if version.wasSigned || isShielded {
      shielded.insert(commit.id)
      for change in changes.filter({ $0.old == nil }).prefix(HistoryRewriting.mostIDs) {
        let id = try history.noteID(bornAs: change.path, in: commit.id)
        version.add(header: Forgetting.idHeader, "\(id) \(change.path.hexadecimal)")
      }
    }
    let new = try repository.write(&version, of: commit)
    forms[commit.id] = new
    made.insert(new)
    if omitted.contains(commit.id) { omittedForms.insert(new) }
  }

  private func messageCut(of changes: [TreeChange]) -> MessageCut {
    MessageCut(
      changes: changes.map(Change.init), gone: [], texts: [],
      form: { isOlder($0) ? nil : form(of: $0) },
      formNamed: { digits in
        forms.first { $0.key.hex.hasPrefix(digits) }?.value
          ?? past.first { $0.hex.hasPrefix(digits) }.map { _ in first }
      })
  }
}

extension Repository {
  /// Stores the rewritten form of a version.
  func write(_ version: inout RewrittenCommit, of commit: Commit) throws -> ObjectID {
    if !commit.isRewritten {
      version.add(header: Forgetting.header, version.wasSigned ? "signed" : "unsigned")
    }
    return try write(version)
  }
}
