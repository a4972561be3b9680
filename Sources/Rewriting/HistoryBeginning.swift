package import Git
package import History
internal import Merge

/// The beginning of a rewritten history whose older versions have no content any more: notes-forget(1), "The first
/// version".
package struct HistoryBeginning {
  /// The versions with which the history began since each forgetting of older ones, and the versions below them; the
  /// oldest first.
  private let firsts: [(id: ObjectID, below: Set<ObjectID>)]
  /// The version whose files are the first ones.
  package let first: ObjectID
  /// The versions below it, which have no files.
  package let emptied: Set<ObjectID>
  /// The first version's forms before, as far as an admin's list names them.
  let formers: [ObjectID]

  /// Nil if no older version was forgotten.
  ///
  /// - Parameters:
  ///   - begins: these versions, as an admin's list names them: anybody could write a header.
  ///   - versions: the versions of the history.
  package init?(
    with begins: [ForgettingVersion.Beginning], in versions: Set<ObjectID>,
    _ repository: Repository
  ) throws {
    var firsts: [(id: ObjectID, below: Set<ObjectID>)] = []
    for id in Set(begins.map(\.version)).intersection(versions) {
      firsts.append((id, Set(try repository.commits(from: repository.commit(id).parents))))
    }
    // Each is based on all earlier ones.
    firsts.sort { ($0.below.count, $0.id) < ($1.below.count, $1.id) }
    guard let last = firsts.last else { return nil }
    self.firsts = firsts.filter { $0.id == last.id || last.below.contains($0.id) }
    (first, emptied) = (last.id, last.below)
    formers = begins.filter { $0.version == last.id }.flatMap(\.formers)
  }

  /// The parents that a version may have here if it was based on versions without files: it is then based on one of
  /// the first versions instead.
  package func places(of parents: Set<ObjectID>) -> [Set<ObjectID>] {
    firsts.map { first in Set(parents.map { first.below.contains($0) ? first.id : $0 }) }
  }
}

/// A version of a former history that becomes the first one of a rewritten history.
struct FormerFirst {
  /// The version.
  let version: ObjectID
  /// All versions that became the first one: of two admins' devices that forgot at the same time, each may have had
  /// another form of it.
  let all: [ObjectID]

  /// The version that is to become the first one.
  init(_ version: ObjectID) { (self.version, all) = (version, [version]) }

  /// The versions that an admin's list names; nil if there is none.
  init?(namedBy beginning: HistoryBeginning, among versions: [ObjectID]) {
    let among = Set(versions)
    all = beginning.formers.filter(among.contains)
    guard let named = all.first else { return nil }
    version = named
  }

  /// The version in the place of the first one; nil if there is none.
  ///
  /// Anybody could make another version there, so this is only for a first version without names.
  ///
  /// - Parameters:
  ///   - versions: the versions of the former history that are not in the rewritten one, parents before children.
  ///   - isForm: whether a version may have become the first one.
  /// - Throws: `LacksFirstVersion` if several versions may have, with other files.
  init?(
    inPlaceOf beginning: HistoryBeginning, among versions: [ObjectID], in repository: Repository,
    isForm: (_ version: Commit, _ first: Commit) throws -> Bool
  ) throws {
    let first = try repository.commit(beginning.first)
    var places: [HistoryPlace: ObjectID] = [:]
    for id in beginning.emptied { places[HistoryPlace(of: try repository.commit(id))] = id }
    // The version without content in whose place each version is: several may be in one place.
    var went: [ObjectID: ObjectID] = [:]
    var fitting: [Commit] = []
    for id in versions {
      let commit = try repository.commit(id)
      let parents = Set(commit.parents.map { went[$0] ?? $0 })
      // On versions without content it is a first version itself, or a copy of one.
      if HistoryPlace(of: commit, parents: parents) == HistoryPlace(of: first),
        !commit.parents.allSatisfy(beginning.emptied.contains), try isForm(commit, first)
      {
        fitting.append(commit)
      }
      for place in [parents] + (parents.isEmpty ? [] : beginning.places(of: parents)) {
        if let emptied = places[HistoryPlace(of: commit, parents: place)] {
          went[id] = emptied
          break
        }
      }
    }
    if Set(fitting.map(\.tree)).count > 1 { throw LacksFirstVersion() }
    all = fitting.map(\.id).sorted()
    guard let found = all.first else { return nil }
    version = found
  }
}

/// The first version of another history is not in this one.
package struct LacksFirstVersion: Error {}

/// The properties of a version that a rewriting keeps, and its position in the history.
struct HistoryPlace: Hashable {
  private let author: Signature
  private let committer: Signature
  private let parents: Set<ObjectID>

  /// - Parameter parents: the forms of its parents in another history; nil for its parents.
  init(of commit: Commit, parents: Set<ObjectID>? = nil) {
    (author, committer) = (commit.author, commit.committer)
    self.parents = parents ?? Set(commit.parents)
  }
}
