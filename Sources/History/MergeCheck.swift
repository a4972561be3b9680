public import Git
internal import Glibc
internal import Merge

/// A derived merge that does not hold what its versions merge to: notes-security(7), VERSIONS. Below a signed
/// version nobody makes it again, so its text is the word of who signed that.
public struct AlteredMerge: Sendable {
  /// The merge.
  public let commit: Commit
  /// What it changed against what its versions merge to by this program's rules, by path.
  public let changes: [VersionChange]
  /// The version that answers for it: made on top of it, and by somebody; nil for what stands at the top.
  public let answeredBy: ObjectID?
}

/// What a look at a derived merge comes to.
public enum MergeVerdict: Sendable {
  /// It holds what its versions merge to.
  case asComputed
  case altered(AlteredMerge)
  /// It was not computed again: the others have taken the time that there is.
  case unchecked
}

/// Computes derived merges of the history again, and remembers those that are as computed.
///
/// An instance belongs to one thread at a time.
public final class MergeCheck {
  private let history: History
  private var known: VersionMemory
  private var verdicts: [ObjectID: MergeVerdict] = [:]
  /// What may still be spent, in seconds of this thread's processor time.
  private var secondsLeft: Double

  /// How long the merges of one command may take to be computed again, in seconds.
  public static let standardSeconds = 5.0

  /// Nothing is computed yet.
  public init(of history: History, seconds: Double = MergeCheck.standardSeconds) {
    self.history = history
    secondsLeft = seconds
    known = VersionMemory(.merges, in: history.stateFolder)
  }

  /// Keeps what was found for the next command.
  public func remember() { known.save() }

  /// What a derived merge comes to; nil for any other commit.
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
      AlteredMerge(commit: commit, changes: changes, answeredBy: try version(on: commit.id)))
  }

  private static var processorTime: Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// The first version that somebody made on top of a merge, through merges that nobody made.
  private func version(on merge: ObjectID) throws -> ObjectID? {
    guard let tip = try history.repository.head().commit, tip != merge else { return nil }
    var bases: Set<ObjectID> = [merge]
    let walk = try history.repository.walk(from: [tip], hiding: [merge], order: .oldestFirst)
    while let id = try walk.next() {
      let commit = try history.repository.commit(id)
      guard commit.parents.contains(where: bases.contains) else { continue }
      if try !history.isDerived(commit) { return id }
      bases.insert(id)
    }
    return nil
  }
}
