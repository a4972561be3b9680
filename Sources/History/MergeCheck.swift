public import Git
internal import Glibc
internal import Merge

/// A derived merge that differs from the computed merge of its versions: notes-security(7), "Merges that nobody
/// signs". Its changes have no author.
public struct AlteredMerge: Sendable {
  /// The merge.
  public let commit: Commit
  /// The differences between the merge and the one computed from its versions by this program's
  /// rules, by path.
  public let changes: [VersionChange]
  /// The version that vouches for the merge: the first on top of it that a device made. Nil if there is none.
  public let endorsedBy: ObjectID?
}

/// The result of checking a derived merge.
public enum MergeVerdict: Sendable {
  /// The merge is equal to the computed merge.
  case asComputed
  case altered(AlteredMerge)
  /// The merge was not computed again: earlier merges used up the time limit.
  case unchecked
}

/// Computes derived merges of the history again, and remembers those whose result is the same.
///
/// An instance belongs to one thread at a time.
public final class MergeCheck {
  private let history: History
  private var known: VersionMemory
  private var verdicts: [ObjectID: MergeVerdict] = [:]
  /// The commits directly on top of derived merges, loaded when the first altered merge is found.
  private var children: MergeChildren?
  /// The remaining time, in seconds of this thread's processor time.
  private var secondsLeft: Double

  /// How long one command may spend on computing merges again, in seconds.
  public static let standardSeconds = 5.0

  /// Makes a check that has computed nothing yet.
  public init(of history: History, seconds: Double = MergeCheck.standardSeconds) {
    self.history = history
    secondsLeft = seconds
    known = VersionMemory(.merges, in: history.stateFolder)
  }

  /// Saves the results for the next command.
  public func remember() { known.save() }

  /// The altered merges among new versions: below these heads and not below the former tip, the newest
  /// first. Other merges are checked when they are shown.
  public func altered(below heads: [ObjectID], since former: ObjectID?) throws -> [AlteredMerge] {
    var found: [AlteredMerge] = []
    let start = Self.processorTime
    let secondsAtStart = secondsLeft
    // A whole history is not sorted first, to save time.
    var pending =
      try former.map { try history.repository.commits(from: heads, lacking: [$0]).reversed() }
      ?? heads
    var (seen, next) = (Set(pending), 0)
    while found.count < Self.mostTold, next < pending.count {
      let commit = try history.repository.commit(pending[next])
      next += 1
      if former == nil { pending += commit.parents.filter { seen.insert($0).inserted } }
      if case .altered(let merge) = try verdict(on: commit) { found.append(merge) }
      secondsLeft = secondsAtStart - (Self.processorTime - start)
      if secondsLeft <= 0 { break }
    }
    return found
  }

  /// How many altered merges are reported at most among new versions.
  private static let mostTold = 10

  /// The verdict on a derived merge; nil for any other commit.
  public func verdict(on commit: Commit) throws -> MergeVerdict? {
    guard DerivedMerge.isDerived(commit) else { return nil }
    if known.contains(commit.id) { return .asComputed }
    if let verdict = verdicts[commit.id] { return verdict }
    let verdict = try computed(commit)
    if case .asComputed = verdict { known.insert(commit.id) } else { verdicts[commit.id] = verdict }
    return verdict
  }

  private func computed(_ commit: Commit) throws -> MergeVerdict {
    guard secondsLeft > 0 else { return .unchecked }
    let start = Self.processorTime
    defer { secondsLeft -= Self.processorTime - start }
    let repository = history.repository
    let changes = try repository.withScratchWrites { () -> ([VersionChange]?, Bool) in
      let expected = try DerivedMerge.expectedTree(of: commit, in: repository)
      if expected == commit.tree { return (nil, false) }
      return (try history.changes(from: expected, to: commit.tree), true)
    }
    guard let changes else { return .asComputed }
    return .altered(
      AlteredMerge(commit: commit, changes: changes, endorsedBy: try version(on: commit.id)))
  }

  private static var processorTime: Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  private func version(on merge: ObjectID) throws -> ObjectID? {
    let children = try self.children ?? MergeChildren(in: history)
    self.children = children
    return children.version(on: merge)
  }
}

/// The commits directly on top of the derived merges of a history.
private struct MergeChildren {
  private var versions: [ObjectID: ObjectID] = [:]
  private var merges: [ObjectID: [ObjectID]] = [:]

  /// Finds the commits by one walk through the history.
  init(in history: History) throws {
    let repository = history.repository
    guard let tip = try repository.head().commit else { return }
    var derived: Set<ObjectID> = []
    for id in try repository.commits(from: [tip]) {
      let commit = try repository.commit(id)
      let isDerived = DerivedMerge.isDerived(commit)
      if isDerived { derived.insert(id) }
      for parent in commit.parents where derived.contains(parent) {
        if isDerived {
          merges[parent, default: []].append(id)
        } else if versions[parent] == nil {
          versions[parent] = id
        }
      }
    }
  }

  /// The first version by a device on top of a merge, maybe with other merges between them.
  func version(on merge: ObjectID) -> ObjectID? {
    var (pending, seen) = ([merge], Set([merge]))
    var next = 0
    while next < pending.count {
      if let version = versions[pending[next]] { return version }
      pending += (merges[pending[next]] ?? []).filter { seen.insert($0).inserted }
      next += 1
    }
    return nil
  }
}
