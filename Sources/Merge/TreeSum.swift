package import Git

/// The sum of trees h1 − b1 + h2 − b2 + h3 …: notes-merge(7), "Trees".
package struct TreeSum {
  private let store: any MergeStore
  private let rules: MergeRules
  private let positives: [MergeTerm]
  private let negatives: [MergeTerm]

  private var reports: [MergeReport] = []
  private var claims: [TreePath: [TermFile]] = [:]
  private var copies: [TreePath: [TermFile]] = [:]

  package init(
    store: any MergeStore, rules: MergeRules, positives: [MergeTerm], negatives: [MergeTerm]
  ) {
    self.store = store
    self.rules = rules
    self.positives = positives
    self.negatives = negatives
  }

  package struct Result {
    package var tree: ObjectID
    package var conflicts: [TreePath: Int]
    package var reports: [MergeReport]
  }

  package mutating func run() throws -> Result {
    let reference = negatives[0].tree
    var files = try TermFiles(store: store, reference: reference, terms: positives + negatives)
    let renames = try RenameDetection.renames(store: store, files: files)
    for (term, moves) in renames.enumerated() {
      for (source, target) in moves { files.undoRename(from: source, to: target, in: term) }
    }
    for path in files.paths.sorted() { try merge(path, files) }
    var settlement = NameSettlement(
      store: store, reference: reference, heads: positives, rules: rules)
    try settlement.settle(claims, copies: copies)
    reports += settlement.reports
    var replaced: [TreePath: TreeEntry?] = [:]
    for path in files.paths { replaced.updateValue(nil, forKey: path) }
    var conflicts: [TreePath: Int] = [:]
    for term in positives {
      conflicts.merge(term.conflicts.filter { !files.paths.contains($0.key) }) { $1 }
    }
    for (path, file) in settlement.files {
      replaced[path] = TreeEntry(name: path.name, mode: file.value.mode, id: file.value.id)
      conflicts[path] = file.markerSize
      if file.isNewConflict { reports.append(MergeReport(path: path, kind: .conflict)) }
    }
    return Result(
      tree: try store.write(tree: reference, replacing: replaced), conflicts: conflicts,
      reports: reports)
  }

  private mutating func merge(_ path: TreePath, _ files: TermFiles) throws {
    let above = positives.indices.map { files.file(path, in: $0) }
    let below = negatives.indices.map { files.file(path, in: positives.count + $0) }
    let names = Self.names(of: path, above, below)
    let isRenamed = names != [path]
    var sum = FileSum(store: store, rules: rules, heads: positives)
    let merged = try sum.files(positives: above, negatives: below, keeps: isRenamed)
    guard !merged.isEmpty else { return }
    for name in names {
      claims[name, default: []] += merged.prefix(1)
      copies[name, default: []] += merged.dropFirst()
      func report(_ kind: MergeReport.Kind) { reports.append(MergeReport(path: name, kind: kind)) }
      if !sum.usedRules.isEmpty { report(.merged(sum.usedRules)) }
      if sum.keptEdit { report(.keptEdit) }
      if isRenamed {
        report(names.count == 1 ? .renamed(from: path) : .renamedDifferently(from: path))
      }
    }
  }

  /// The sum of a file's names; terms without the file have none.
  private static func names(
    of path: TreePath, _ positives: [TermFile?], _ negatives: [TermFile?]
  ) -> [TreePath] {
    let (above, below) = (positives.compactMap(\.?.source), negatives.compactMap(\.?.source))
    let left = Cancellation(positives: above, negatives: below).positives.map { above[$0] }
    if left.isEmpty { return [path] }
    // A side that kept the name has no say against sides that changed it.
    let moved = left.filter { !below.contains($0) }
    return (moved.isEmpty ? left : moved).sorted()
  }
}
