package import Git

/// The version that lets a hub's branch fast-forward if it had a derived merge that is not in the
/// present tip's history: notes-merge(7), "Hubs". Except for the signature of the device that makes it,
/// a pure function of the two.
public enum HubMerge {
  /// The author's address of such versions, the same on all devices, which is not a device's.
  public static let authorEmail = "hub@notes.invalid"

  private static let message = "Move the hub's branch forward\n"

  /// Whether a commit is such a version: it has the form, and its tree equals its first parent's. Such a
  /// version has no author.
  package static func isOne(_ commit: Commit, in store: any MergeStore) throws -> Bool {
    guard commit.parents.count == 2, hasForm(commit) else { return false }
    return try store.commit(commit.parents[0]).tree == commit.tree
  }

  private static func hasForm(_ commit: Commit) -> Bool {
    commit.author.email == authorEmail && commit.author.name == DerivedMerge.authorName
      && commit.committer == commit.author
  }

  /// Stores the version with the tip's tree that has the tip and the hub branch's commit as parents,
  /// and returns its ID.
  package static func make(
    tip: ObjectID, over former: ObjectID, in store: any Repository & MergeStore,
    signedBy sign: ((_ content: [UInt8]) throws -> [UInt8])?
  ) throws -> ObjectID {
    let parents = [try store.commit(tip), try store.commit(former)]
    let time = parents.map { max($0.author.time, $0.committer.time) }.max() ?? 0
    let author = Signature(
      name: DerivedMerge.authorName, email: authorEmail, time: time, offset: 0)
    let open = try OpenConflicts.carried(from: parents, to: parents[0].tree, in: store).lines()
    return try store.write(
      commit: parents[0].tree, parents: [tip, former], author: author, committer: author,
      message: message + (open.isEmpty ? "" : "\n" + open.map { $0 + "\n" }.joined()),
      signedBy: sign)
  }
}
