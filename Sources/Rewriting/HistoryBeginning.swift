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
  /// The version. If the former history does not have it, a stand-in, with the content of the first version on top of
  /// the versions that went.
  let version: ObjectID
  /// Whether the former history has it.
  let isHere: Bool
  /// Other versions in its place with the same files. Nobody can tell which of them became the first one.
  private(set) var others: Set<ObjectID> = []

  /// Nil if nothing goes from the former history: it has no version from before the first one.
  ///
  /// - Parameters:
  ///   - versions: the versions of the former history that are not in the rewritten one, parents before children.
  ///   - loss: how many files a version has lost if it became the first one; nil if it cannot have become that.
  init?(
    of beginning: HistoryBeginning, among versions: [ObjectID], in repository: Repository,
    loss: (_ version: Commit, _ first: Commit) throws -> Int?
  ) throws {
    let among = Set(versions)
    if let named = beginning.formers.first(where: among.contains) {
      (version, isHere) = (named, true)
      return
    }
    let first = try repository.commit(beginning.first)
    var places: [HistoryPlace: ObjectID] = [:]
    for id in beginning.emptied { places[HistoryPlace(of: try repository.commit(id))] = id }
    // The version without content in whose place each version is: several may be in one place.
    var went: [ObjectID: ObjectID] = [:]
    var fitting: [(loss: Int, id: ObjectID)] = []
    for id in versions {
      let commit = try repository.commit(id)
      let parents = Set(commit.parents.map { went[$0] ?? $0 })
      // On versions without content it is a first version itself, or a copy of one.
      if HistoryPlace(of: commit, parents: parents) == HistoryPlace(of: first),
        !commit.parents.allSatisfy(beginning.emptied.contains), let loss = try loss(commit, first)
      {
        fitting.append((loss, id))
      }
      for place in [parents] + (parents.isEmpty ? [] : beginning.places(of: parents)) {
        if let emptied = places[HistoryPlace(of: commit, parents: place)] {
          went[id] = emptied
          break
        }
      }
    }
    if let best = fitting.min(by: { ($0.loss, $0.id) < ($1.loss, $1.id) }) {
      (version, isHere) = (best.id, true)
      let tree = try repository.commit(best.id).tree
      others = Set(try fitting.map(\.id).filter { try repository.commit($0).tree == tree })
      return
    }
    if went.isEmpty { return nil }
    var standIn = try RewrittenCommit(of: repository.object(first.id).data, id: first.id)
    let below = try went.keys.flatMap { try repository.commit($0).parents }
    standIn.parents = Set(went.keys).subtracting(below).sorted()
    (version, isHere) = (try repository.write(standIn), false)
  }
}

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
