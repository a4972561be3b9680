internal import Git

extension Notebook {
  /// A commit that was made by hand while the folder was half-way between two versions, and after the
  /// branch had moved: what the checkout had not brought yet it takes back, though nobody wished so.
  ///
  /// Its tree is therefore taken for an edit of the version that the folder had shown. Where that
  /// comes to something else than the commit says, a version on it follows that does.
  ///
  /// - Returns: the version that follows; the commit itself where none is needed.
  func broughtBack(by made: ObjectID, _ journal: CheckoutJournal) throws -> ObjectID {
    guard try repository.isAncestor(journal.to, of: made) else { return made }
    let commit = try repository.commit(made)
    // What an editor had saved by then on an older text is in a version already.
    var unseen: [TreePath: TreeEntry?] = [:]
    let former = try journal.from.map { try repository.commit($0).tree }
    for item in journal.overlay
    where try repository.entry(at: item.path, in: commit.tree) == item.file {
      unseen[item.path] = try former.flatMap { try repository.entry(at: item.path, in: $0) }
    }
    let tree = try repository.write(tree: commit.tree, replacing: unseen)
    let edit = try repository.write(
      commit: tree, parents: journal.from.map { [$0] } ?? [], author: commit.author,
      committer: commit.committer, message: commit.message)
    let merged = try DerivedMerge.tip(of: [journal.to, edit], in: repository).id
    let whole = try repository.commit(merged).tree
    if whole == commit.tree { return made }
    return try makeVersion(
      of: whole, parents: [commit, repository.commit(merged)],
      message: "Bring back what an interrupted checkout had brought")
  }
}
