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
  package let shells: Set<ObjectID>
  /// The first version's forms before, as far as an admin's list names them.
  private let formers: [ObjectID]

  /// Nil if no older version was forgotten.
  ///
  /// - Parameters:
  ///   - begins: these versions, the latest first, as an admin's list names them: anybody could write a header.
  ///   - versions: the versions of the history.
  package init?(
    with begins: [ForgettingVersion.Beginning], in versions: Set<ObjectID>,
    _ repository: Repository
  ) throws {
    guard let last = begins.first, versions.contains(last.version) else { return nil }
    (first, formers) = (last.version, last.formers)
    shells = Set(try repository.commits(from: repository.commit(first).parents))
    var firsts: [(id: ObjectID, below: Set<ObjectID>)] = [(first, shells)]
    for id in begins.dropFirst().map(\.version) where shells.contains(id) {
      firsts.append((id, Set(try repository.commits(from: repository.commit(id).parents))))
    }
    self.firsts = firsts.reversed()
  }

  /// The first version's form before that is among these versions; nil if none is, or none is named.
  func former(among versions: Set<ObjectID>) -> ObjectID? {
    formers.first(where: versions.contains)
  }

  /// The parents that a version may have here if it was based on versions without files: it is then based on one of
  /// the first versions instead.
  func places(of parents: Set<ObjectID>) -> [Set<ObjectID>] {
    firsts.map { first in Set(parents.map { first.below.contains($0) ? first.id : $0 }) }
  }
}

/// The versions of a former history for which the first version of a rewritten one stands.
struct HistoryStart {
  /// The former version of the first one; nil if it is not here.
  let version: ObjectID?
  /// The first version of the rewritten history.
  let form: ObjectID
  /// The former versions that it stands for.
  let past: Set<ObjectID>

  /// A version to merge others with: it has the content of the first one, on top of the former versions.
  func base(in repository: Repository) throws -> ObjectID {
    let former = try version.map(repository.commit)
    if let former, try former.tree == repository.commit(form).tree { return former.id }
    var standIn = try RewrittenCommit(of: repository.object(form).data, id: form)
    standIn.parents = try former?.parents ?? last(in: repository)
    return try repository.write(standIn)
  }

  /// The versions of the past on which no other one is based.
  func last(in repository: Repository) throws -> [ObjectID] {
    past.subtracting(try past.flatMap { try repository.commit($0).parents }).sorted()
  }
}
