package import Git

/// The sum of trees h1 − b1 + h2 − b2 + h3 …: notes-merge(7), "Trees".
package struct TreeSum {
  private let store: any MergeStore
  private let rules: MergeRules
  private let positives: [MergeTerm]
  private let negatives: [MergeTerm]

  private let bounds: MergeBounds
  private(set) var budget: MergeBudget
  private var labels: SideLabels
  /// The number of bytes left for the trailers of further blocks.
  private var room: Int

  package init(
    store: any MergeStore, rules: MergeRules, bounds: MergeBounds = .standard,
    budget: MergeBudget? = nil, positives: [MergeTerm], negatives: [MergeTerm]
  ) {
    self.store = store
    self.rules = rules
    self.bounds = bounds
    self.budget = budget ?? MergeBudget(bounds)
    self.positives = positives
    self.negatives = negatives
    labels = SideLabels(of: positives, in: store)
    room = bounds.listBytes / 2
  }

  /// The result for a file: its names, and the contents under them. All contents except the first become
  /// copies.
  private struct Outcome {
    var names: [TreePath] = []
    var files: [TermFile] = []
    var reports: [MergeReport] = []
  }

  package struct Result {
    package var tree: ObjectID
    package var conflicts: [TreePath: Int]
    package var reports: [MergeReport]
  }

  package mutating func run() throws -> Result {
    let reference = negatives[0].tree
    var files = try TermFiles(store: store, reference: reference, terms: positives + negatives)
    let folders = FolderRenames(store: store, files: files, heads: positives)
    let renames = try RenameDetection.renames(
      store: store, files: files, heads: positives.count)
    for (term, moves) in renames.enumerated() {
      for (source, target) in moves { files.undoRename(from: source, to: target, in: term) }
    }
    var (claims, copies) = ([TreePath: [TermFile]](), [TreePath: [TermFile]]())
    var reports: [MergeReport] = []
    for outcome in try outcomes(files) where !outcome.files.isEmpty {
      let others = outcome.files.dropFirst()
      for name in outcome.names {
        claims[name, default: []].append(outcome.files[0])
        if !others.isEmpty { copies[name, default: []] += others }
      }
      reports += outcome.reports
    }
    var settlement = NameSettlement(
      store: store, reference: reference, heads: positives, rules: rules, bounds: bounds,
      labels: labels, room: room, budget: budget)
    try settlement.settle(claims, copies: copies)
    budget = settlement.budget
    reports += try settlement.reports + folders.reports(on: settlement.files.byPath)
    var replaced: [TreePath: TreeEntry?] = [:]
    for path in files.paths { replaced.updateValue(nil, forKey: path) }
    var conflicts: [TreePath: Int] = [:]
    for term in positives {
      conflicts.merge(term.conflicts.filter { !files.paths.contains($0.key) }) { $1 }
    }
    for (path, file) in settlement.files.byPath {
      replaced[path] = TreeEntry(name: path.name, mode: file.value.mode, id: file.value.id)
      conflicts[path] = file.markerSize
      if file.isNewConflict { reports.append(MergeReport(path: path, kind: .conflict)) }
    }
    return Result(
      tree: try store.write(tree: reference, replacing: replaced), conflicts: conflicts,
      reports: reports)
  }

  /// The results for all files, by path. Before the first file that needs labels is merged again, the labels
  /// for all later files are also found: one walk through the history serves them all.
  private mutating func outcomes(_ files: TermFiles) throws -> [Outcome] {
    let paths = files.paths.sorted()
    return try paths.indices.map { position in
      let before = budget
      let (outcome, lacking) = try merge(paths[position], files)
      if lacking.isEmpty { return outcome }
      budget = before
      try labels.find(
        lacking
          + paths[(position + 1)...].flatMap { path in
            let terms = terms(at: path, files)
            return FileSum.contested(positives: terms.above, negatives: terms.below)
          })
      return try merge(paths[position], files).outcome
    }
  }

  private func terms(
    at path: TreePath, _ files: TermFiles
  ) -> (above: [TermFile?], below: [TermFile?]) {
    (
      positives.indices.map { files.file(path, in: $0) },
      negatives.indices.map { files.file(path, in: positives.count + $0) }
    )
  }

  private mutating func merge(
    _ path: TreePath, _ files: TermFiles
  ) throws -> (outcome: Outcome, lacking: [TermFile]) {
    let (above, below) = terms(at: path, files)
    let names = Self.names(of: path, above, below)
    let isRenamed = names != [path]
    var sum = FileSum(
      store: store, rules: rules, bounds: bounds, labels: labels, names: names, room: room,
      budget: budget)
    var outcome = Outcome(names: names)
    outcome.files = try sum.files(positives: above, negatives: below, keeps: isRenamed)
    (room, budget) = (sum.room, sum.budget)
    for name in names {
      func report(_ kind: MergeReport.Kind) {
        outcome.reports.append(MergeReport(path: name, kind: kind))
      }
      if !sum.usedRules.isEmpty { report(.merged(sum.usedRules)) }
      if sum.keptEdit { report(.keptEdit) }
      if isRenamed {
        report(names.count == 1 ? .renamed(from: path) : .renamedDifferently(from: path))
      }
    }
    return (outcome, sum.lacking)
  }

  /// The sum of a file's names; terms without the file have no name.
  private static func names(
    of path: TreePath, _ positives: [TermFile?], _ negatives: [TermFile?]
  ) -> [TreePath] {
    let (above, below) = (positives.compactMap(\.?.source), negatives.compactMap(\.?.source))
    if (above + below).allSatisfy({ $0 == path }) { return [path] }
    let left = Cancellation(positives: above, negatives: below).positives.map { above[$0] }
    if left.isEmpty { return [path] }
    // A side that kept the name does not outvote the sides that changed it.
    let moved = left.filter { !below.contains($0) }
    return (moved.isEmpty ? left : moved).sorted()
  }
}
