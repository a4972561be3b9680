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
  var pending: Version?
  /// How many in a row were too old.
  var old = 0

  /// Dates of foreign commits may go back and forth a little: so many in a row that are too old
  /// end the search.
  private static let patience = 64

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
      let name = version.commit.author.name
      if let author, !name.lowercased().contains(author.lowercased()) {
        if !version.isDerived { otherAuthors.insert(name) }
        continue
      }
      return version
    }
    return nil
  }
}

struct LogText {
  let notebook: Notebook
  let style: VersionReport.Style
  var showsPatch = false
  var graph: GraphLines?
  /// The parents that the graph shows, where they are not the versions' own.
  var parents: [ObjectID: [ObjectID]]?
  var isFirst = true

  /// The text of the next entry; an empty line stands between two, or else the graph.
  mutating func entry(_ burst: Burst) throws -> String {
    let commit = burst.newest.commit
    let report = try VersionReport(burst, in: notebook, lineCounts: VersionReport.mostFiles)
    var here = style
    if let graph { here.terminal.narrow(by: graph.width(beside: commit.id)) }
    var text = report.text(in: here)
    if showsPatch { text += try report.patch(in: notebook, on: here.terminal) }
    defer { isFirst = false }
    let shown = parents.map { $0[commit.id] ?? [] } ?? commit.parents
    return graph?.text(text, of: commit.id, parents: shown) ?? (isFirst ? "" : "\n") + text
  }
}
