internal import Git
internal import History
internal import WorkTree

// The IDs of notes: notes-forget(1), "Versions".
extension HistoryRewriting {
  /// Whether the ID of a version does not help to guess the removed content: it covers a signature, which only
  /// its device can make.
  func isShielded(_ commit: Commit, isSigned: Bool, hasOwn: Bool) -> Bool {
    isSigned
      || !hasOwn && commit.parents.allSatisfy { forms[$0] == nil || shielded.contains($0) }
  }

  static let mostIDs = 1_000

  func keepIDs(
    of changes: [TreeChange], _ files: [TreePath: Replacement], in commit: Commit,
    _ version: inout RewrittenCommit
  ) throws {
    let born = changes.filter { $0.old == nil && files[$0.path] != .gone }.prefix(Self.mostIDs)
    for change in born {
      let id = try history.noteID(bornAs: change.path, in: commit.id)
      version.add(header: Forgetting.idHeader, "\(id) \(change.path.hexadecimal)")
    }
  }
}
