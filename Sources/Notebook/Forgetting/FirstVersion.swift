internal import Git
internal import History
internal import Merge
internal import Rewriting

/// Finds the version with which a history can begin: notes-forget(1), "The first version".
struct FirstVersion {
  /// A version with which the history can begin.
  struct Choice {
    let version: ObjectID
    /// Devices and hubs that are not known to have a later one.
    let heldBackBy: [String]
  }

  private let history: History

  private var repository: Repository { history.repository }

  init(in history: History) { self.history = history }

  /// The last version on which all later ones are based, which is based on all others, and which all the holders
  /// have. Neither its dates nor those of the others are at or after this time, in seconds since 1970.
  ///
  /// A holder must also have followed everything that was forgotten before: it compares its versions with files that
  /// are forgotten now. And of two admins' devices that choose at the same time, each then has the other's choice.
  func last(before time: Int64, knownTo holders: [VersionHolder]) throws -> Choice {
    let obeyed = try history.obeyed()
    var known: [(name: String, versions: Set<ObjectID>)] = []
    for holder in holders {
      let there = try holder.versions.filter(repository.contains)
      known.append((holder.name, Set(try repository.commits(from: there))))
    }
    if let obeyed {
      let behind = known.filter { !$0.versions.contains(obeyed.id) }
      if !behind.isEmpty { throw ForgetError.notFollowed(behind.map(\.name)) }
    }
    let all = try possible(besides: obeyed?.begins ?? [])
    let older = all.prefix { $0.time < time }.map(\.version)
    guard let last = older.last else {
      throw ForgetError.noFirstVersion(before: time, earliest: all.first?.time)
    }
    let lacking = known.filter { !$0.versions.contains(last) }.map(\.name)
    let chosen = older.last { version in known.allSatisfy { $0.versions.contains(version) } }
    guard let chosen else {
      let without = known.filter { $0.versions.isDisjoint(with: older) }.map(\.name)
      throw ForgetError.notEverywhere(without.isEmpty ? lacking : without)
    }
    return Choice(version: chosen, heldBackBy: lacking)
  }

  /// The versions with which the history can begin later than it does now, the oldest first, with the latest date of
  /// each and of all on which it is based. Dates that are still to come are of wrong clocks, and do not count. The list
  /// of forgettings must be able to name each by its ID, which therefore covers a signature.
  private func possible(
    besides begins: [ForgettingVersion.Beginning]
  ) throws -> [(version: ObjectID, time: Int64)] {
    guard let tip = try repository.head().commit else { return [] }
    let now = history.clock.now().seconds
    let versions = try repository.commits(from: [tip])
    let places = Dictionary(uniqueKeysWithValues: versions.enumerated().map { ($1, $0) })
    let commits = try versions.map(repository.commit)
    // The place of the oldest parent of each version and all later ones; -1 if one of them has no parent.
    var oldest = [Int](repeating: .max, count: versions.count + 1)
    for (place, commit) in commits.enumerated().reversed() {
      let parents = commit.parents.compactMap { places[$0] }
      oldest[place] = min(oldest[place + 1], parents.min() ?? -1)
    }
    let beginning = try HistoryBeginning(with: begins, in: Set(versions), repository)
    let shielded = try repository.shielded(of: versions)
    var found: [(version: ObjectID, time: Int64)] = []
    var latest = Int64.min
    for (place, commit) in commits.enumerated() {
      let times = [commit.author.time, commit.committer.time]
      latest = times.filter { $0 <= now }.reduce(latest, max)
      guard place > 0, oldest[place + 1] >= place, times.allSatisfy({ $0 <= now }),
        shielded.contains(commit.id), commit.id != beginning?.first,
        beginning?.emptied.contains(commit.id) != true,
        !DerivedMerge.isDerived(commit), try !HubMerge.isOne(commit, in: repository),
        ForgettingVersion(commit) == nil
      else { continue }
      found.append((commit.id, latest))
    }
    return found
  }
}
