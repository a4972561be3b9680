internal import Git
internal import History
internal import Notebook
internal import System
internal import WorkTree

extension Replica {
  /// The result of accepting the heads that the peer shows.
  enum Taken {
    /// These versions are merged. The outcome is nil if nothing is new.
    case merged([ObjectID], MergeOutcome?)
    /// This side refuses these versions, and would refuse them again.
    case refused([ObjectID], MergeRefusal, words: String)
    /// The peer already shows other heads, or is about to.
    case overtaken([ObjectID])
  }

  /// Runs `body`, which may take long, and calls `onTick` repeatedly in the meantime.
  typealias Busy = (
    _ onTick: () -> Void, _ body: @escaping () throws -> Joining
  ) throws -> Joining

  struct Joining {
    /// How many commits were received.
    var received = 0
    /// How many of the received commits are versions that people made.
    var versions = 0
    /// The heads that are merged or refused.
    var heads: [ObjectID]
    /// The merge, or the reason why there was none; nil if the peer shows other heads by now.
    var result: Result<MergeOutcome, NotMerged>?
  }

  struct NotMerged: Error {
    let reason: MergeRefusal
    let words: String
  }

  /// Accepts everything that a hub or bundle shows, with the fetched pack, if any.
  ///
  /// - Returns: whether there was anything to accept, and the merge, if there was a new one.
  /// - Throws: `SyncError.notMerged`.
  func takeAll(_ arrived: Quarantine?) throws -> (isAny: Bool, merged: MergeOutcome?) {
    let wanted = try isAlike ? [] : lacking()
    if wanted.isEmpty { return (false, nil) }
    let isHere = try wanted.allSatisfy { try notebook.repository.contains($0) }
    let taken = try accept(isHere ? nil : arrived, wanted, isFinal: true)
    try checkMerges()
    return switch taken {
    case .merged(_, let outcome): (true, outcome)
    case .refused(_, let reason, let words): throw SyncError.notMerged(reason, words)
    case .overtaken: (true, nil)
    }
  }

  /// Checks a received pack, if there is one, then judges and merges the wanted heads. If this side already has
  /// them, it does so with the heads that the peer shows now. Records the result.
  ///
  /// - Parameters:
  ///   - wanted: heads that the pack must contain, or that are already here.
  ///   - isFinal: whether the peer has nothing else to send. Then heads without a voucher are refused.
  func accept(
    _ quarantine: Quarantine?, _ wanted: [ObjectID], isFinal: Bool = false,
    busy: Busy = { _, body in try body() }
  ) throws -> Taken {
    let shown = theirs.heads
    var progress = TransferProgress(
      peer: peer, stage: .joining, objectsToReceive: quarantine?.objectCount ?? 0,
      receivedContent: quarantine?.contentBytes ?? 0)
    report(.progress(progress))
    let meter = WorkMeter()
    let start = Instant.now
    let tell = {
      (progress.written, progress.filesToWrite) = meter.reading
      self.report(.progress(progress))
    }
    defer { tellSaves() }
    let joining = try busy(tell) {
      try self.join(quarantine, wanted, shown: shown, isFinal: isFinal, meter)
    }
    if let quarantine { unmerged.append(quarantine) }
    if joining.result != nil { unmerged = [] }
    received += joining.versions
    switch joining.result {
    case nil: return .overtaken(joining.heads)
    case .success(let merged)?:
      held.forget(peer.deviceID, isThere: false)
      if let followed = merged.followed { try reportFollowed(followed) }
      try endorseOwn()
      if joining.received > 0 { unchecked = (merged, .now - start) }
      // Another exchange may have received the same versions.
      let isNews = joining.received > 0 || merged.tip != merged.former
      if isNews { report(.received(from: peer, merged, notebook: notebook.identity.id)) }
      return .merged(joining.heads, isNews ? merged : nil)
    case .failure(let failure)?:
      refuse(PeerState.Refusal(failure.reason, isThere: false), shown, failure.words)
      return .refused(joining.heads, failure.reason, words: failure.words)
    }
  }

  /// Reports which admins' forgettings this device has now followed.
  private func reportFollowed(_ followed: FollowedForgettings) throws {
    let isHere = try notebook.repository.contains(followed.version)
    let author = try isHere ? VersionProofs(in: notebook).author(of: followed.version) : nil
    report(
      .followed(
        by: author?.markedName, forgettings: followed.lines, from: peer,
        notebook: notebook.identity.id))
  }

  /// Computes received derived merges again, for a small part of the time that accepting them took. Merges that
  /// are left are computed when they are shown.
  func checkMerges() throws {
    guard let (merged, seconds) = unchecked else { return }
    unchecked = nil
    let check = MergeCheck(of: notebook.history, seconds: max(0.05, seconds / 20))
    defer { check.remember() }
    let altered = try check.altered(below: merged.heads, since: merged.former)
    if altered.isEmpty { return }
    report(
      .alteredMerges(
        from: peer, altered.map(\.commit.id), notebook: notebook.identity.id))
  }

  private func join(
    _ quarantine: Quarantine?, _ wanted: [ObjectID], shown: [ObjectID], isFinal: Bool,
    _ meter: WorkMeter
  ) throws -> Joining {
    let repository = notebook.repository
    var joining = Joining(heads: wanted)
    do {
      joining.received =
        try quarantine?.join(promised: wanted) { try judge?.check(wanted, $0) } ?? 0
      joining.versions = try notebook.versionCount(
        of: joining.received, merges: quarantine?.newMerges ?? [])
      if try shown.allSatisfy({ try repository.contains($0) }) { joining.heads = shown }
      // Heads that were already here may not be merged yet.
      if joining.received == 0 || joining.heads != wanted {
        try judge?.check(joining.heads) { try repository.object($0).data }
      }
      let merged = try keeper.merge(joining.heads, from: peer, meter: meter)
      if closeIfReplaced() {
        // Versions from before a forgetting are deleted after their rewritten forms are merged.
        let all = joining.heads + [theirs.tip].compactMap(\.self)
        broughtOver.formUnion(try all.filter { try !repository.contains($0) })
      }
      joining.result = .success(merged)
      return joining
    } catch is UnansweredVersion
      where !isFinal && (quarantine == nil || !Set(wanted).isSubset(of: shown))
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
