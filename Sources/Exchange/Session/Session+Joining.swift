internal import Git
internal import Notebook
internal import WorkTree

extension Session {
  /// What became of heads that the peer shows.
  struct Joining {
    /// How many versions came.
    var received = 0
    /// The heads that are settled by that.
    var heads: [ObjectID]
    /// What the merge did, or why there was none; nil where the peer shows others by now, or is about to.
    var result: Result<MergeOutcome, NotMerged>?
  }

  struct NotMerged: Error {
    let reason: MergeRefusal
    let words: String
  }

  /// Takes a pack in, if one came, and merges the heads that were wanted, or those that are shown by now
  /// where these are here.
  func join(
    _ quarantine: Quarantine?, _ wanted: [ObjectID], shown: [ObjectID], _ meter: WorkMeter
  ) throws -> Joining {
    let repository = notebook.repository
    var joining = Joining(heads: wanted)
    do {
      joining.received =
        try quarantine?.join(promised: wanted) { try link.judge(wanted, $0) } ?? 0
      if try shown.allSatisfy({ try repository.contains($0) }) { joining.heads = shown }
      // What was here already may not be merged yet.
      if joining.received == 0 || joining.heads != wanted {
        try link.judge(joining.heads) { try repository.object($0).data }
      }
      joining.result = .success(
        try keeper.merge(joining.heads, from: link.peer, meter: meter))
      return joining
    } catch is UnansweredVersion
      where quarantine == nil || !Set(wanted).isSubset(of: shown)
    {
      return Joining(heads: wanted)
    } catch {
      guard let reason = MergeRefusal(error) else { throw error }
      joining.heads = shown
      joining.result = .failure(NotMerged(reason: reason, words: "\(error)"))
      return joining
    }
  }
}
