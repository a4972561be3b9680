internal import Git
internal import History
internal import Notebook

/// The entries of a log: versions that pass, folded into bursts where that is wanted, read one by
/// one.
struct LogEntries {
  let walk: VersionWalk
  /// The first second of interest.
  let since: Int64?
  /// A part of the author's name, in any case.
  let author: String?
  let showsAll: Bool
  let folds: Bool
  let isOfOneNote: Bool

  /// Who made versions, as far as they were passed over for it.
  private(set) var otherAuthors: Set<String> = []
  private var pending: Version?
  private var old = 0

  /// Dates of foreign commits may go back and forth a little: so many in a row that are too old
  /// end the search.
  private static let patience = 64

  init(
    walk: VersionWalk, since: Int64?, author: String?, showsAll: Bool, folds: Bool,
    isOfOneNote: Bool
  ) {
    self.walk = walk
    self.since = since
    self.author = author?.lowercased()
    self.showsAll = showsAll
    self.folds = folds
    self.isOfOneNote = isOfOneNote
  }

  mutating func next() throws -> Burst? {
    let first = try pending ?? nextVersion()
    pending = nil
    guard let first else { return nil }
    var burst = Burst(first, isOfOneNote: isOfOneNote)
    while folds, let older = try nextVersion() {
      if !burst.take(older) {
        pending = older
        break
      }
    }
    return burst
  }

  private mutating func nextVersion() throws -> Version? {
    while old < Self.patience, let version = try walk.next() {
      if let since, version.commit.author.time < since {
        old += 1
        continue
      }
      old = 0
      if version.isDerived, !showsAll, !VersionReport.settledSomething(version) { continue }
      if let author, !version.commit.author.name.lowercased().contains(author) {
        if !version.isDerived { otherAuthors.insert(version.commit.author.name) }
        continue
      }
      return version
    }
    return nil
  }
}
